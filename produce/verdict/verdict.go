// Package verdict says what a profile of a recording is good for, and whether the recording belongs
// to the program. All commands use it, so that they agree.
//
//	set, read, err := samples.Read(in, binary, samples.Options{})
//	err = verdict.Belongs(path, file, binary, set, read)
//	p, made, err := create.Profile(ctx, file, set, create.Options{})
//	if v := verdict.Of(read, made); v.Level == verdict.LevelPoor { ... }
package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/produce/create"
)

// A Level is the usefulness of a profile for compilers.
type Level int

const (
	// LevelGood means that more samples would hardly change what compilers do.
	LevelGood Level = iota
	// LevelThin means that the profile helps, and that one from a better recording would help more.
	LevelThin
	// LevelPoor means that compilers would assume that hot code is cold. The program may become
	// slower.
	LevelPoor
)

// String returns the name of the level, such as "good".
func (l Level) String() string { return [...]string{"good", "thin", "poor"}[l] }

// A Verdict is the usefulness of a profile, with reasons.
type Verdict struct {
	Level Level
	Exact bool // the recording has counts of executions; Level is LevelGood

	// Reasons are messages about what limits the profile, the most serious first. It is empty if
	// Level is LevelGood.
	Reasons []string

	// Longer is the factor by which the recording should have been longer for a good profile. It is
	// 1 if the recording is long enough. It is an estimate, because the share of left-out functions
	// falls more slowly than the number of samples grows.
	Longer float64
}

// Limits between the levels. docs/guide/create.md has the measurements for the first five numbers.
const (
	goodDensity   = 1.0
	poorDensity   = 0.1
	goodLeftOut   = 0.05
	poorLeftOut   = 0.5
	poorUncertain = 0.95

	// GoodBursts is the number of bursts that a good recording by steps has. A burst stops a thread
	// of the program at a random time and simulates its next instructions one by one. With 216 to
	// 350 bursts, profiles had a similarity of 0.87 to 0.97 with the exact profile.
	GoodBursts = 300
	poorBursts = 20

	// Share of the ranges between two branches that contain a jump or return, so that they cannot
	// have run. They show that branches are missing or that another program ran. Correct recordings
	// have less than 1 % of them.
	goodContradicted = 0.05
	poorContradicted = 0.2

	// Share of the instructions of bursts that follow one that steps cannot simulate. With up to
	// 25 %, profiles are as similar to the exact one as without such instructions, and more similar
	// than by cpu-clock. From 60 % on, functions have other shares than by cpu-clock:
	// docs/measured/create.md has the measurements.
	goodUnseen = 0.25
	poorUnseen = 0.5

	goodLost   = 0.1 // share of the records that were lost
	goodMissed = 0.1 // share of the moments in threads that have no sample at all
	goodSpent  = 0.5 // share of the time for steps that was used; less means that the machine was busy
	goodPlaced = 0.5 // share of the samples that have a location in the profile
	atBranches = 0.9 // share of the samples at a recorded branch above which no other code was sampled
)

// Contradiction is the format of the message about ranges between two branches that cannot have
// run. Its argument is the share of these ranges.
const Contradiction = "%s of the ranges between two branches contradict the program: it is not the file that ran, or the branch stacks lack branches (record with perf record -b, or use --no-branches)"

// Of returns the verdict on a profile that package create made from a recording. read is the report
// about reading the samples, the sum for all inputs. made is the report about making the profile.
func Of(read *samples.Report, made *create.Report) Verdict {
	q := made.Quality
	if q.Exact {
		return Verdict{Exact: true, Longer: 1}
	}
	v := Verdict{Longer: 1}
	v.judgePlaces(read, made)
	v.judgeRecording(read, q.Branches)
	few := fmt.Sprintf("%.2g samples for each instruction of the hot functions", q.Density)
	if q.Density < goodDensity && q.Uncertain > poorUncertain { // a small program, hardly sampled
		v.limit(LevelPoor, few)
	} else {
		v.grade(-q.Density, -goodDensity, -poorDensity, few)
	}
	v.grade(q.LeftOut, goodLeftOut, poorLeftOut, percent(q.LeftOut)+" of the samples are in functions with too few to be written")
	if len(v.Reasons) > 0 && q.Uncertain >= 0.01 {
		v.limit(LevelThin, percent(q.Uncertain)+" of them are where counts are estimates of fewer than 10 samples")
	}
	v.Longer = max(v.Longer, goodDensity/max(q.Density, math.SmallestNonzeroFloat32), q.LeftOut/goodLeftOut)
	if v.Level == LevelGood {
		v.Longer = 1
	}
	return v
}

// OfRecording returns a verdict on a recording before a profile is made. read is the report about
// the recording, such as that of a [samples.Survey]. [Of] may return a worse level later, because
// it also knows how well the samples fit the program.
func OfRecording(read *samples.Report) Verdict {
	v := Verdict{Longer: 1}
	v.judgeRecording(read, false)
	return v
}

// judgePlaces lowers the level of the verdict if the samples do not fit the program: for example if
// ranges cannot have run, or if many samples have no location in the profile.
func (v *Verdict) judgePlaces(read *samples.Report, made *create.Report) {
	contradicted := Contradicted(read, made)
	v.grade(contradicted, goodContradicted, poorContradicted, fmt.Sprintf(Contradiction, percent(contradicted)))
	outside := float64(read.Outside) / max(1, float64(read.InBinary))
	v.grade(outside, goodContradicted, never, percent(outside)+" of the samples in the program are in no code of it")
	placed := made.PlacedShare()
	v.grade(-placed, -goodPlaced, never, "only "+percent(placed)+" of the samples have a place in the profile")
}

// judgeRecording lowers the level of the verdict for faults of the recording: an unsuitable event,
// a filter of branches, too few bursts in a recording made by steps, and lost records. branches is
// true if ranges between branches were counted, although the filter left out some branches.
func (v *Verdict) judgeRecording(read *samples.Report, branches bool) {
	if read.Filter != "" && !branches {
		v.limit(LevelThin, "its branch stacks have only some branches ("+read.Filter+"), so code between two branches is not known, and addresses count")
		if float64(read.AtBranch) > atBranches*float64(read.Stacks) {
			v.limit(LevelPoor, "samples were only taken at these branches, so code without them seems not to run: record all branches, with perf record -b")
		}
	}
	if read.Counts == samples.CountsOther {
		v.limit(LevelThin, "the event "+read.Event+" does not count execution")
	}
	if read.Format == samples.PerfScript && read.Event == "" {
		v.limit(LevelThin, "the text names no events, so samples of several may be added up: print it with perf script -F event, or name its only event with --event")
	}
	if read.Bursts > 0 {
		v.judgeSteps(read)
	}
	lost := float64(read.Lost) / max(1, float64(read.Samples)+float64(read.Lost))
	v.grade(lost, goodLost, never, percent(lost)+" of the records were lost")
}

// judgeSteps lowers the level of the verdict if a recording made by steps has too few bursts. In a
// burst, the recorder stops a thread and simulates its next instructions. The reason names the
// causes. On a busy machine there are fewer bursts, but they are as good as others.
func (v *Verdict) judgeSteps(read *samples.Report) {
	n, e, where := read.Bursts, &read.Effort, ""
	if read.Within > 0 { // the program is known
		n, where = read.BurstsWithin, " in the program"
	}
	few := fmt.Sprintf("the recording by steps has %d moments%s of at least %d", n, where, GoodBursts)
	other := read.Bursts - n
	if other > n {
		few += fmt.Sprintf(", and %d in other programs", other)
	}
	moments, budget := max(1, float64(e.Moments)), float64(e.Budget)
	if spent := float64(e.Stopped); spent < goodSpent*budget {
		few += fmt.Sprintf("; it spent %s of the time that it might have, as the program waited for a processor: record on an idle machine", percent(spent/budget))
	}
	v.grade(-float64(n), -GoodBursts, -poorBursts, few)
	v.Longer = max(1, GoodBursts/max(1, float64(n)))
	unseen := (float64(e.Wanted) - float64(e.Simulated)) / max(1, float64(e.Wanted))
	skipped := percent(unseen) + " of the instructions of its bursts follow one that steps cannot simulate, such as one of x87"
	if unseen > poorUnseen {
		skipped += ": record with --event cycles or cpu-clock"
	}
	v.grade(unseen, goodUnseen, poorUnseen, skipped)
	unsampled := float64(e.Unsampled) / moments
	if other > n { // most threads are of shells and other short programs
		unsampled = 0
	}
	v.grade(unsampled, goodMissed, never, fmt.Sprintf("%s of the moments were in threads that could not be stopped: of %d threads, %d have a sample", percent(unsampled), e.Threads, e.Sampled))
}

// never is a limit for grade that no value exceeds.
const never = math.MaxFloat64

// grade lowers the level of the verdict to LevelThin if value exceeds good, and to LevelPoor if
// value exceeds thin. reason is the message for this.
func (v *Verdict) grade(value, good, thin float64, reason string) {
	switch {
	case value > thin:
		v.limit(LevelPoor, reason)
	case value > good:
		v.limit(LevelThin, reason)
	}
}

// limit lowers the level of the verdict to the level to, unless it is lower already, and adds a
// reason. Reasons for a lower level come first.
func (v *Verdict) limit(to Level, reason string) {
	at := len(v.Reasons)
	if to > v.Level {
		v.Level, at = to, 0
	}
	v.Reasons = slices.Insert(v.Reasons, at, reason)
}

// Contradicted returns the share of the ranges between two branches that cannot have run.
func Contradicted(read *samples.Report, made *create.Report) float64 {
	all := float64(made.RangeRuns) + float64(read.Bogus)
	return (float64(made.BackwardRanges) + float64(made.CrossingRanges) + float64(made.Overruns) + float64(read.Bogus)) / max(1, all)
}

// percent returns a share as text, such as "12.50%".
func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }
