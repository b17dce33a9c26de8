// Package samples holds address samples of one ELF file: which of its instructions ran, how often,
// and where branches led. It is what profilers measure, before symbols and lines come into it.
//
// A [Set] has sums of three kinds: straight-line ranges, single addresses, and taken branches. They
// consist of file offsets of the binary, neither addresses of a process nor addresses that the
// linker assigned. A [Layout] finds the file offset of an address that symbols and debug
// information use.
//
// [Parse] and [Set.Write] are the text form that google/autofdo's create_gcov and sample_merger
// exchange. [Read] makes a Set of what a profiler has written: perf.data, perf script,
// callgrind.out, pprof, OpenTelemetry or that text.
package samples

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Range is code that ran in a straight line: from the instruction at file offset Begin, the
// target of a branch, to the instruction at End, the next branch. Both instructions ran.
type Range struct{ Begin, End uint64 }

// A Branch is a branch that was taken, between two instructions by file offset.
type Branch struct{ From, To uint64 }

// A Call is a call found in a call stack. The call instruction that contains the byte at From
// called a function, which was at In when the sample was taken. Both are file offsets. From is
// [Elsewhere] if the caller is in another file.
type Call struct{ From, In uint64 }

// A CallSize is a call of memcpy, memmove, mempcpy or memset that handled a number of Bytes. The
// call returned to the file offset After.
type CallSize struct{ After, Bytes uint64 }

// Elsewhere represents code of another file.
const Elsewhere = math.MaxUint64

// A Set is the samples of one binary: how often each range, address and branch was seen. The zero
// Set is empty and ready for use.
//
// A Set must not be changed while another goroutine uses it.
type Set struct {
	// Exact is set if counts of addresses and branches are numbers of executions, as callgrind
	// counts them, not of samples. The text form does not contain it: a set parsed from text is not
	// exact.
	Exact bool

	Ranges    Sums[Range]    // executions; a range that ends before it begins has no meaning
	Addresses Sums[uint64]   // executions of the instruction at a file offset, or samples at it
	Branches  Sums[Branch]   // executions
	Entries   Sums[uint64]   // branches from other files to a file offset; not in the text form
	Calls     Sums[Call]     // samples taken during a call, not its executions; not in the text form
	Sizes     Sums[CallSize] // executions, from recordings by steps; not in the text form

	// Landings counts the beginnings of ranges with an unknown end. create.EndRanges finds the
	// ends.
	Landings Sums[uint64]

	// Times has the time at which each file offset was first sampled, if known, in nanoseconds of
	// the recording's clock. Compare times only with each other.
	Times map[uint64]uint64

	// Names has the recording's names for functions by file offset. C++ names may be demangled.
	// create.CheckBuild compares them with the binary's names.
	Names map[uint64]string

	traces Sums[string]
}

// Sums contains how often each key was seen: a file offset, a range, a branch or a call. A sum that
// would overflow stays at the greatest number. The zero value is empty and ready for use.
type Sums[K key] struct{ m map[K]uint64 }

// key lists the types of the keys whose samples a Set counts: file offsets, ranges, branches,
// calls, call sizes, and encoded traces.
type key interface {
	uint64 | Range | Branch | Call | CallSize | string
}

// Add adds n to the sum of a key. A sum of 0 is an entry nonetheless.
func (s *Sums[K]) Add(key K, n uint64) {
	if s.m == nil {
		s.m = make(map[K]uint64)
	}
	s.m[key] = saturating.Add(s.m[key], n)
}

// Len returns the number of different keys, such as ranges or file offsets, that were added.
func (s *Sums[K]) Len() int { return len(s.m) }

// All yields the keys in ascending order, each with its sum. Keys with two fields are ordered by
// the first field, then the second. Each call sorts the keys.
func (s *Sums[K]) All() iter.Seq2[K, uint64] {
	return func(yield func(K, uint64) bool) {
		for _, key := range slices.SortedFunc(maps.Keys(s.m), order[K]()) {
			if !yield(key, s.m[key]) {
				return
			}
		}
	}
}

// order returns a function that compares two keys of type K, such as ranges or branches, for
// sorting.
func order[K key]() func(a, b K) int {
	var compare any
	switch any(*new(K)).(type) {
	case uint64:
		compare = cmp.Compare[uint64]
	case string:
		compare = cmp.Compare[string]
	case Range:
		compare = func(a, b Range) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End)) }
	case Branch:
		compare = func(a, b Branch) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }
	case CallSize:
		compare = func(a, b CallSize) int { return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(a.Bytes, b.Bytes)) }
	case Call:
		compare = func(a, b Call) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In)) }
	}
	return compare.(func(a, b K) int)
}

// merge adds the sums of other to s.
func (s *Sums[K]) merge(other *Sums[K]) {
	for key, n := range other.m {
		s.Add(key, n)
	}
}

// addTime records that a file offset was sampled at a time, and keeps the earliest time of each
// offset. A time of 0 is unknown and ignored.
func (s *Set) addTime(offset, time uint64) {
	if time == 0 {
		return
	}
	if s.Times == nil {
		s.Times = make(map[uint64]uint64)
	}
	if old, ok := s.Times[offset]; !ok || time < old {
		s.Times[offset] = time
	}
}

// addName records the name that the recording has for the function at a file offset. The first name
// stays.
func (s *Set) addName(offset uint64, name string) {
	if name == "" {
		return
	}
	if s.Names == nil {
		s.Names = make(map[uint64]string)
	}
	if _, ok := s.Names[offset]; !ok {
		s.Names[offset] = name
	}
}

// Empty reports whether the Set has no samples.
func (s *Set) Empty() bool {
	return s.Ranges.Len()+s.Addresses.Len()+s.Branches.Len()+s.Landings.Len() == 0
}

// Merge adds the samples of other to s. It does not change other. It does not add the names of
// functions, which serve to check a single recording against the binary. The result is exact if
// both sets are exact or empty.
func (s *Set) Merge(other *Set) {
	switch {
	case other.Empty():
	case s.Empty():
		s.Exact = other.Exact
	default:
		s.Exact = s.Exact && other.Exact
	}
	s.Ranges.merge(&other.Ranges)
	s.Addresses.merge(&other.Addresses)
	s.Branches.merge(&other.Branches)
	s.Entries.merge(&other.Entries)
	s.Landings.merge(&other.Landings)
	s.Calls.merge(&other.Calls)
	s.Sizes.merge(&other.Sizes)
	s.traces.merge(&other.traces)
	for a, t := range other.Times {
		s.addTime(a, t)
	}
}
