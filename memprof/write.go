package memprof

import (
	"slices"
	"sort"
)

// AppendSection appends the MemProf section of an indexed profile to data, in version
// 2, 3 or 4, and returns it. The section will begin at offset of the file, which
// must be a multiple of 8. It ends in a multiple of 8, too. Records stand in an
// order that depends only on their functions. Version 2 and 3 have no callees
// and no data access profile: see [Profile.Losses].
//
// A value that its field has no room for is an error that matches
// [ErrUnrepresentable], as is an empty profile without a schema.
func (p *Profile) AppendSection(data []byte, offset int64, version int) ([]byte, error) {
	if !slices.Contains(versions, uint64(version)) {
		return nil, &VersionError{Version: uint64(version), Versions: versions}
	}
	if offset%8 != 0 {
		return nil, unrepresentable("a section at offset %d, which 8 does not divide", offset)
	}
	if len(p.schema) == 0 {
		return nil, unrepresentable("a profile without fields")
	}
	w := writer{p: p, encoder: encoder{base: offset}}
	w.head = header{version: uint64(version), schema: p.schema, summary: new(Summary)}
	if version >= version4 {
		var err error
		if w.head.summary, err = Summarize(p); err != nil {
			return nil, err
		}
	}
	w.header(&w.head)
	var err error
	if version == version2 {
		err = w.tables()
	} else {
		err = w.arrays()
	}
	if err != nil {
		return nil, err
	}
	w.align()
	head := encoder{data: w.data[:0]}
	head.header(&w.head)
	return append(data, w.data...), nil
}

// A writer appends the parts of a section in their order and notes where they are.
type writer struct {
	encoder
	p    *Profile
	head header
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
	w.head.framePayload, w.head.frameTable, err = w.table(numbers(len(t.frames)), false, func(i int) error {
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
	w.head.stackPayload, w.head.stackTable, err = w.table(stacks, true, func(i int) error {
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
	order := make([]int, len(w.p.records))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return w.p.records[order[i]].Function < w.p.records[order[j]].Function })
	keys := make([]uint64, len(order))
	for i, j := range order {
		keys[i] = w.p.records[j].Function
	}
	return w.table(keys, false, func(i int) error {
		rec := w.p.records[order[i]]
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

// Losses returns what a section of that version does not tell.
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
