package memprof

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// A Section is a MemProf section that is ready to be written into an indexed profile.
// It must not be written from several goroutines at once.
type Section struct {
	data   []byte
	base   int64 // where the offsets in data take it to begin
	places []int // of the words of data that hold an offset in the file
}

// Section lays out the MemProf section of an indexed profile in version 2, 3 or 4. Records
// stand in an order that depends only on their functions. Versions 2 and 3 have no callees
// and no data access profile: see [Profile.Losses]. It takes memory for the section.
//
// A value that its field has no room for is an error that matches
// afdo.ErrUnrepresentable, as is an empty profile without a schema.
func (p *Profile) Section(version int) (*Section, error) {
	if !slices.Contains(versions, uint64(version)) {
		return nil, versionError(uint64(version), versions)
	}
	if len(p.schema) == 0 {
		return nil, unrepresentable("a profile without fields")
	}
	w := writer{p: p, head: header{version: uint64(version), schema: p.schema}}
	if version >= version4 {
		var err error
		if w.head.summary, err = Summarize(p); err != nil {
			return nil, err
		}
	}
	w.header(&w.head)
	if err := w.body(); err != nil {
		return nil, err
	}
	w.align()
	head := encoder{data: w.data[:0]}
	head.header(&w.head)
	return &Section{data: w.data, places: w.places}, nil
}

// Size returns the size in bytes, a multiple of 8.
func (s *Section) Size() int64 { return int64(len(s.data)) }

// WriteSection writes the section, which begins at offset of the file: a multiple of 8.
func (s *Section) WriteSection(w io.Writer, offset int64) error {
	if offset%8 != 0 {
		return unrepresentable("a section at offset %d, which 8 does not divide", offset)
	}
	e := encoder{data: s.data}
	for _, pos := range s.places {
		if v := binary.LittleEndian.Uint64(s.data[pos:]); v != 0 {
			e.patch(pos, v+uint64(offset-s.base))
		}
	}
	s.base = offset
	_, err := w.Write(s.data)
	return err
}

// A writer appends the parts of a section in their order and notes where they are.
type writer struct {
	encoder
	p    *Profile
	head header
}

// body appends what follows the header.
func (w *writer) body() error {
	if w.head.version == version2 {
		return w.tables()
	}
	return w.arrays()
}

// used returns the nodes that records refer to.
func (p *Profile) used() map[uint32]struct{} {
	used := make(map[uint32]struct{})
	for i := range p.records {
		for j := range p.records[i].Allocs {
			used[uint32(p.records[i].Allocs[j].Stack)] = struct{}{}
		}
		for _, c := range p.records[i].Calls {
			used[uint32(c.Stack)] = struct{}{}
		}
	}
	return used
}

// tables appends what follows the header in version 2.
func (w *writer) tables() (err error) {
	t := &w.p.stacks
	if _, w.head.recordTable, err = w.recordTable(func(id StackID) StackID { return id }); err != nil {
		return err
	}
	w.head.framePayload, w.head.frameTable, err = w.table(numbers(len(t.frames)), tableFormat, func(i int) error {
		w.frame(t.frames[i])
		return nil
	})
	if err != nil {
		return err
	}
	var stacks []uint64
	for node := range w.p.used() {
		stacks = append(stacks, uint64(node))
	}
	slices.Sort(stacks)
	w.head.stackPayload, w.head.stackTable, err = w.table(stacks, leanFormat, func(i int) error {
		for node := uint32(stacks[i]); node != 0; node = t.nodes[node].parent {
			w.u64(uint64(t.nodes[node].frame))
		}
		return nil
	})
	return err
}

// numbers returns those from 0 to n-1.
func numbers(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(i)
	}
	return list
}

// arrays appends what follows the header in versions 3 and 4.
func (w *writer) arrays() (err error) {
	for _, f := range w.p.stacks.frames {
		w.frame(f)
	}
	w.head.stacks = w.offset()
	x := w.p.stacks.radix(w.p.used())
	if err = w.stacks(x); err != nil {
		return err
	}
	if w.head.recordPayload, w.head.recordTable, err = w.recordTable(func(id StackID) StackID { return x.id(uint32(id)) }); err != nil {
		return err
	}
	if w.head.version < version4 || w.p.access.empty() {
		return nil
	}
	w.head.access = w.offset()
	return w.dataAccess(w.p.access)
}

// recordTable appends the records by function, whose stacks have other IDs in the section.
func (w *writer) recordTable(stack func(StackID) StackID) (payload, table uint64, err error) {
	records := slices.SortedFunc(slices.Values(w.p.records), func(a, b Record) int { return cmp.Compare(a.Function, b.Function) })
	keys := make([]uint64, len(records))
	for i := range records {
		keys[i] = records[i].Function
	}
	return w.table(keys, tableFormat, func(i int) error {
		rec := records[i]
		rec.Allocs, rec.Calls = slices.Clone(rec.Allocs), slices.Clone(rec.Calls)
		for i := range rec.Allocs {
			rec.Allocs[i].Stack = stack(rec.Allocs[i].Stack)
		}
		for i := range rec.Calls {
			rec.Calls[i].Stack = stack(rec.Calls[i].Stack)
		}
		return w.record(&rec, w.head.version, w.head.schema)
	})
}

// Losses is what a version of the section has no room for.
type Losses struct {
	Callees    int // calls whose callees are lost
	DataAccess int // data access records and cold symbols and literals that are
}

// Losses returns what a section of that version cannot hold.
func (p *Profile) Losses(version int) Losses {
	var l Losses
	if version >= version4 {
		return l
	}
	for i := range p.records {
		for _, c := range p.records[i].Calls {
			if len(c.Callees) > 0 {
				l.Callees++
			}
		}
	}
	if !p.access.empty() {
		l.DataAccess = len(p.access.Records) + len(p.access.ColdSymbols) + len(p.access.ColdHashes)
	}
	return l
}
