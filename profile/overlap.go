package profile

import "math"

// An Overlap says how much of the samples of two profiles is the same: 1 if they are spread alike,
// 0 if no place has samples in both. Every figure but Counts compares shares, so how long the two
// were sampled does not matter. Of two profiles without samples every figure is 1, of one without
// and one with samples 0.
//
// A location is a line and discriminator of a function, or of a function
// inlined there, along one way of inlining. Functions are the same if unit and
// name are. The figures do not depend on the numbers of units and symbols.
type Overlap struct {
	// Similarity is the profile similarity of "llvm-profdata overlap --sample":
	// the sum over all functions of FS(f) * (w1(f) + w2(f)) / 2, where w1 and w2 are
	// the function's shares of the samples of each profile, and FS(f) is
	// (1 - |w1(f) - w2(f)|) times the overlap of the function's locations,
	// see [FunctionDiff]. LLVM takes that for one half where the function is
	// in both profiles but has samples only in one; here it is 0.
	Similarity float64

	// Functions is the sum over all functions of the lesser of their two shares.
	Functions float64

	// Locations is the sum over all locations of the lesser of their two
	// shares. It is never more than Functions. LLVM has the same measure for the counters of
	// instrumentation profiles.
	Locations float64

	// Counts is LLVM's sample overlap: the sum over all locations of the
	// lesser of the two counts, divided by the sum of the greater.
	Counts float64

	// OnlyFirst and OnlySecond are the shares of samples of one profile at
	// locations for which the other has no count at all.
	OnlyFirst, OnlySecond float64
}

// A meter measures how alike counts are spread over places: the sum over
// places of the lesser of the two shares, each share being of one whole.
type meter struct {
	whole  [2]total
	common [2]total // counts whose share is the lesser one
}

// add counts a place in. Comparing is exact, so the same spread gives exactly 1.
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

// similarity is the sum for [Overlap.Similarity], in two parts that are 1
// together but for rounding: what is alike and what is not. So nothing alike
// gives exactly 0, and nothing unlike exactly 1.
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

// A locationTally compares the counts of locations, within a function, its unit and the whole.
type locationTally struct {
	function, unit, profile *meter
	lesser, greater         total
	only                    [2]total // at locations that one profile alone has
}

// both counts in a location that is in both profiles.
func (t *locationTally) both(first, second uint64) {
	counts := [2]total{{lo: first}, {lo: second}}
	t.function.add(counts)
	t.unit.add(counts)
	t.profile.add(counts)
	t.lesser.add(total{lo: min(first, second)})
	t.greater.add(total{lo: max(first, second)})
}

// alone counts in locations that are in one profile only, 0 being the first.
func (t *locationTally) alone(which int, samples total) {
	t.only[which].add(samples)
	t.greater.add(samples)
}

// join compares two bodies whose callees are numbered alike.
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

// counts returns what [Overlap.Counts] says.
func (t *locationTally) counts() float64 {
	if t.greater == (total{}) {
		return 1
	}
	return t.lesser.shareOf(t.greater)
}
