package memprof

import "github.com/go-afdo/afdo/internal/saturating"

// A Block holds the fields of one allocation site, indexed by [Field]. Those that
// are not in the schema are 0, as is the one with index 0. Numbers may get larger
// in a Block than a section has room for; writing it is an error then.
type Block [numFields + 1]uint64

// Add adds what another run of the program did at the same site. Counts and
// totals are added up, with 2^64-1 as the end; minima and maxima are those of both; time
// stamps and CPUs are those of other, if it has any allocations.
func (b *Block) Add(other *Block) {
	switch {
	case other[AllocCount] == 0:
		return
	case b[AllocCount] == 0:
		*b = *other
		return
	}
	b.combine(other)
}

// combine applies the rule of each field.
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

// scale multiplies what [Block.Add] adds up.
func (b *Block) scale(times uint64) {
	for f := AllocCount; f.known() && times != 1; f++ {
		if fieldInfos[f].rule == ruleSum {
			b[f] = saturating.Mul(b[f], times)
		}
	}
}

// addLater adds what the same run did later at the same site, as the runtime
// does it: only then can one tell whether lifetimes overlap and CPUs are the same.
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
