package memprof

import "github.com/go-afdo/afdo/internal/saturating"

// A Block holds the measured numbers of one allocation site, indexed by [Field]. Element 0 is
// unused, and fields that are not in the profile's schema are 0. A value may be too large for its
// field in a section. Writing it is then an error.
type Block [numFields + 1]uint64

// add adds the numbers that another run has measured for the same allocation site. It sums counts
// and totals, saturating at 2^64-1. It keeps the lower minima and the higher maxima. Time stamps
// and CPUs become those of other, if other has any allocations.
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

// combine merges each field of another block into b. The rule of the field says how, for example by
// addition, see [rule].
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

// scale multiplies by times those fields that Block.add sums.
func (b *Block) scale(times uint64) {
	for f := AllocCount; f.known() && times != 1; f++ {
		if fieldInfos[f].rule == ruleSum {
			b[f] = saturating.Mul(b[f], times)
		}
	}
}

// addLater adds a block that the same run wrote later for the same allocation site, as the runtime
// library does. Within a run, addLater can also count allocations with overlapping lifetimes, and
// those on the same CPU as the allocation before.
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
