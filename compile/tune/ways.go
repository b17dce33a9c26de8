package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Way is one of several ways in which a build can use the profile, such as by counts of lines or
// by counts of arcs.
type Way string

// Tune tries ByLines, ByArcs and, if Options.Layout asks for it, WithLayout. While none of them
// makes the program faster, it tries the others. InPart and WithLayout modify the best way so far,
// and [Try.Way] is then a name such as "profile as arcs and layout".
const (
	ByLines    Way = "profile"                // as "afdo exec" uses it by default
	ByArcs     Way = "profile as arcs"        // as counts of the arcs of GCC's control flow graphs
	OwnOptions Way = "profile, plain options" // without the options that "afdo exec" adds for GCC
	InPart     Way = "profile in part"        // without the functions that need more instructions with the profile
	WithLayout Way = "profile and layout"
)

// on returns the name of the way w if it modifies the way base. For example, InPart on ByArcs is
// "profile as arcs in part". Only InPart and WithLayout modify another way. Other ways keep their
// name.
func (w Way) on(base Way) Way {
	if w == InPart || w == WithLayout {
		return base + w[len(ByLines):]
	}
	return w
}

// A Try is a build of the program that uses the profile in one way, and its measures.
type Try struct {
	Way      Way       `json:"way"`
	Exec     []string  `json:"-"` // flags for "afdo exec" to use the profile in this way
	Profile  string    `json:"profile"`
	LeftOut  []string  `json:"left_out,omitempty"` // functions that are not in the profile, see [InPart]
	Folder   string    `json:"-"`                  // copy of the tree with the program
	Verdict  Verdict   `json:"verdict"`
	Measures []Measure `json:"measures"` // the verdict is based on the first one

	Placement Placement `json:"placement,omitempty"` // how the code is laid out, "" if it is not
	Layout    string    `json:"layout,omitempty"`    // prefix of the files for clang and lld, if Placement is ByClang

	Short   bool    `json:"-"` // the program runs for less than 50 ms, so its times are mostly of its start
	Busy    bool    `json:"-"` // the programs had to wait while they were measured, for the processor or for something else
	Outputs Outputs `json:"-"` // whether both programs print the same
}

// An Outputs is the result of comparing what the programs without and with the profile print.
type Outputs string

// These are the results of comparing outputs. Output that is not the same in every run of a
// program, such as one with a time, is not compared.
const (
	SameOutputs      Outputs = "same"
	DifferentOutputs Outputs = "different"
	VaryingOutputs   Outputs = "vary"
)

// ways returns the ways in which compilers can use the profile, in the order in which tune tries
// them. compilers are the names of the build's compilers. Tune tries the first sure ways in any
// case. It tries the other ways only while no way makes the program faster.
func (t *tuning) ways(ctx context.Context, compilers []string) (ways []Way, sure int) {
	gcc := !t.rust && slices.ContainsFunc(compilers, func(name string) bool { return !t.isClang(ctx, t.compilers[name]) })
	ways = []Way{ByLines}
	if gcc {
		ways = append(ways, ByArcs)
	}
	if t.Layout {
		ways = append(ways, WithLayout)
	}
	sure = len(ways)
	if gcc {
		ways = append(ways, OwnOptions)
	}
	if !t.NoCount && lookForValgrind() == nil {
		ways = append(ways, InPart)
	}
	if !t.Layout && !t.rust {
		ways = append(ways, WithLayout)
	}
	return ways, sure
}

// countSteps returns the number of steps that a run of tune has at least: it counts only those ways
// of using the profile that tune tries in any case. compilers are the names of the build's
// compilers.
func (t *tuning) countSteps(ctx context.Context, compilers []string) int {
	steps := len([]string{buildingBase, firstRunning, training, creating, buildingFast})
	ways, sure := t.ways(ctx, compilers)
	for _, way := range ways[:sure] {
		steps += way.steps()
	}
	return steps
}

// steps returns how many steps of tune it takes to build and measure the program in one way.
func (w Way) steps() int {
	switch w {
	case ByLines:
		return 1 // it is built
	case WithLayout:
		return len([]string{buildingForLayout, trainingForLayout, layingOut, buildingPlaced, measuring})
	}
	return 2
}

// expected guesses the compiler that the build will run, from the words of its command, CC and CXX.
// It returns the compiler's name, as [tuning.built] does after the build.
func (t *tuning) expected() []string {
	said := strings.Join(t.Build, " ") + " " + setting(t.env, "CC") + " " + setting(t.env, "CXX")
	for _, word := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" =\"';", r) }) {
		if name := filepath.Base(word); t.compilers[name] != "" {
			return []string{name}
		}
	}
	return []string{"cc"}
}

// tryWays builds and measures the program with the profile in one way after the other, and stores
// the best way in the result. It begins with the build by lines, which exists already. It leaves
// out a way in which the program cannot be built.
func (t *tuning) tryWays(ctx context.Context, r *Result) error {
	ways, sure := t.ways(ctx, r.Compilers)
	for i, way := range ways {
		if i >= sure {
			if r.Verdict == Faster {
				break
			}
			if _, err := t.placer(); way == WithLayout && err != nil {
				continue
			}
			t.doing.Total += way.steps()
			t.doing.Added = fmt.Sprintf("no way is faster yet, so the %s is tried", way.on(r.Way))
		}
		end := t.doing.Number + way.steps()
		try, err := t.buildWay(ctx, way, r)
		if failed := (*CommandError)(nil); (errors.As(err, &failed) || i >= sure && err != nil) && ctx.Err() == nil {
			t.logf("# %v", err)
			t.note("%s fails, so this way is left out; %s has its messages", t.doing.Name, t.in(logName))
			try = nil
		} else if err != nil {
			return err
		}
		if try == nil {
			t.doing.Number = end // it is not measured
			continue
		}
		if try, err = t.measure(ctx, *try, r.Programs, len(ways)); err != nil {
			return err
		}
		r.Tries = append(r.Tries, *try)
		r.Try = slices.MinFunc(r.Tries, compareTries)
	}
	return nil
}

// compareTries compares two tries for sorting, the better one first. A faster program is better
// than one whose verdict is [Undecided], and that one is better than a slower one. Of two faster
// programs, the one that needs less processor time is better. Of two other programs with the same
// verdict, the one that needs fewer instructions is better, because their number does not vary.
func compareTries(a, b Try) int {
	what := "instructions"
	if a.Verdict == Faster {
		what = processorTime
	}
	return cmp.Or(cmp.Compare(rankOf(a.Verdict), rankOf(b.Verdict)), cmp.Compare(a.change(what), b.change(what)))
}

// rankOf returns a number for sorting verdicts: the better the verdict, the smaller the number.
func rankOf(v Verdict) int { return slices.Index([]Verdict{Faster, Undecided, Slower}, v) }

// change returns the relative change of the measure with this name, such as "instructions". It
// returns 0 if the try has no such measure.
func (t *Try) change(what string) float64 {
	for _, m := range t.Measures {
		if m.What == what {
			return m.Change
		}
	}
	return 0
}

// buildWay builds the program in one way. The result is nil if the way is InPart and leaving
// functions out of the profile saves no instructions.
func (t *tuning) buildWay(ctx context.Context, way Way, r *Result) (*Try, error) {
	try := Try{Way: way, Profile: r.Profile, Folder: t.fast}
	switch way {
	case ByLines:
		return &try, nil
	case WithLayout:
		return t.place(ctx, r)
	case InPart:
		return t.leaveOut(ctx, r)
	case ByArcs:
		try.Folder, try.Exec = t.in("arcs"), []string{"--as", "arcs"} // as long as base: the length of the path moves the stack
	default:
		try.Folder, try.Exec = t.in("opts"), []string{"--no-params"}
	}
	err := t.step(fmt.Sprintf("building with %s", way), func() error {
		return t.build(ctx, try.Folder, variant{profile: t.in(profileName), exec: try.Exec})
	})
	return &try, err
}
