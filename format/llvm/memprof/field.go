package memprof

import (
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Field is one of the numbers that a profile records for an allocation site. Its value is the
// field's tag in a schema.
type Field uint8

// The fields. Times are in milliseconds and sizes in bytes. An access density is 100 times the
// accesses per byte. A lifetime access density is 1000 times the access density per millisecond.
// Fields named Total or Num are sums over all allocations, whose number is AllocCount. Time stamps
// and CPUs are those of the last allocation.
const (
	AllocCount Field = iota + 1
	TotalAccessCount
	MinAccessCount
	MaxAccessCount
	TotalSize
	MinSize
	MaxSize
	AllocTimestamp
	DeallocTimestamp
	TotalLifetime
	MinLifetime
	MaxLifetime
	AllocCPUID
	DeallocCPUID
	NumMigratedCPU
	NumLifetimeOverlaps
	NumSameAllocCPU
	NumSameDeallocCPU
	DataTypeID
	TotalAccessDensity
	MinAccessDensity
	MaxAccessDensity
	TotalLifetimeAccessDensity
	MinLifetimeAccessDensity
	MaxLifetimeAccessDensity
	AccessHistogramSize
	AccessHistogram // an address in the profiled program, meaningless here
)

const numFields = int(AccessHistogram)

// A fieldInfo describes how a [Field] is stored, and how its values from two runs are merged.
type fieldInfo struct {
	name string // in YAML
	size int    // in bytes
	rule rule
}

// A rule says how a field is merged when two runs have measured it for the same allocation site,
// for example by addition.
type rule uint8

const (
	ruleLast rule = iota // take the value of the later run
	ruleSum
	ruleMin
	ruleMax
)

var fieldInfos = [numFields + 1]fieldInfo{
	AllocCount:                 {"AllocCount", 4, ruleSum},
	TotalAccessCount:           {"TotalAccessCount", 8, ruleSum},
	MinAccessCount:             {"MinAccessCount", 8, ruleMin},
	MaxAccessCount:             {"MaxAccessCount", 8, ruleMax},
	TotalSize:                  {"TotalSize", 8, ruleSum},
	MinSize:                    {"MinSize", 4, ruleMin},
	MaxSize:                    {"MaxSize", 4, ruleMax},
	AllocTimestamp:             {"AllocTimestamp", 4, ruleLast},
	DeallocTimestamp:           {"DeallocTimestamp", 4, ruleLast},
	TotalLifetime:              {"TotalLifetime", 8, ruleSum},
	MinLifetime:                {"MinLifetime", 4, ruleMin},
	MaxLifetime:                {"MaxLifetime", 4, ruleMax},
	AllocCPUID:                 {"AllocCpuId", 4, ruleLast},
	DeallocCPUID:               {"DeallocCpuId", 4, ruleLast},
	NumMigratedCPU:             {"NumMigratedCpu", 4, ruleSum},
	NumLifetimeOverlaps:        {"NumLifetimeOverlaps", 4, ruleSum},
	NumSameAllocCPU:            {"NumSameAllocCpu", 4, ruleSum},
	NumSameDeallocCPU:          {"NumSameDeallocCpu", 4, ruleSum},
	DataTypeID:                 {"DataTypeId", 8, ruleLast},
	TotalAccessDensity:         {"TotalAccessDensity", 8, ruleSum},
	MinAccessDensity:           {"MinAccessDensity", 4, ruleMin},
	MaxAccessDensity:           {"MaxAccessDensity", 4, ruleMax},
	TotalLifetimeAccessDensity: {"TotalLifetimeAccessDensity", 8, ruleSum},
	MinLifetimeAccessDensity:   {"MinLifetimeAccessDensity", 4, ruleMin},
	MaxLifetimeAccessDensity:   {"MaxLifetimeAccessDensity", 4, ruleMax},
	AccessHistogramSize:        {"AccessHistogramSize", 4, ruleMax},
	AccessHistogram:            {"AccessHistogram", 8, ruleLast},
}

func (f Field) known() bool { return f >= 1 && int(f) <= numFields }

// String returns the name of the field in YAML.
func (f Field) String() string {
	if !f.known() {
		return "field " + strconv.Itoa(int(f))
	}
	return fieldInfos[f].name
}

// size returns the size of the field in a section, in bytes.
func (f Field) size() int { return fieldInfos[f].size }

// fieldNamed returns the field with the given name, or 0.
func fieldNamed(name string) Field {
	for f := AllocCount; f.known(); f++ {
		if fieldInfos[f].name == name {
			return f
		}
	}
	return 0
}

// A Schema lists the fields that a profile stores for each allocation site, in order.
type Schema []Field

// DefaultSchema returns the fields that the compiler needs. llvm-profdata writes these by default.
func DefaultSchema() Schema {
	return Schema{AllocCount, TotalSize, TotalLifetime, TotalLifetimeAccessDensity}
}

// FullSchema returns all fields. "llvm-profdata merge --memprof-full-schema" writes these.
func FullSchema() Schema {
	s := make(Schema, 0, numFields)
	for f := AllocCount; f.known(); f++ {
		s = append(s, f)
	}
	return s
}

// has reports whether s contains f.
func (s Schema) has(f Field) bool { return slices.Contains(s, f) }

// blockSize returns the size in a section of a block with the fields of s, in bytes.
func (s Schema) blockSize() int {
	n := 0
	for _, f := range s {
		n += f.size()
	}
	return n
}

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
