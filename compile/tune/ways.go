package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Way is how a build uses the profile.
type Way string

// These are the ways, in the order in which tune tries them. Once a way has made the program
// faster, tune tries no other, except that it compares ByLines with ByArcs.
const (
	WithLayout Way = "profile and layout"     // if Options.Layout asks for it
	ByLines    Way = "profile"                // as "afdo exec" uses it by default
	ByArcs     Way = "profile as arcs"        // as counts of the arcs of GCC's control flow graphs
	OwnOptions Way = "profile, plain options" // without the options that "afdo exec" adds for GCC
)

// ExecFlags returns the flags by which "afdo exec" uses the profile in this way.
func (w Way) ExecFlags() []string {
	switch w {
	case ByArcs:
		return []string{"--as", "arcs"}
	case OwnOptions:
		return []string{"--no-params"}
	}
	return nil
}

// A Try is what one way of using the profile has brought.
type Try struct {
	Way      Way
	Folder   string // copy of the tree with the program
	Verdict  Verdict
	Measures []Measure // the verdict is based on the first one

	Short   bool    // the program runs for less than 50 ms, so its times are mostly of its start
	Busy    bool    // the programs had to wait, for the processor or for something else
	Outputs Outputs // whether both programs print the same
}

// Outputs is the result of comparing what the programs with and without the profile print.
type Outputs string

// The results. Output that is not the same in every run of a program, such as one with a time, is
// not compared.
const (
	SameOutputs      Outputs = "same"
	DifferentOutputs Outputs = "different"
	VaryingOutputs   Outputs = "vary"
)

// ways returns the ways that suit the compilers of the build.
func (t *tuning) ways(r *Result) []Way {
	var ways []Way
	if t.Layout {
		ways = append(ways, WithLayout)
	}
	ways = append(ways, ByLines)
	if !t.rust && slices.ContainsFunc(r.Compilers, func(name string) bool { return !isClang(t.compilers[name]) }) {
		ways = append(ways, ByArcs, OwnOptions)
	}
	return ways
}

// tryWays builds and measures the program in one way after the other, and keeps the best way. It
// stops after a way that makes the program faster, except that it still tries ByArcs if that is the
// next way. The program is already built by lines. A way that cannot be built is left out.
func (t *tuning) tryWays(ctx context.Context, r *Result) error {
	ways := t.ways(r)
	for i, way := range ways {
		if i > 0 {
			if r.Try.Verdict == Faster && way != ByArcs {
				break
			}
			switch way {
			case ByArcs: // counted before
			case ByLines:
				t.doing.Total++ // it is built
			default:
				t.doing.Total += stepsOfWay
			}
		}
		copied, err := t.buildWay(ctx, way, r)
		if failed := (*CommandError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
			t.note("the build with the %s fails, so this way is left out; %s has its messages", way, t.in(logName))
			t.doing.Number++ // it is not measured
			continue
		}
		if err != nil {
			return err
		}
		try, err := t.measure(ctx, Try{Way: way, Folder: copied}, r.Programs, len(ways))
		if err != nil {
			return err
		}
		r.Tries = append(r.Tries, *try)
		r.Try = slices.MinFunc(r.Tries, compareTries)
	}
	return nil
}

// stepsOfWay is the number of steps for one more way of using the profile: building and measuring.
const stepsOfWay = 2

// compareTries sorts faster programs before those that are not decided, and slower ones last. Of
// two faster programs, the first measure decides.
func compareTries(a, b Try) int {
	if a.Verdict == Faster && b.Verdict == Faster && len(a.Measures) > 0 && len(b.Measures) > 0 {
		return cmp.Compare(a.Measures[0].Change, b.Measures[0].Change)
	}
	return rankOf(a.Verdict) - rankOf(b.Verdict)
}

func rankOf(v Verdict) int { return slices.Index([]Verdict{Faster, Undecided, Slower}, v) }

// buildWay builds the program in one way and returns the copy of the tree.
func (t *tuning) buildWay(ctx context.Context, way Way, r *Result) (copied string, err error) {
	switch way {
	case ByLines:
		return t.fast, nil
	case WithLayout:
		return t.place(ctx, r)
	}
	copied = t.in(map[Way]string{ByArcs: "arcs", OwnOptions: "opts"}[way]) // as long as base: the length of the path moves the stack
	name := fmt.Sprintf("building with %s", way)
	err = t.step(name, func() error {
		return t.build(ctx, copied, variant{profile: t.in(profileName), exec: way.ExecFlags()})
	})
	return copied, err
}
