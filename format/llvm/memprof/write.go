package memprof

import (
	"cmp"
	"slices"
)

// Section encodes the profile as a MemProf section of version 2, 3 or 4, for a file in which the
// section begins at offset, a multiple of 8. The order of records depends only on their functions.
// Versions 2 and 3 cannot store callees or a data access profile, see [Profile.Losses].
//
// A value too large for its field is an error that matches afdo.ErrUnrepresentable, and so are a
// profile without a schema and another offset.
func (p *Profile) Section(version int, offset int64) ([]byte, error) {
	switch {
	case !slices.Contains(versions, uint64(version)):
		return nil, versionError(uint64(version), versions)
	case len(p.schema) == 0:
		return nil, unrepresentable("a profile without fields")
	case offset%8 != 0:
		return nil, unrepresentable("a section at offset %d, which is not a multiple of 8", offset)
	}
	w := writer{encoder: encoder{base: uint64(offset)}, p: p, head: header{version: uint64(version), schema: p.schema}}
	if version >= version4 {
		var err error
		if w.head.summary, err = summarize(p); err != nil {
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
	return w.data, nil
}

// A writer appends the parts of a MemProf section in their order, and sets their offsets in the
// header.
type writer struct {
	encoder
	p    *Profile
	head header
}

// body appends all parts of the section after the header.
func (w *writer) body() error {
	if w.head.version == version2 {
		return w.tables()
	}
	return w.arrays()
}

// used returns the tree nodes in which the call stacks of the records' allocations and calls end.
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

// tables appends all parts of a section of version 2 after the header: three hash tables.
func (w *writer) tables() (err error) {
	t := &w.p.stacks
	if _, w.head.recordTable, err = w.recordTable(func(id StackID) StackID { return id }); err != nil {
		return err
	}
	w.head.framePayload, w.head.frameTable, err = w.table(numbers(len(t.frames)), tableFormat(partFrames, false), func(i int) error {
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
	w.head.stackPayload, w.head.stackTable, err = w.table(stacks, tableFormat(partCallStacks, true), func(i int) error {
		for node := uint32(stacks[i]); node != 0; node = t.nodes[node].parent {
			w.u64(uint64(t.nodes[node].frame))
		}
		return nil
	})
	return err
}

// numbers returns a slice with the numbers from 0 to n-1.
func numbers(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(i)
	}
	return list
}

// arrays appends all parts of a section of version 3 or 4 after the header: frames, call stacks,
// records and the data access profile.
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

// recordTable appends the hash table of the records, sorted by function. stack maps the profile's
// stack IDs to those of the section. recordTable returns the offsets of the chains and of the
// buckets.
func (w *writer) recordTable(stack func(StackID) StackID) (payload, table uint64, err error) {
	records := slices.SortedFunc(slices.Values(w.p.records), func(a, b Record) int { return cmp.Compare(a.Function, b.Function) })
	keys := make([]uint64, len(records))
	for i := range records {
		keys[i] = records[i].Function
	}
	return w.table(keys, tableFormat(partRecords, false), func(i int) error {
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

// Losses counts what a version of the section cannot store.
type Losses struct {
	Callees    int // calls that lose their callees
	DataAccess int // data access records, cold symbols and cold literals
}

// Losses returns what a section of the given version cannot store.
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
