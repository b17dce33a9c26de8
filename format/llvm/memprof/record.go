package memprof

import "math"

// A StackID identifies a call stack within one [Source].
type StackID uint64

// A Record holds the allocations in one function, and the calls in it that lead to allocations. An
// allocation appears in the record of the allocating function and of each function into which that
// one was inlined. Iterating over all records therefore yields it several times.
type Record struct {
	Function uint64 // GUID
	Allocs   []Alloc
	Calls    []Call
}

// An Alloc is an allocation at one call stack.
type Alloc struct {
	Stack StackID // leaf first; the first frame is the allocation
	Block Block
}

// A Call is a call in a function through which an allocation was reached.
type Call struct {
	Stack   StackID  // the call and the calls into which its function was inlined, leaf first
	Callees []uint64 // GUIDs of the known callees (version 4)
}

// stackIDSize returns the size of a stack ID in records, in bytes.
func stackIDSize(version uint64) int {
	if version == version2 {
		return 8
	}
	return 4
}

// minCallSize returns the minimum size of a call in records, in bytes.
func minCallSize(version uint64) int {
	if version >= version4 {
		return stackIDSize(version) + 8
	}
	return stackIDSize(version)
}

func (d *decoder) stackID(version uint64, what string) StackID {
	if version == version2 {
		return StackID(d.Uint64(what))
	}
	return StackID(d.Uint32(what))
}

func (e *encoder) stackID(version uint64, id StackID) {
	if version == version2 {
		e.u64(uint64(id))
	} else {
		e.u32(uint32(id))
	}
}

// record decodes the record of a function. Like LLVM's reader, it ignores bytes after the record.
func (d *decoder) record(function, version uint64, schema Schema) (Record, error) {
	rec := Record{Function: function}
	if n := d.count("allocation sites", stackIDSize(version)+schema.blockSize()); n > 0 {
		rec.Allocs = make([]Alloc, n)
		for i := range rec.Allocs {
			rec.Allocs[i].Stack = d.stackID(version, "call stack of an allocation")
			d.block(&rec.Allocs[i].Block, schema)
		}
	}
	if n := d.count("call sites", minCallSize(version)); n > 0 {
		rec.Calls = make([]Call, n)
		for i := range rec.Calls {
			rec.Calls[i] = d.call(version)
		}
	}
	return rec, d.err()
}

func (d *decoder) call(version uint64) Call {
	c := Call{Stack: d.stackID(version, "call stack of a call")}
	if version < version4 {
		return c
	}
	if n := d.count("callees", 8); n > 0 {
		c.Callees = make([]uint64, n)
		for i := range c.Callees {
			c.Callees[i] = d.Uint64("callee")
		}
	}
	return c
}

// record appends the record of a function. The stack IDs in it must be those of the section, not
// those of the profile in memory.
func (e *encoder) record(rec *Record, version uint64, schema Schema) error {
	e.u64(uint64(len(rec.Allocs)))
	for i := range rec.Allocs {
		e.stackID(version, rec.Allocs[i].Stack)
		if err := e.block(&rec.Allocs[i].Block, schema); err != nil {
			return err
		}
	}
	e.u64(uint64(len(rec.Calls)))
	for _, c := range rec.Calls {
		e.stackID(version, c.Stack)
		if version < version4 {
			continue
		}
		e.u64(uint64(len(c.Callees)))
		for _, callee := range c.Callees {
			e.u64(callee)
		}
	}
	return nil
}

func (d *decoder) block(b *Block, schema Schema) {
	for _, f := range schema {
		if f.size() == 4 {
			b[f] = uint64(d.Uint32(f.String()))
		} else {
			b[f] = d.Uint64(f.String())
		}
	}
}

func (e *encoder) block(b *Block, schema Schema) error {
	for _, f := range schema {
		switch {
		case f.size() == 8:
			e.u64(b[f])
		case b[f] > math.MaxUint32:
			return unrepresentable("%s is %d, which does not fit 32 bits", f, b[f])
		default:
			e.u32(uint32(b[f]))
		}
	}
	return nil
}
