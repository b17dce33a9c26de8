// Package samples holds address samples of one ELF file: which of its instructions ran, how often,
// and where branches led. It is what profilers measure, before symbols and lines come into it.
//
// A [Set] has sums of three kinds, all over file offsets of the binary, not addresses of a process
// or of the linker: straight-line ranges, single addresses, and taken branches. A [Layout] finds
// the file offset of an address that symbols and debug information use.
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

// Elsewhere represents code of another file.
const Elsewhere = math.MaxUint64

// A Set is the samples of one binary: how often each range, address and branch was seen. Counts
// that would overflow stay at the greatest one. The zero Set is empty and ready for use.
//
// A Set must not be changed while another goroutine uses it.
type Set struct {
	// Exact is set if counts of addresses and branches are numbers of executions, as callgrind
	// counts them, not of samples. The text form does not contain it: a set parsed from text is not
	// exact.
	Exact bool

	ranges    map[Range]uint64
	addresses map[uint64]uint64
	branches  map[Branch]uint64
	entries   map[uint64]uint64
	landings  map[uint64]uint64
	calls     map[Call]uint64
	traces    map[string]uint64
	times     map[uint64]uint64
	names     map[uint64]string
}

// AddRange adds n executions of a range. A range that ends before it begins has no meaning and is
// left to the reader of the Set.
func (s *Set) AddRange(r Range, n uint64) { add(&s.ranges, r, n) }

// AddAddress adds n executions of, or n samples at, the instruction at a file offset.
func (s *Set) AddAddress(offset, n uint64) { add(&s.addresses, offset, n) }

// AddBranch adds n executions of a branch.
func (s *Set) AddBranch(b Branch, n uint64) { add(&s.branches, b, n) }

// AddEntry adds n branches from another file, such as a call by the C library, to a file offset.
func (s *Set) AddEntry(offset, n uint64) { add(&s.entries, offset, n) }

// addLanding adds n executions of straight-line code from a file offset to an unknown end, which
// create.EndRanges finds.
func (s *Set) addLanding(offset, n uint64) { add(&s.landings, offset, n) }

// TakeLandings yields the file offsets of Set.addLanding and how often, in ascending order, and
// forgets them.
func (s *Set) TakeLandings() iter.Seq2[uint64, uint64] {
	landings := s.landings
	s.landings = nil
	return sorted(landings, cmp.Compare)
}

// AddCall adds n samples whose call stack contains a call.
func (s *Set) AddCall(c Call, n uint64) { add(&s.calls, c, n) }

// addTime notes that a file offset was sampled at a time, in nanoseconds of the recording's clock.
// The earliest time of an offset is kept. 0 means an unknown time and is ignored.
func (s *Set) addTime(offset, time uint64) {
	if time == 0 {
		return
	}
	if s.times == nil {
		s.times = make(map[uint64]uint64)
	}
	if old, ok := s.times[offset]; !ok || time < old {
		s.times[offset] = time
	}
}

// AddName notes how the recording calls the function at a file offset. The first name stays.
func (s *Set) AddName(offset uint64, name string) {
	if name == "" {
		return
	}
	if s.names == nil {
		s.names = make(map[uint64]string)
	}
	if _, ok := s.names[offset]; !ok {
		s.names[offset] = name
	}
}

// Ranges yields the ranges and how often each ran, by Begin, then End. It sorts them, at each call.
func (s *Set) Ranges() iter.Seq2[Range, uint64] {
	return sorted(s.ranges, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
}

// Addresses yields the file offsets and how often each ran or was sampled, in ascending order. It
// sorts them, at each call.
func (s *Set) Addresses() iter.Seq2[uint64, uint64] { return sorted(s.addresses, cmp.Compare) }

// Branches yields the branches and how often each was taken, by From, then To. It sorts them, at
// each call.
func (s *Set) Branches() iter.Seq2[Branch, uint64] {
	return sorted(s.branches, func(a, b Branch) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

// Entries yields the file offsets that are targets of branches from other files, each with the
// number of branches, in ascending order. The text form does not contain them. Each call sorts
// them.
func (s *Set) Entries() iter.Seq2[uint64, uint64] { return sorted(s.entries, cmp.Compare) }

// Calls yields the calls of call stacks with the number of samples taken during each, ordered by
// From, then In. The number does not say how often a call ran. The text form does not contain
// calls. Each call of Calls sorts them.
func (s *Set) Calls() iter.Seq2[Call, uint64] {
	return sorted(s.calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In))
	})
}

// Times yields the file offsets whose first time is known, with it, in ascending order of the
// offsets. Nanoseconds of the recording's clock: compare them with each other only. It sorts them,
// at each call.
func (s *Set) Times() iter.Seq2[uint64, uint64] { return sorted(s.times, cmp.Compare) }

// Name returns the recording's name for the function at a file offset, or "" if unknown. C++ names
// may be demangled. create.CheckBuild compares them with the binary's names.
func (s *Set) Name(offset uint64) string { return s.names[offset] }

// HasNames reports whether the recording has names for some functions.
func (s *Set) HasNames() bool { return len(s.names) > 0 }

// NumRanges returns the number of different ranges.
func (s *Set) NumRanges() int { return len(s.ranges) }

// NumAddresses returns the number of different file offsets.
func (s *Set) NumAddresses() int { return len(s.addresses) }

// NumBranches returns the number of different branches.
func (s *Set) NumBranches() int { return len(s.branches) }

// Empty reports whether nothing has been added.
func (s *Set) Empty() bool {
	return len(s.ranges)+len(s.addresses)+len(s.branches)+len(s.landings) == 0
}

// Merge adds the samples of other, which does not change. It does not add the names, which serve to
// check a single recording against the binary. The sum is exact if both parts are exact. An empty
// part does not count.
func (s *Set) Merge(other *Set) {
	switch {
	case other.Empty():
	case s.Empty():
		s.Exact = other.Exact
	default:
		s.Exact = s.Exact && other.Exact
	}
	for r, n := range other.ranges {
		s.AddRange(r, n)
	}
	for a, n := range other.addresses {
		s.AddAddress(a, n)
	}
	for b, n := range other.branches {
		s.AddBranch(b, n)
	}
	for a, n := range other.entries {
		s.AddEntry(a, n)
	}
	for a, n := range other.landings {
		s.addLanding(a, n)
	}
	for c, n := range other.calls {
		s.AddCall(c, n)
	}
	for key, n := range other.traces {
		add(&s.traces, key, n)
	}
	for a, t := range other.times {
		s.addTime(a, t)
	}
}

// add adds n to a sum. A sum of 0 is a key nonetheless.
func add[K comparable](m *map[K]uint64, key K, n uint64) {
	if *m == nil {
		*m = make(map[K]uint64)
	}
	(*m)[key] = saturating.Add((*m)[key], n)
}

// sorted yields what a map holds in the order of its keys.
func sorted[K comparable](m map[K]uint64, compare func(a, b K) int) iter.Seq2[K, uint64] {
	return func(yield func(K, uint64) bool) {
		for _, key := range slices.SortedFunc(maps.Keys(m), compare) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
