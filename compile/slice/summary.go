package slice

import (
	"math"
	"math/bits"

	"github.com/go-afdo/afdo"
)

// Summary returns the summary that slices of the program get: the one given to
// [Program.WithSummary], or else the profile's own. If the profile has none, Summary computes it
// from the profile's counts. The caller must not change it.
func (p *Program) Summary() (*afdo.Summary, error) { return p.whole.Summary() }

// WithSummary returns the same program with another summary, which must not change any more. A
// slice of it makes the compiler generate the same code as the whole profile would with that
// summary.
func (p *Program) WithSummary(s *afdo.Summary) *Program {
	return &Program{whole: p.whole.WithSummary(s), common: p.common}
}

// hotCutoff determines GCC 16's threshold for hot code: it is the smallest of the counts that make
// up this share of all counts, in parts per million, unless --param=hot-bb-count-ws-permille sets
// another share.
const hotCutoff = 990_000

// Steady returns a rounded summary for GCC 16, which stays the same while a program and its
// training input change little. It has only what GCC reads of s: the largest count, rounded up to a
// power of two, and the threshold of hot counts, rounded to the nearest power of two. Everything
// else is 0, and all cutoffs have that threshold.
//
// GCC divides 2^50 by the largest count, and multiplies all counts by the result before it rounds
// fractions of them. Counts at or above the threshold are hot. GCC reads nothing else of a summary,
// unless a parameter sets another cutoff for the threshold. So the code stays the same while both
// numbers do. With a rounded threshold, some functions are compiled differently than with the exact
// one.
func Steady(s *afdo.Summary) *afdo.Summary {
	steady := &afdo.Summary{MaxCount: powerAbove(s.MaxCount)}
	threshold := nearestPower(hotCount(s))
	for _, e := range s.Entries {
		steady.Entries = append(steady.Entries, afdo.SummaryEntry{Cutoff: e.Cutoff, MinCount: threshold})
	}
	return steady
}

// hotCount returns the smallest count that GCC 16 takes for hot: the count of the first cutoff that
// reaches hotCutoff, or else of the last cutoff.
func hotCount(s *afdo.Summary) (count uint64) {
	for _, e := range s.Entries {
		if count = e.MinCount; e.Cutoff >= hotCutoff {
			break
		}
	}
	return count
}

// powerAbove returns the smallest power of two that is at least a count. It returns 0 for 0, and
// 1<<63 for larger counts.
func powerAbove(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	return 1 << min(bits.Len64(count-1), 63)
}

// nearestPower returns the power of two with the smallest ratio to a count, or 0 for 0.
func nearestPower(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	below := powerBelow(count)
	if below < 1<<63 && float64(count)/float64(below) >= math.Sqrt2 {
		return 2 * below
	}
	return below
}

// SteadyForClang returns a rounded summary for clang. It has nearly the thresholds of s, and stays
// the same while the profile changes little. The smallest count of each entry is rounded to a power
// of two:
//
//   - up to the cutoff of hot counts, to the nearest one;
//   - after it, where clang looks for the threshold of cold counts, to the next lower one, and at
//     most to half the threshold of hot counts, so that no count is both hot and cold.
//
// Numbers of counts are rounded so that clang still calls the same working sets large or huge. All
// totals are 0, because clang does not read them.
func SteadyForClang(s *afdo.Summary) *afdo.Summary {
	steady := new(afdo.Summary)
	hot := nearestPower(hotCount(s))
	for _, e := range s.Entries {
		count := nearestPower(e.MinCount)
		if e.Cutoff > hotCutoff {
			count = min(powerBelow(e.MinCount), hot/2)
		}
		steady.Entries = append(steady.Entries, afdo.SummaryEntry{Cutoff: e.Cutoff, MinCount: count, NumCounts: steadySize(e.NumCounts)})
	}
	return steady
}

// Clang calls a program's working set large if more counts than the first limit are hot, and huge
// if more than the second one are: -profile-summary-large-working-set-size-threshold and
// -profile-summary-huge-working-set-size-threshold.
const (
	largeWorkingSet = 12_500
	hugeWorkingSet  = 15_000
)

// steadySize rounds a number of counts to a power of two. If the result would be on the other side
// of one of the limits for large and huge working sets, it returns a number on the same side
// instead.
func steadySize(counts uint64) uint64 {
	rounded := nearestPower(counts)
	switch {
	case counts <= largeWorkingSet:
		return min(rounded, powerBelow(largeWorkingSet))
	case counts <= hugeWorkingSet:
		return hugeWorkingSet
	}
	return max(rounded, powerAbove(hugeWorkingSet))
}

// powerBelow returns the largest power of two that is not above a count, and 0 for 0.
func powerBelow(count uint64) uint64 {
	if count == 0 {
		return 0
	}
	return 1 << (bits.Len64(count) - 1)
}
