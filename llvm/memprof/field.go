package memprof

import (
	"slices"
	"strconv"
)

// A Field is one of the numbers that are kept of an allocation site, by the tag
// that stands for it in a schema.
type Field uint8

// The fields. Times are in milliseconds, sizes in bytes. An access density is
// 100 times the accesses a byte, a lifetime access density 1000 times that a
// millisecond. What begins with Total or Num adds up all allocations, of which
// there are AllocCount; time stamps and CPUs are those of the last one.
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
	AccessHistogram // an address in the program that wrote the profile: it says nothing
)

const numFields = int(AccessHistogram)

// fieldInfo says how a field is stored and what merging makes of it.
type fieldInfo struct {
	name string // in YAML
	size int    // in bytes
	rule rule
}

// A rule is what becomes of a field when blocks of two runs of a program become one.
type rule uint8

const (
	ruleLast rule = iota // that of the later run
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

// String returns the name of the field as YAML has it.
func (f Field) String() string {
	if !f.known() {
		return "field " + strconv.Itoa(int(f))
	}
	return fieldInfos[f].name
}

// size returns how many bytes the field takes in a section.
func (f Field) size() int { return fieldInfos[f].size }

// fieldNamed returns the field of that name, 0 if there is none.
func fieldNamed(name string) Field {
	for f := AllocCount; f.known(); f++ {
		if fieldInfos[f].name == name {
			return f
		}
	}
	return 0
}

// A Schema lists the fields that a profile has of each allocation site, in order.
type Schema []Field

// DefaultSchema returns the fields that the compiler wants, which is what
// llvm-profdata writes.
func DefaultSchema() Schema {
	return Schema{AllocCount, TotalSize, TotalLifetime, TotalLifetimeAccessDensity}
}

// FullSchema returns all fields, as "llvm-profdata merge --memprof-full-schema" writes them.
func FullSchema() Schema {
	s := make(Schema, 0, numFields)
	for f := AllocCount; f.known(); f++ {
		s = append(s, f)
	}
	return s
}

// Has reports whether f is among the fields.
func (s Schema) Has(f Field) bool { return slices.Contains(s, f) }

// blockSize returns how many bytes a memory block takes.
func (s Schema) blockSize() int {
	n := 0
	for _, f := range s {
		n += f.size()
	}
	return n
}

// union returns the fields of both in the order of their tags.
func (s Schema) union(t Schema) Schema {
	all := append(slices.Clone(s), t...)
	slices.Sort(all)
	return slices.Compact(all)
}
