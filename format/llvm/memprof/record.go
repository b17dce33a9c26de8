package memprof

import (
	"math"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
)

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

// A Call is a call on the way to an allocation.
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

// record appends rec. Its stack IDs must already be those of the section.
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

// A Block holds the fields of one allocation site, indexed by [Field]. Element 0 is unused, and
// fields outside the schema are 0. A value may be too large for its field in a section; writing it
// is then an error.
type Block [numFields + 1]uint64

// add adds the block of the same site from another run. It sums counts and totals, saturating at
// 2^64-1, and keeps the lower minima and higher maxima. Time stamps and CPUs are taken from other
// if it has any allocations.
func (b *Block) add(other *Block) {
	switch {
	case other[AllocCount] == 0:
		return
	case b[AllocCount] == 0:
		*b = *other
		return
	}
	b.combine(other)
}

// combine merges each field by its rule.
func (b *Block) combine(other *Block) {
	for f := AllocCount; f.known(); f++ {
		switch fieldInfos[f].rule {
		case ruleLast:
			b[f] = other[f]
		case ruleSum:
			b[f] = saturating.Add(b[f], other[f])
		case ruleMin:
			b[f] = min(b[f], other[f])
		case ruleMax:
			b[f] = max(b[f], other[f])
		}
	}
}

// scale multiplies the fields that Block.add sums.
func (b *Block) scale(times uint64) {
	for f := AllocCount; f.known() && times != 1; f++ {
		if fieldInfos[f].rule == ruleSum {
			b[f] = saturating.Mul(b[f], times)
		}
	}
}

// addLater adds a later block of the same site and the same run, as the runtime does. Within a run,
// it can also count overlapping lifetimes and repeated CPUs.
func (b *Block) addLater(later *Block) {
	before := *b
	b.combine(later)
	b[NumMigratedCPU], b[DataTypeID] = before[NumMigratedCPU], before[DataTypeID]
	b[NumLifetimeOverlaps] = before[NumLifetimeOverlaps] + one(later[AllocTimestamp] < before[DeallocTimestamp])
	b[NumSameAllocCPU] = before[NumSameAllocCPU] + one(later[AllocCPUID] == before[AllocCPUID])
	b[NumSameDeallocCPU] = before[NumSameDeallocCPU] + one(later[DeallocCPUID] == before[DeallocCPUID])
}

func one(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// A Frame is a place in a function: a call or, in the first frame of an allocation's stack, the
// allocation.
type Frame struct {
	Function   uint64 // GUID of the function
	LineOffset uint32 // number of lines after the first line of the function
	Column     uint32
	Inlined    bool // the function was inlined into the function of the next frame
}

// frameSize is the size of a frame in a section, in bytes.
const frameSize = 17

// GUID returns the identifier of a function in a profile: the first eight bytes of the MD5 of its
// symbol name, without the suffixes .llvm.X and .part.X that the optimizer appends to copied or
// promoted functions.
func GUID(name string) uint64 {
	return symname.GUID(symname.StripMemProf(name))
}

func (e *encoder) frame(f Frame) {
	e.u64(f.Function)
	e.u32(f.LineOffset)
	e.u32(f.Column)
	if f.Inlined {
		e.u8(1)
	} else {
		e.u8(0)
	}
}

func (d *decoder) frame() Frame {
	return Frame{
		Function:   d.Uint64("function of a frame"),
		LineOffset: d.Uint32("line offset of a frame"),
		Column:     d.Uint32("column of a frame"),
		Inlined:    d.Uint8("flag of a frame") != 0,
	}
}
