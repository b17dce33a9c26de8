// Package verdict says what a profile of a recording is good for, and whether the recording belongs
// to the program. Commands and libraries ask it alone, so that they agree.
//
//	set, read, err := samples.Read(in, binary, samples.Options{})
//	err = verdict.Belongs(path, file, binary, set, read)
//	p, made, err := create.Profile(ctx, file, set, create.Options{})
//	if v := verdict.Of(read, made); v.Level == verdict.LevelPoor { ... }
package verdict

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/produce/create"
)

// A Level says what a profile is good for.
type Level int

const (
	// LevelGood: more samples would hardly change what compilers do.
	LevelGood Level = iota
	// LevelThin: it helps, and a better recording would help more.
	LevelThin
	// LevelPoor: compilers would take hot code for cold, and the program may become slower.
	LevelPoor
)

// String returns the level in a word.
func (l Level) String() string { return [...]string{"good", "thin", "poor"}[l] }

// A Verdict is what a profile is good for, and why.
type Verdict struct {
	Level Level
	Exact bool // the recording has counts of executions; Level is LevelGood

	// Reasons say what limits the profile, the gravest first. It is empty if Level is LevelGood.
	Reasons []string

	// Longer is how many times longer a recording would have to be for a good profile. It is 1 if
	// the recording is long enough. It is a guess: how much is left out does not fall as fast as
	// the number of samples grows.
	Longer float64
}

// Limits between the levels. docs/guide/create.md has the measurements for the first five numbers.
const (
	goodDensity   = 1.0
	poorDensity   = 0.1
	goodLeftOut   = 0.05
	poorLeftOut   = 0.5
	poorUncertain = 0.95

	// GoodBursts is the number of moments from which a recording by steps is good. With 216 to 350,
	// profiles had a similarity of 0.87 to 0.97 with the exact profile.
	GoodBursts = 300
	poorBursts = 20

	// A range that runs across a jump shows that branches are missing, or that another program ran.
	// Right recordings have less than 1 % of such ranges.
	goodContradicted = 0.05
	poorContradicted = 0.2

	goodLost   = 0.1 // share of the records that the recorder dropped
	goodPlaced = 0.5 // share of the samples that found a location
	atBranches = 0.9 // share of samples at a recorded branch that shows that no other moment was sampled
)

// Contradiction is the message about ranges that cannot have run, with their share.
const Contradiction = "%s of the ranges between two branches contradict the program: it is not the file that ran, or the branch stacks lack branches (record with perf record -b, or use --no-branches)"

// Of judges the profile that package create made of a recording. read is the sum of the reports of
// all inputs.
func Of(read *samples.Report, made *create.Report) Verdict {
	q := made.Quality
	if q.Exact {
		return Verdict{Exact: true, Longer: 1}
	}
	v := Verdict{Longer: 1}
	v.judgeRecording(read, made)
	few := fmt.Sprintf("%.2g", q.Density) + " samples for each instruction of the hot functions"
	switch {
	case q.Density < poorDensity:
		v.limit(LevelPoor, few)
	case q.Density < goodDensity && q.Uncertain > poorUncertain: // a small program, hardly sampled
		v.limit(LevelPoor, few)
	case q.Density < goodDensity:
		v.limit(LevelThin, few)
	}
	switch left := percent(q.LeftOut) + " of the samples are in functions with too few to be written"; {
	case q.LeftOut > poorLeftOut:
		v.limit(LevelPoor, left)
	case q.LeftOut > goodLeftOut:
		v.limit(LevelThin, left)
	}
	if len(v.Reasons) > 0 && q.Uncertain >= 0.01 {
		v.limit(LevelThin, percent(q.Uncertain)+" of them are where counts are estimates of fewer than 10 samples")
	}
	v.Longer = max(v.Longer, goodDensity/max(q.Density, math.SmallestNonzeroFloat32), q.LeftOut/goodLeftOut)
	if v.Level == LevelGood {
		v.Longer = 1
	}
	return v
}

// judgeRecording judges what does not depend on the number of samples, and the number of moments.
func (v *Verdict) judgeRecording(read *samples.Report, made *create.Report) {
	if s := Contradicted(read, made); s > poorContradicted {
		v.limit(LevelPoor, fmt.Sprintf(Contradiction, percent(s)))
	} else if s > goodContradicted {
		v.limit(LevelThin, percent(s)+" of the ranges between two branches contradict the program")
	}
	if read.Filter != "" && !made.Quality.Branches {
		v.limit(LevelThin, "its branch stacks have only some branches ("+read.Filter+"), so code between two branches is not known, and addresses count")
		if float64(read.AtBranch) > atBranches*float64(read.Stacks) {
			v.limit(LevelPoor, "samples were only taken at these branches, so code without them seems not to run: record all branches, with perf record -b")
		}
	}
	if read.Counts == samples.CountsOther {
		v.limit(LevelThin, "the event "+read.Event+" does not count execution")
	}
	if n := read.Bursts; n > 0 && n < poorBursts {
		v.limit(LevelPoor, fmt.Sprintf("the recording by steps has %d moments of at least %d", n, GoodBursts))
	} else if n > 0 && n < GoodBursts {
		v.limit(LevelThin, fmt.Sprintf("the recording by steps has %d moments of at least %d", n, GoodBursts))
		v.Longer = GoodBursts / float64(n)
	}
	if all := float64(read.Samples) + float64(read.Lost); float64(read.Lost) > goodLost*all {
		v.limit(LevelThin, percent(float64(read.Lost)/all)+" of the records were lost")
	}
	if share := float64(read.Outside) / max(1, float64(read.InBinary)); share > goodContradicted {
		v.limit(LevelThin, percent(share)+" of the samples in the program are in no code of it")
	}
	if share := made.PlacedShare(); share < goodPlaced {
		v.limit(LevelThin, "only "+percent(share)+" of the samples have a place in the profile")
	}
}

// limit lowers the level, and adds a reason.
func (v *Verdict) limit(to Level, reason string) {
	if to > v.Level {
		v.Level = to
		v.Reasons = append([]string{reason}, v.Reasons...)
		return
	}
	v.Reasons = append(v.Reasons, reason)
}

// Contradicted returns the share of the ranges between two branches that cannot have run.
func Contradicted(read *samples.Report, made *create.Report) float64 {
	all := float64(made.RangeRuns) + float64(read.Bogus)
	return (float64(made.BackwardRanges) + float64(made.CrossingRanges) + float64(made.Overruns) + float64(read.Bogus)) / max(1, all)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }
