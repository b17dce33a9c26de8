package symbolize

import (
	"cmp"
	"slices"
)

// A span is a range of addresses from low up to, but not including, high.
type span struct{ low, high uint64 }

// Entries of range lists (DWARF 5, 7.25).
const (
	rleEndOfList    = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// ranges appends the address ranges of the code that entry e of unit u describes to to. It leaves
// out the ranges of code that the linker discarded.
func (r *reading) ranges(f *File, u *dwarfUnit, e *dwarfEntry, to []span) ([]span, error) {
	if v, ok := e.get(slotRanges); ok {
		return r.rangeList(f, u, v, e == &u.root, to)
	}
	lowValue, ok := e.get(slotLowPC)
	highValue, both := e.get(slotHighPC)
	if !ok || !both {
		return to, nil
	}
	low, err := r.address(u, lowValue)
	if err != nil {
		return to, err
	}
	high := low + highValue.v
	switch highValue.form {
	case formAddr, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		if high, err = r.address(u, highValue); err != nil {
			return to, err
		}
	}
	return f.appendRange(u, to, low, high), nil
}

// appendRange appends the range of addresses from low to high to to, unless the range is empty or
// belongs to code that the linker discarded.
func (f *File) appendRange(u *dwarfUnit, to []span, low, high uint64) []span {
	if f.discarded(low, u.addrSize) || high <= low {
		return to
	}
	return append(to, span{low, high})
}

// discarded reports whether the linker has discarded the code at address low. Linkers move such
// code to address 0, 1 or the largest addresses. addrSize is the size of an address in bytes.
func (f *File) discarded(low uint64, addrSize uint8) bool {
	top := ^uint64(0) >> (64 - 8*uint(addrSize))
	return low <= 1 || low >= top-1
}

// rangeList appends the address ranges in a range list of unit u to to. v is the value of the
// attribute that refers to the list. root is set if it is an attribute of the unit's root entry.
func (r *reading) rangeList(f *File, u *dwarfUnit, v value, root bool, to []span) ([]span, error) {
	old := u.version < 5
	d := u.data
	if old {
		d = u.addresses()
	}
	s, off := d.rnglists, v.v
	switch {
	case old:
		s = d.ranges
		if u.skeleton != nil && !root {
			off += u.skeleton.rangesBase
		}
	case v.form == formRnglistx:
		entry, err := r.indexed(s, u, u.rnglistsBase, v.v, u.offsetSize())
		if err != nil {
			return to, err
		}
		off = u.rnglistsBase + entry
	}
	if s == nil {
		return to, u.data.info.faultAt(u.span.off, errReference, "the unit here has range lists in a section that is not there")
	}
	n := len(to)
	err := r.decode(s, off, s.size, func(c *cursor) {
		l := listReader{reading: r, file: f, unit: u, cursor: c, base: u.low, out: to[:n]}
		if old {
			l.pairs()
		} else {
			l.entries()
		}
		to = l.out
	})
	return to, err
}

// A listReader decodes a list of address ranges in the debug info.
type listReader struct {
	*cursor
	reading *reading
	file    *File
	unit    *dwarfUnit
	base    uint64
	out     []span
}

// pairs decodes a list of address ranges in .debug_ranges, which consists of pairs of addresses.
func (l *listReader) pairs() {
	top := ^uint64(0) >> (64 - 8*uint(l.unit.addrSize))
	for l.Err == nil {
		low, high := l.uint(l.unit.addrSize), l.uint(l.unit.addrSize)
		switch {
		case low == 0 && high == 0:
			return
		case low == top:
			l.base = high
		case low != high:
			l.add(l.base+low, l.base+high)
		}
	}
}

// entries decodes a list of address ranges in .debug_rnglists, the section of DWARF 5.
func (l *listReader) entries() {
	for l.Err == nil {
		switch kind := l.Uint8(aField); kind {
		case rleEndOfList:
			return
		case rleBaseAddressx:
			l.base = l.addrx()
		case rleStartxEndx:
			low := l.addrx()
			l.add(low, l.addrx())
		case rleStartxLength:
			low := l.addrx()
			l.add(low, low+l.ULEB())
		case rleOffsetPair:
			low, high := l.ULEB(), l.ULEB()
			if !l.file.discarded(l.base, l.unit.addrSize) || l.base == 0 {
				l.add(l.base+low, l.base+high)
			}
		case rleBaseAddress:
			l.base = l.uint(l.unit.addrSize)
		case rleStartEnd:
			low := l.uint(l.unit.addrSize)
			l.add(low, l.uint(l.unit.addrSize))
		case rleStartLength:
			low := l.uint(l.unit.addrSize)
			l.add(low, low+l.ULEB())
		default:
			l.fail(errRange, "an entry of kind %d", kind)
		}
	}
}

func (l *listReader) addrx() uint64 {
	index := l.ULEB()
	if l.Err != nil {
		return 0
	}
	addr, err := l.reading.indexed(l.unit.addresses().addr, l.unit, l.unit.addrBase, index, l.unit.addrSize)
	if err != nil {
		l.Stop(err)
	}
	return addr
}

func (l *listReader) add(low, high uint64) {
	if l.Err != nil {
		return
	}
	if err := l.reading.spend(rangeCost); err != nil {
		l.Stop(err)
		return
	}
	l.out = l.file.appendRange(l.unit, l.out, low, high)
}

// rangeCost is the number of bytes charged to the budget for an entry of a range list, see
// reading.spend.
const rangeCost = 16

// disjoint returns spans that cover the same addresses, sorted and without overlaps.
func disjoint(spans []span) []span {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.low, b.low) })
	all := sorted[:0]
	for _, s := range sorted {
		if n := len(all) - 1; n >= 0 && s.low <= all[n].high {
			all[n].high = max(all[n].high, s.high)
			continue
		}
		all = append(all, s)
	}
	return all
}
