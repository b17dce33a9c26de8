package memprof

import "github.com/go-afdo/afdo/internal/saturating"

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

// combine merges each field of another block into b, by the field's rule.
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

// scale multiplies by times the fields that Block.add sums.
func (b *Block) scale(times uint64) {
	for f := AllocCount; f.known() && times != 1; f++ {
		if fieldInfos[f].rule == ruleSum {
			b[f] = saturating.Mul(b[f], times)
		}
	}
}

// addLater adds a block that the same run wrote later for the same site, as the runtime does.
// Within a run, it can also count overlapping lifetimes and repeated CPUs.
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
