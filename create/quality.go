package create

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/samples"
)

// A Quality says how far samples can be trusted.
type Quality struct {
	Exact bool // they are counts of executions, such as callgrind's, of which nothing below is told

	// Branches reports that the samples have branch stacks. Samples without them show well which
	// functions are hot, and poorly which way branches go, however many they are: docs/create.md
	// has measurements.
	Branches bool

	// Density is the number of samples for each instruction of the hot functions. Hot are the
	// hottest functions that together have nine of ten samples. A sample with a branch stack counts
	// for each instruction that ran between its branches. An instruction is taken to be 4 bytes
	// long.
	Density float64

	// Uncertain is the share of the weight that lies where there are fewer samples than 10, so that
	// counts are mere estimates: chance makes them a third larger or smaller.
	Uncertain float64

	// LeftOut is the share of the weight in functions that are not over the threshold. Compilers
	// take a function without a profile for one that hardly runs.
	LeftOut float64
}

const (
	hotShare         = 0.9
	instructionBytes = 4 // of Arm; x86's are as long on average
	certain          = 10
)

// judge finds out how good the samples of the profile are.
func (c *creation) judge(set *samples.Set) Quality {
	q := Quality{Exact: set.Exact, Branches: c.report.Ranges}
	sampled := slices.DeleteFunc(slices.Clone(c.functions), func(f *function) bool { return f.weight == 0 })
	slices.SortFunc(sampled, func(a, b *function) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.symbol.Low, b.symbol.Low))
	})
	var all, uncertain float64
	for _, f := range sampled {
		all += float64(f.weight)
		uncertain += f.uncertain()
	}
	if all == 0 {
		return q
	}
	q.Uncertain, q.LeftOut = uncertain/all, float64(c.report.Below)/all
	var hot, bytes float64
	for _, f := range sampled {
		if hot >= hotShare*all {
			break
		}
		hot += float64(f.weight)
		bytes += float64(f.symbol.High - f.symbol.Low)
	}
	q.Density = hot / bytes
	if !c.report.Ranges {
		q.Density *= instructionBytes // an instruction is sampled at one of its bytes
	}
	return q
}

// uncertain returns the weight of the function where there are few samples.
func (f *function) uncertain() float64 {
	few := uint64(0)
	for _, s := range f.stretches() {
		if s.count < certain {
			few = saturating.Add(few, saturating.Mul(s.count, s.high-s.low))
		}
	}
	return float64(few)
}

// A Verdict says what a profile of samples is good for.
type Verdict int

const (
	// Good: more samples would hardly change what compilers do.
	Good Verdict = iota
	// Thin: it helps, and a longer recording would help more.
	Thin
	// Poor: compilers would take hot code for cold, and the program may become slower.
	Poor
)

// String returns the verdict in a word.
func (v Verdict) String() string { return [...]string{"good", "thin", "poor"}[v] }

// Limits between the verdicts. docs/create.md has the measurements for these numbers.
const (
	goodDensity   = 1.0
	poorDensity   = 0.1
	goodLeftOut   = 0.05
	poorLeftOut   = 0.5
	poorUncertain = 0.95
)

// Verdict judges.
func (q *Quality) Verdict() Verdict {
	switch {
	case q.Exact:
		return Good
	case q.Density < poorDensity || q.LeftOut > poorLeftOut:
		return Poor
	case q.Density < goodDensity && q.Uncertain > poorUncertain: // a small program, hardly sampled
		return Poor
	case q.Density < goodDensity || q.LeftOut > goodLeftOut:
		return Thin
	}
	return Good
}

// Longer returns how many times longer a recording would have to be for a good profile, 1 if it is
// long enough. It is a guess: how much is left out does not fall as fast as the number of samples
// grows.
func (q *Quality) Longer() float64 {
	if q.Verdict() == Good {
		return 1
	}
	longer := goodDensity / max(q.Density, math.SmallestNonzeroFloat32)
	return max(longer, q.LeftOut/goodLeftOut)
}
