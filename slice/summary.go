package slice

import (
	"math"
	"math/bits"

	"github.com/go-afdo/afdo"
)

// Summary returns the summary that slices of the program have: the profile's own, computed if it
// has none, unless [Program.WithSummary] has set another one. The caller must not change it.
func (p *Program) Summary() (*afdo.Summary, error) { return p.whole.Summary() }

// WithSummary returns the same program with another summary, which must not change any more. Its
// slices make the same code as the whole profile would with that summary.
func (p *Program) WithSummary(s *afdo.Summary) *Program {
	return &Program{whole: p.whole.WithSummary(s), implicit: p.implicit}
}

// hotCutoff is the share of all counts, in parts per million, whose smallest count is the threshold
// of hot code for GCC 16, unless --param=hot-bb-count-ws-permille says otherwise.
const hotCutoff = 990_000

// Steady returns a summary with only what GCC 16 reads of s, rounded so that it stays the same
// while a program and its training input change little: the largest count, rounded up to a power of
// two, and the threshold of hot counts, rounded to the nearest power of two. Everything else is 0,
// and all cutoffs have that threshold.
//
// GCC divides 2^50 by the largest count, and multiplies all counts by the result before it rounds
// fractions of them. Counts at or above the threshold are hot. Without the parameter for another
// threshold GCC reads nothing else of a summary. So the code stays the same while both numbers do.
// With a rounded threshold, some functions are compiled differently than with the exact one.
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

// powerAbove returns the smallest power of two that is not below a count, the largest one for
// counts beyond it, and 0 for 0.
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
	below := uint64(1) << (bits.Len64(count) - 1)
	if below < 1<<63 && float64(count)/float64(below) >= math.Sqrt2 {
		return 2 * below
	}
	return below
}
