package memprof

import (
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Profile is a memory profile in memory. The zero Profile is empty and ready to use. Its methods
// may be called concurrently as long as none of them changes the profile.
type Profile struct {
	schema  Schema
	records []Record
	byGUID  map[uint64]int
	stacks  stackTree
	access  *DataAccess
	limit   int64 // maximum number of frames in a walk of all records, 0 for no limit
}

// Schema returns the union of the fields of everything added so far.
func (p *Profile) Schema() Schema { return p.schema }

// NumRecords returns the number of functions that have a record.
func (p *Profile) NumRecords() int { return len(p.records) }

// Records iterates over all records in the order in which their functions were added. The caller
// must not change them.
func (p *Profile) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, rec := range p.records {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// Record returns the record of the function with the given GUID, or afdo.ErrNotFound. The caller
// must not change it.
func (p *Profile) Record(function uint64) (Record, error) {
	if i, ok := p.byGUID[function]; ok {
		return p.records[i], nil
	}
	return Record{}, fault.ErrNotFound
}

// Stack adds a call stack with these frames, leaf first, unless the profile has it. It returns the
// ID of the stack.
func (p *Profile) Stack(frames []Frame) StackID { return StackID(p.stacks.add(frames)) }

// Frames iterates over the frames of a call stack, leaf first.
func (p *Profile) Frames(id StackID) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if id >= StackID(len(p.stacks.nodes)) && id > 0 {
			yield(Frame{}, faultAt(partCallStacks, -1, errOffset, "call stack %d of %d", id, len(p.stacks.nodes)))
			return
		}
		for f := range p.stacks.walk(uint32(id)) {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// Allocs iterates over the allocations and yields one per call stack. Records repeat an allocation
// for each function into which it was inlined.
func (p *Profile) Allocs() iter.Seq[Alloc] {
	return func(yield func(Alloc) bool) {
		seen := make(map[StackID]struct{})
		for i := range p.records {
			for _, a := range p.records[i].Allocs {
				if _, again := seen[a.Stack]; again {
					continue
				}
				seen[a.Stack] = struct{}{}
				if !yield(a) {
					return
				}
			}
		}
	}
}

// Keep removes all fields from the schema that are not in fields.
func (p *Profile) Keep(fields Schema) {
	p.schema = slices.DeleteFunc(slices.Clone(p.schema), func(f Field) bool { return !fields.has(f) })
}

// Summary computes the summary from all records.
func (p *Profile) Summary() (*Summary, error) { return summarize(p) }

// DataAccess returns the data access profile, nil if there is none. The caller must not change it.
func (p *Profile) DataAccess() (*DataAccess, error) { return p.access, nil }

func (p *Profile) maxFrames() int64 {
	if p.limit == 0 {
		return math.MaxInt64
	}
	return p.limit
}

// AddRecord adds the record of a function, as by [Profile.Merge]. The IDs of its stacks must come
// from [Profile.Stack]. The profile keeps the slices of rec.
func (p *Profile) AddRecord(schema Schema, rec Record) {
	p.limit = 0
	p.addRecord(schema, rec)
}

func (p *Profile) addRecord(schema Schema, rec Record) {
	if len(p.schema) == 0 {
		p.schema = slices.Clone(schema)
	} else if !slices.Equal(p.schema, schema) {
		p.schema = slices.Compact(slices.Sorted(slices.Values(append(p.schema, schema...))))
	}
	if p.byGUID == nil {
		p.byGUID = make(map[uint64]int)
	}
	i, ok := p.byGUID[rec.Function]
	if !ok {
		p.byGUID[rec.Function] = len(p.records)
		p.records = append(p.records, Record{Function: rec.Function})
		i = len(p.records) - 1
	}
	p.records[i].add(&rec)
}

// add merges other, which is a record of the same function, into rec. Several allocations or calls
// of other may have the same call stack.
func (rec *Record) add(other *Record) {
	rec.Allocs = joined(rec.Allocs, other.Allocs, stackOfAlloc, func(a, b *Alloc) { a.Block.add(&b.Block) })
	rec.Calls = joined(rec.Calls, other.Calls, stackOfCall, func(c, d *Call) { c.addCallees(d.Callees) })
}

func stackOfAlloc(a *Alloc) StackID { return a.Stack }
func stackOfCall(c *Call) StackID   { return c.Stack }

// joined returns the elements of list and of more, with one element for each call stack. stack
// returns the call stack of an element. If two elements have the same call stack, add adds the
// second one to the first.
func joined[T any](list, more []T, stack func(*T) StackID, add func(to, from *T)) []T {
	if len(list) == 0 && distinct(more, stack) {
		return more
	}
	at := make(map[StackID]int, len(list)+len(more))
	for i := range list {
		at[stack(&list[i])] = i
	}
	for i := range more {
		id := stack(&more[i])
		if j, ok := at[id]; ok {
			add(&list[j], &more[i])
			continue
		}
		at[id] = len(list)
		list = append(list, more[i])
	}
	return list
}

// addCallees adds callees to those of the call, without duplicates, and sorts them.
func (c *Call) addCallees(callees []uint64) {
	if len(callees) == 0 {
		return
	}
	all := append(slices.Clone(c.Callees), callees...)
	slices.Sort(all)
	c.Callees = slices.Compact(all)
}

// distinct reports whether all elements of the list have different call stacks.
func distinct[T any](list []T, stack func(*T) StackID) bool {
	seen := make(map[StackID]struct{}, len(list))
	for i := range list {
		id := stack(&list[i])
		if _, again := seen[id]; again {
			return false
		}
		seen[id] = struct{}{}
	}
	return true
}
