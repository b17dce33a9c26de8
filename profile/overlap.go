package profile

import "math"

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

// A meter measures how similar two distributions of counts are: it sums, over all locations or
// functions, the smaller of the two shares.
type meter struct {
	whole  [2]total
	common [2]total // for each profile: sum of its counts that have the smaller share
}

// add adds the two counts of a location or function. Comparisons are exact, so identical
// distributions give exactly 1.
func (m *meter) add(counts [2]total) {
	lesser := 0
	if compareShares(counts[0], m.whole[0], counts[1], m.whole[1]) > 0 {
		lesser = 1
	}
	m.common[lesser].add(counts[lesser])
}

func (m *meter) overlap() float64 {
	switch none := (total{}); {
	case m.whole[0] != none && m.whole[1] != none:
		return min(1, m.common[0].shareOf(m.whole[0])+m.common[1].shareOf(m.whole[1]))
	case m.whole[0] == m.whole[1]:
		return 1
	default:
		return 0
	}
}

// similarity accumulates [Overlap.Similarity] in two parts, similar and dissimilar, whose sum is 1
// except for rounding. So entirely different profiles give exactly 0, and equal ones exactly 1.
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

// A locationTally compares the counts of locations within a function, its unit and the profile.
type locationTally struct {
	function, unit, profile *meter
	lesser, greater         total
	only                    [2]total // samples at locations that only one profile has
}

// both adds the counts of a location that both profiles have.
func (t *locationTally) both(first, second uint64) {
	counts := [2]total{{lo: first}, {lo: second}}
	t.function.add(counts)
	t.unit.add(counts)
	t.profile.add(counts)
	t.lesser.add(total{lo: min(first, second)})
	t.greater.add(total{lo: max(first, second)})
}

// alone adds the samples at locations that only one profile has. which is 0 for the first profile.
func (t *locationTally) alone(which int, samples total) {
	t.only[which].add(samples)
	t.greater.add(samples)
}

// join adds the locations of two bodies whose callees have the same numbering.
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
			t.alone(0, total{lo: r.Count})
		case order > 0 && s.Kind == KindCount:
			t.alone(1, total{lo: s.Count})
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
	if t.greater == (total{}) {
		return 1
	}
	return t.lesser.shareOf(t.greater)
}
