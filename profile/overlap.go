package profile

import (
	"math"

	"github.com/go-afdo/afdo/internal/saturating"
)

// An Overlap describes the similarity of two profiles. All figures except OnlyFirst and OnlySecond
// are 1 if all counts are equal or neither profile has samples, and otherwise 0 if no function has
// samples in both profiles. All figures except Counts compare shares of the samples, so they do not
// depend on the duration of the recordings.
//
// A location is a line and discriminator in a function, or in a function inlined there through a
// given chain of calls. Functions are the same if the paths of their units and their names are.
type Overlap struct {
	// Similarity is the profile similarity of "llvm-profdata overlap --sample". It is the sum over
	// all functions of FS(f) * (w1(f) + w2(f)) / 2, where w1 and w2 are the function's shares of
	// the samples in each profile, and FS(f) is (1 - |w1(f) - w2(f)|) times the overlap of the
	// function's locations, see [FunctionDiff]. If only one profile has samples in a function of
	// both, LLVM uses an overlap of 1/2; this package uses 0.
	Similarity float64

	// Functions is the sum over all functions of the smaller of their two shares.
	Functions float64

	// Locations is the sum over all locations of the smaller of their two shares. It is at most
	// Functions. LLVM has the same figure for the counters of instrumentation profiles.
	Locations float64

	// Counts is LLVM's sample overlap: the sum over all locations of the smaller of the two counts,
	// divided by the sum of the larger.
	Counts float64

	// OnlyFirst is the share of the first profile's samples at locations for which the second
	// profile has no count; OnlySecond is the reverse. Each is 0 if its profile has no samples.
	OnlyFirst, OnlySecond float64
}

// A meter measures how similar two distributions of counts are. For each location or function, it
// takes the count's share of all counts in each of the two profiles. It sums the smaller of these
// two shares.
type meter struct {
	whole  [2]uint64 // sum of all counts in each profile
	common [2]uint64 // for each profile: sum of its counts that have the smaller share
}

// add adds the two counts of a location or function. Comparisons are exact, so identical
// distributions give exactly 1.
func (m *meter) add(counts [2]uint64) {
	lesser := 0
	if compareShares(counts[0], m.whole[0], counts[1], m.whole[1]) > 0 {
		lesser = 1
	}
	m.common[lesser] = saturating.Add(m.common[lesser], counts[lesser])
}

// overlap returns the sum of the smaller shares: 1 if the distributions are identical, and 0 if
// they have nothing in common. It is also 1 if neither distribution has counts.
func (m *meter) overlap() float64 {
	if m.whole == [2]uint64{} {
		return 1
	}
	if m.whole[0] == 0 || m.whole[1] == 0 {
		return 0
	}
	return min(1, shareOf(m.common[0], m.whole[0])+shareOf(m.common[1], m.whole[1]))
}

// similarity computes [Overlap.Similarity]. It sums separately what is alike in two profiles and
// what is not. Without rounding, the two sums would add up to 1. So entirely different profiles
// give exactly 0, and equal ones exactly 1.
type similarity struct{ alike, unlike float64 }

func (s *similarity) add(overlap, first, second float64) {
	alike := overlap * (1 - math.Abs(first-second))
	s.alike += alike * (first + second) / 2
	s.unlike += (1 - alike) * (first + second) / 2
}

func (s *similarity) value() float64 {
	if s.unlike == 0 {
		return 1
	}
	return s.alike / (s.alike + s.unlike)
}

// A locationTally compares the counts that two profiles have for each location. It adds them to the
// measure of the location's function, of its unit and of the whole profile.
type locationTally struct {
	function, unit, profile *meter
	lesser, greater         uint64    // sums of the smaller and of the larger count of each location
	only                    [2]uint64 // samples at locations that only one profile has
}

// both adds a location for which both profiles have a count.
func (t *locationTally) both(first, second uint64) {
	counts := [2]uint64{first, second}
	t.function.add(counts)
	t.unit.add(counts)
	t.profile.add(counts)
	t.lesser = saturating.Add(t.lesser, min(first, second))
	t.greater = saturating.Add(t.greater, max(first, second))
}

// alone adds samples of locations that only one profile has. which is 0 for the first profile and 1
// for the second.
func (t *locationTally) alone(which int, samples uint64) {
	t.only[which] = saturating.Add(t.only[which], samples)
	t.greater = saturating.Add(t.greater, samples)
}

// join adds the locations of a function that both profiles have. first and second are its records
// in the two profiles. Their callees must have the same numbers.
func (t *locationTally) join(first, second []Record) {
	v, w := Walk(first), Walk(second)
	r, depth, ok := v.Next()
	s, otherDepth, otherOK := w.Next()
	for ok || otherOK {
		order := compareSteps(r, depth, s, otherDepth)
		switch {
		case order == 0 && r.Kind == KindCount:
			t.both(r.Count, s.Count)
		case order < 0 && r.Kind == KindCount:
			t.alone(0, r.Count)
		case order > 0 && s.Kind == KindCount:
			t.alone(1, s.Count)
		}
		if order <= 0 {
			r, depth, ok = v.Next()
		}
		if order >= 0 {
			s, otherDepth, otherOK = w.Next()
		}
	}
}

// counts returns [Overlap.Counts].
func (t *locationTally) counts() float64 {
	if t.greater == 0 {
		return 1
	}
	return shareOf(t.lesser, t.greater)
}
