package instrprof

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
)

// A rawValues reads the profiled values of a dump, function by function. Call targets and virtual
// tables are addresses in a raw file. It replaces them by the hash of the name of the function or
// table at that address.
type rawValues struct {
	f       *fields
	dump    *Dump
	known   bool // calls and vtables have been collected
	calls   []addressed
	vtables []addressed
}

// An addressed is the address range of a function or virtual table, with the hash of its name.
type addressed struct {
	start, end uint64 // end is exclusive
	nameHash   uint64
}

func compareStarts(a, b addressed) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.nameHash, b.nameHash))
}

func (v *rawValues) next() (Values, error) {
	raw := v.f.values()
	if v.f.Err != nil {
		return Values{}, v.f.err()
	}
	if !v.known {
		v.collect()
	}
	f := fields{Buffer: decode.Buffer{Data: raw.append(nil, v.translate)}}
	return f.values(), f.err()
}

// collect builds the tables of addresses. The addresses of functions are in the data records, and
// those of virtual tables in records of their own.
func (v *rawValues) collect() {
	d := v.dump
	v.known = true
	for _, r := range d.records() {
		if r.function != 0 {
			v.calls = append(v.calls, addressed{r.function, r.function + 1, r.nameHash})
		}
	}
	size := d.layout.vtableSize()
	for p := d.vtables.Data; len(p) >= size; p = p[size:] {
		if address := d.layout.address(p[8:]); address != 0 {
			length := order(d.layout.big).Uint32(p[8+d.layout.pointer:])
			v.vtables = append(v.vtables, addressed{address, address + uint64(length), order(d.layout.big).Uint64(p)})
		}
	}
	slices.SortFunc(v.calls, compareStarts)
	slices.SortFunc(v.vtables, compareStarts)
}

// translate returns the hash of the name of the function or virtual table at an address, or 0 if
// there is none. A value of a kind that is no address, such as a size, is returned unchanged.
func (v *rawValues) translate(kind ValueKind, address uint64) uint64 {
	list := v.calls
	switch kind {
	case MemOPSize:
		return address
	case VTableTarget:
		list = v.vtables
	}
	i, found := slices.BinarySearchFunc(list, address, func(a addressed, address uint64) int {
		return cmp.Compare(a.start, address)
	})
	if !found {
		i--
	}
	if i >= 0 && address >= list[i].start && address < list[i].end {
		return list[i].nameHash
	}
	return 0
}
