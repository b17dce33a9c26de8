package memprof

import (
	"slices"
	"strconv"
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

// union returns the fields that s or t contains, sorted by tag.
func (s Schema) union(t Schema) Schema {
	all := append(slices.Clone(s), t...)
	slices.Sort(all)
	return slices.Compact(all)
}
