package produce

import (
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/create"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/samples"
)

// QualityFacts say how far the samples can be trusted.
type QualityFacts struct {
	Verdict           string  `json:"verdict"`
	Density           float64 `json:"density"`
	UncertainShare    float64 `json:"uncertain_share"`
	LeftOutShare      float64 `json:"left_out_share"`
	ContradictedShare float64 `json:"contradicted_share"`
	StackDepth        float64 `json:"stack_depth"`
	Lost              uint64  `json:"lost"`
	RecordLonger      float64 `json:"record_longer"`

	of create.Quality
}

const exactVerdict = "exact"

// NewQualityFacts says how good the samples of a binary are, and of what the inputs had before.
func NewQualityFacts(r *create.Report, all *samples.Report) *QualityFacts {
	q := r.Quality
	f := &QualityFacts{
		Verdict: q.Verdict().String(), Density: q.Density, UncertainShare: q.Uncertain, LeftOutShare: q.LeftOut,
		Lost: all.Lost, RecordLonger: q.Longer(), of: q,
	}
	if q.Exact {
		f.Verdict = exactVerdict
	}
	if all.Stacks > 0 {
		f.StackDepth = float64(all.Branches) / float64(all.Stacks)
	}
	if ranges := r.RangeRuns + all.Bogus; ranges > 0 {
		f.ContradictedShare = float64(r.BackwardRanges+r.CrossingRanges+r.Overruns+all.Bogus) / float64(ranges)
	}
	return f
}

// refuse returns an error for samples that are too poor for a profile that helps.
func (f *QualityFacts) refuse() error {
	if f.of.Verdict() != create.Poor {
		return nil
	}
	return fmt.Errorf("too few samples for a profile that helps: %s; record %s, or take the profile as it is with --allow-poor", f.why(), f.Longer())
}

// why returns the numbers that lead to a verdict.
func (f *QualityFacts) why() string {
	why := []string{Few(f.Density) + " samples for each instruction of the hot functions"}
	if f.LeftOutShare >= 0.01 {
		why = append(why, human.Percent(f.LeftOutShare)+" of them in functions with too few to be written")
	}
	if f.UncertainShare >= 0.01 {
		why = append(why, human.Percent(f.UncertainShare)+" where counts are estimates of fewer than 10 samples")
	}
	return strings.Join(why, ", ")
}

// Longer says how much longer to record.
func (f *QualityFacts) Longer() string {
	switch {
	case f.RecordLonger < 2:
		return "somewhat longer"
	case f.RecordLonger < 1000:
		return fmt.Sprintf("%.0f times longer", f.RecordLonger)
	}
	return "much longer"
}

// contradicted is the share of ranges beyond which something is wrong with a recording.
const contradicted = 0.05

// warn prints warnings about a profile that was written.
func (f *QualityFacts) warn(e *verb.Env) {
	if v := f.of.Verdict(); v != create.Good {
		e.Warnf("the profile is %v: %s; record %s", v, f.why(), f.Longer())
	}
	if f.ContradictedShare > contradicted {
		e.Warnf("%s of the ranges contradict each other or the program: is it the file that ran?", human.Percent(f.ContradictedShare))
	}
	if f.Lost > 0 {
		e.Warnf("the recording lacks %s, for which perf had no room: record with a lower frequency", human.Counted(f.Lost, "record"))
	}
}

// tell prints the kind of the recording and what it is good for, unless warn prints a warning.
func (f *QualityFacts) tell(e *verb.Env) {
	switch {
	case f.of.Exact:
		e.Warnf("the profile is exact: executions were counted")
	case f.of.Verdict() != create.Good:
	case f.of.Branches:
		e.Warnf("the recording has branch stacks of %.0f: good for hot functions and for branches (%s)", f.StackDepth, f.why())
	default:
		e.Warnf("the recording has addresses without branches: good for which functions are hot, poor for which way branches go (%s); "+
			"branch samples (perf record -b) or callgrind show both", f.why())
	}
}

// Few returns a number with two digits, or without a fraction.
func Few(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2g", n)
	}
	return human.Number(uint64(min(n, 1<<63)))
}
