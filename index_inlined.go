package afdo

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/wire"
)

// The inlining block lists for each unit the functions of other units into whose samples
// functions of the unit were inlined, at whatever depth. Such a function
// concerns whoever compiles the unit, and without the list all records would have to be read to find it.

// inlining is the block in memory: for each unit the ascending symbol IDs of those functions.
type inlining struct {
	starts []uint32 // by unit, where its list begins; one more for the end
	ids    []uint32
}

func (l *inlining) of(unit int) []uint32 { return l.ids[l.starts[unit]:l.starts[unit+1]] }

// InlinedElsewhere iterates over the functions of other units into which functions of
// this unit were inlined, directly or in something else that was inlined, by ascending symbol ID. An error ends the iteration.
//
// With an index (see [Reader.Index]) it reads those functions and the names of their
// units. Without, the first call for any unit of the Reader reads all samples of the
// file, and keeps four bytes for each function and unit. The functions are the same.
func (u *Unit) InlinedElsewhere() iter.Seq2[Symbol, error] {
	return eachOf(func() ([]Symbol, error) {
		return u.r.withLists(func(l inliningLists) ([]Symbol, error) { return u.inlinedElsewhere(l) })
	})
}

// InlinedInto iterates over the functions of the whole file, other than the callees
// themselves, into which one of the callees was inlined, directly or in something else that was
// inlined, by ascending symbol ID. IDs that no symbol has are passed over. An error ends the iteration.
//
// It costs what [Unit.InlinedElsewhere] does for the units of the callees together, and a look
// at all functions of these units.
func (r *Reader) InlinedInto(callees []SymbolID) iter.Seq2[Symbol, error] {
	return eachOf(func() ([]Symbol, error) {
		sorted := slices.Clone(callees)
		slices.Sort(sorted)
		return r.withLists(func(l inliningLists) ([]Symbol, error) { return r.inlinedInto(slices.Compact(sorted), l) })
	})
}

// inliningLists is where the lists come from: the index, or, if that is nil, a scan of the file.
type inliningLists struct {
	x       *index
	scanned *inlining
}

func (l inliningLists) of(unit int) ([]uint32, error) {
	if l.x != nil {
		return l.x.inlined(unit)
	}
	return l.scanned.of(unit), nil
}

// withLists calls ask with the lists of the index, or, if there are none or they make no sense, of a scan.
func (r *Reader) withLists(ask func(inliningLists) ([]Symbol, error)) ([]Symbol, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	x, err := r.searching(blockInlined)
	if err != nil {
		return nil, err
	}
	if x != nil {
		found, err := ask(inliningLists{x: x})
		if !r.forsake(x, err) {
			return found, err
		}
	}
	all, err := r.allInlining()
	if err != nil {
		return nil, err
	}
	return ask(inliningLists{scanned: all})
}

func (u *Unit) inlinedElsewhere(l inliningLists) ([]Symbol, error) {
	ids, err := l.of(u.index)
	if err != nil {
		return nil, err
	}
	found, err := u.r.thatInline(ids, l.x, u.entry.has)
	if err != nil || l.x == nil {
		return found, err
	}
	own := slices.ContainsFunc(found, func(s Symbol) bool { return s.unit.index == u.index })
	if own || len(found) < len(ids) {
		return nil, l.x.fault(0, "not all that the index has for unit %d are functions of others into which its own were inlined", u.index)
	}
	return found, nil
}

// inlinedInto is InlinedInto for callees that ascend.
func (r *Reader) inlinedInto(callees []SymbolID, l inliningLists) ([]Symbol, error) {
	has := func(id SymbolID) bool {
		_, ok := slices.BinarySearch(callees, id)
		return ok
	}
	var ids []uint32
	var u *Unit
	for _, callee := range callees {
		if u != nil && u.entry.has(callee) {
			continue
		}
		var err error
		if u, err = r.owner(callee); err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		elsewhere, err := l.of(u.index)
		if err != nil {
			return nil, err
		}
		t, err := u.symbols()
		if err != nil {
			return nil, err
		}
		ids = append(ids, elsewhere...)
		for _, row := range t.rows {
			if row.Info != wire.NoInfo {
				ids = append(ids, uint32(SymbolID(row.ID)))
			}
		}
	}
	ids = slices.DeleteFunc(distinct(ids), func(id uint32) bool { return has(SymbolID(id)) })
	return r.thatInline(ids, l.x, has)
}

// thatInline returns those of some symbols into which a callee was inlined. Their IDs
// ascend; they are from the index, or, if that is nil, from a scan of the file.
func (r *Reader) thatInline(ids []uint32, x *index, callee func(SymbolID) bool) ([]Symbol, error) {
	budget := r.newBudget()
	c := new(Cursor)
	return r.byUnit(ids, x, func(u *Unit, found []Symbol, ids []uint32) ([]Symbol, error) {
		before := len(found)
		found, err := u.appendIDs(found, ids, x)
		if err != nil {
			return nil, err
		}
		n, err := u.keepThatInline(found[before:], c, budget, callee)
		return found[:before+n], err
	})
}

// keepThatInline moves the symbols into which a callee was inlined to the front, and
// returns how many they are. It reads the samples of all of them, in as few reads as their places in the file allow.
func (u *Unit) keepThatInline(symbols []Symbol, c *Cursor, budget *budget, callee func(SymbolID) bool) (int, error) {
	var order []int // of those with samples, by section
	for i, s := range symbols {
		if s.HasInfo() {
			order = append(order, i)
		}
		if err := budget.spend(s.info); err != nil {
			return 0, err
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(symbols[a].info, symbols[b].info) })
	refs := make([]sectionRef, len(order))
	for i, at := range order {
		refs[i] = sectionRef{symbols[at].info, SectionSymbolInfo}
	}
	infos, err := u.r.openAll(Section{Index: int(u.entry.Symbols), Type: SectionSymbolNames}, 0, refs)
	if err != nil {
		return 0, err
	}
	keep := make([]bool, len(symbols))
	for i, at := range order {
		if keep[at], err = inlines(infos[i], c, callee); err != nil {
			return 0, err
		}
	}
	n := 0
	for i, s := range symbols {
		if keep[i] {
			symbols[n] = s
			n++
		}
	}
	return n, nil
}

// inlines reports whether a callee was inlined into a function.
func inlines(f fields, c *Cursor, callee func(SymbolID) bool) (bool, error) {
	info := newInfo(f)
	if info.f.Err != nil {
		return false, info.f.err()
	}
	for c.Reset(info); c.Next(); {
		if l := c.Location(); l.Type == LocationInlinedFn && callee(l.Callee) {
			return true, nil
		}
	}
	return false, c.Err()
}

// inlined returns the list of a unit.
func (x *index) inlined(unit int) ([]uint32, error) {
	b := x.byKind[blockInlined]
	f, err := x.fields(b.off, 1)
	if err != nil {
		return nil, err
	}
	width := f.Byte()
	lists := b.off + 1 + packedSize(uint64(x.units)+1, width)
	if width > 48 || lists > b.off+b.size || unit >= x.units {
		return nil, x.fault(b.off, "unit %d of %d, places of %d bits", unit, x.units, width)
	}
	from, err := x.bits(b.off+1, uint64(unit)*uint64(width), width)
	if err != nil {
		return nil, err
	}
	to, err := x.bits(b.off+1, uint64(unit+1)*uint64(width), width)
	if err != nil {
		return nil, err
	}
	if from > to || int64(to) > b.off+b.size-lists {
		return nil, x.fault(lists, "the list of unit %d from %d to %d", unit, from, to)
	}
	data := make([]byte, to-from)
	if err := x.read(data, lists+int64(from)); err != nil {
		return nil, err
	}
	ids, ok := ascending(data)
	if !ok {
		return nil, x.fault(lists+int64(from), "the list of unit %d does not ascend", unit)
	}
	return ids, nil
}

// ascending decodes ascending numbers: the first one, and what is between each and the next.
func ascending(data []byte) (numbers []uint32, ok bool) {
	next := uint64(0)
	for len(data) > 0 {
		v, n := wire.Varint(data)
		if n <= 0 || v > math.MaxUint32 || next+v > math.MaxUint32 {
			return nil, false
		}
		next += v
		numbers = append(numbers, uint32(next))
		next++
		data = data[n:]
	}
	return numbers, true
}

func appendAscending(dst []byte, numbers []uint32) []byte {
	next := uint32(0)
	for _, v := range numbers {
		dst = binary.AppendUvarint(dst, uint64(v-next))
		next = v + 1
	}
	return dst
}

// append appends the block.
func (l *inlining) append(dst []byte) []byte {
	units := len(l.starts) - 1
	var lists []byte
	places := make([]uint64, units+1)
	for u := range units {
		lists = appendAscending(lists, l.of(u))
		places[u+1] = uint64(len(lists))
	}
	width := uint8(bits.Len(uint(len(lists))))
	p := packer{dst: append(dst, width)}
	for _, at := range places {
		p.put(at, width)
	}
	p.align()
	return append(p.dst, lists...)
}

// allInlining goes through all samples for every unit's list, once.
func (r *Reader) allInlining() (*inlining, error) {
	r.scans.mu.Lock()
	defer r.scans.mu.Unlock()
	if r.scans.inlined == nil {
		l, err := r.newInlining()
		if err != nil {
			return nil, err
		}
		r.scans.inlined = l
	}
	return r.scans.inlined, nil
}

// inliningScan goes through all samples.
type inliningScan struct {
	d      *directory
	cursor Cursor
	pairs  []inlinedPair
	noted  []uint32 // by unit, the number of the last function into which it was found inlined
	number uint32   // of the function at hand
	latest *unitEntry
	unit   int // of latest
}

// inlinedPair says that functions of a unit were inlined into a symbol.
type inlinedPair struct{ unit, id uint32 }

func (r *Reader) newInlining() (*inlining, error) {
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	s := inliningScan{d: d, noted: make([]uint32, len(d.entries)), latest: new(unitEntry)}
	budget := r.newBudget()
	err = r.eachTable(func(u *Unit, t *symbolTable) error {
		for _, row := range t.rows {
			if row.Info != wire.NoInfo {
				if err := budget.spend(row.Info); err != nil {
					return err
				}
			}
		}
		if err := u.Load(); err != nil {
			return err
		}
		return s.functions(u, t)
	})
	return s.lists(), err
}

func (s *inliningScan) functions(u *Unit, t *symbolTable) error {
	for i, row := range t.rows {
		if row.Info == wire.NoInfo {
			continue
		}
		info, err := u.symbol(t, i).Info()
		if err != nil {
			return err
		}
		s.number++
		s.noted[u.index] = s.number // what is inlined within a unit is no news
		for s.cursor.Reset(info); s.cursor.Next(); {
			if l := s.cursor.Location(); l.Type == LocationInlinedFn {
				s.note(SymbolID(row.ID), l.Callee)
			}
		}
		if err := s.cursor.Err(); err != nil {
			return err
		}
	}
	return nil
}

// note notes that a callee was inlined into a symbol.
func (s *inliningScan) note(id, callee SymbolID) {
	if !s.latest.has(callee) {
		unit, ok := s.d.owner(callee)
		if !ok {
			return
		}
		s.latest, s.unit = &s.d.entries[unit], unit
	}
	if s.noted[s.unit] != s.number {
		s.noted[s.unit] = s.number
		s.pairs = append(s.pairs, inlinedPair{uint32(s.unit), uint32(id)})
	}
}

// lists returns what has been noted by unit.
func (s *inliningScan) lists() *inlining {
	slices.SortFunc(s.pairs, func(a, b inlinedPair) int {
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.id, b.id))
	})
	l := &inlining{starts: make([]uint32, len(s.noted)+1), ids: make([]uint32, len(s.pairs))}
	for i, p := range s.pairs {
		l.starts[p.unit+1]++
		l.ids[i] = p.id
	}
	for u := range s.noted {
		l.starts[u+1] += l.starts[u]
	}
	return l
}
