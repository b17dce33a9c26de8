package produce

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/verdict"
)

// CreateFacts is the JSON report of "afdo create".
type CreateFacts struct {
	Binary    string        `json:"binary"`
	BuildID   string        `json:"build_id,omitempty"`
	DebugFile string        `json:"debug_file,omitempty"`
	Inputs    []CreateInput `json:"inputs"`

	Samples     uint64 `json:"samples"`
	InBinary    uint64 `json:"in_binary"`
	BogusRanges uint64 `json:"bogus_ranges"`

	*ProfileFacts // nil with --to samples

	Objects []samples.Object `json:"objects"`

	all        samples.Report // facts about the samples of all inputs
	made       *create.Report // facts about the profile, nil with --to samples
	noBranches bool           // --no-branches was given
}

// A CreateInput describes the samples of one input.
type CreateInput struct {
	File         string             `json:"file"`
	Format       string             `json:"format"`
	Event        string             `json:"event,omitempty"`
	Samples      uint64             `json:"samples"`
	InBinary     uint64             `json:"in_binary"`
	BranchStacks uint64             `json:"branch_stacks"`
	BranchFilter string             `json:"branch_filter,omitempty"`
	CallStacks   uint64             `json:"call_stacks"`
	BogusRanges  uint64             `json:"bogus_ranges"`
	OtherEvents  uint64             `json:"other_events"`
	Events       []samples.EventUse `json:"events,omitempty"`
}

// ProfileFacts are statistics about a new profile and the samples from which it was made.
type ProfileFacts struct {
	Counted           string   `json:"counted"`
	Weight            uint64   `json:"weight"`
	Placed            uint64   `json:"placed"`
	Unplaced          uint64   `json:"unplaced"`
	WithoutLines      uint64   `json:"without_lines"`
	WithoutSymbol     uint64   `json:"without_symbol"`
	BelowMinimum      uint64   `json:"below_minimum"`
	PlacedShare       float64  `json:"placed_share"`
	WithoutLinesShare float64  `json:"without_lines_share"`
	EstimatedHeads    bool     `json:"estimated_heads"`
	EstimatedCalls    bool     `json:"estimated_calls"`
	Functions         int      `json:"functions"`
	FunctionsLeftOut  int      `json:"functions_left_out"`
	MissingDebugFiles []string `json:"missing_debug_files"`
	InlinedInPart     []string `json:"inlined_in_part"`

	Quality *QualityFacts `json:"quality"`
	Sources *sourcesFacts `json:"sources,omitempty"` // nil if the format cannot store hashes of source lines
}

// maxObjects is how many other programs and libraries of a recording are listed.
const maxObjects = 10

func newCreateFacts(c *creating, file *symbolize.File) *CreateFacts {
	f := &CreateFacts{
		Binary: c.binary, BuildID: hex.EncodeToString(file.BuildID()),
		Inputs: []CreateInput{}, Objects: []samples.Object{}, noBranches: c.noBranches,
	}
	if c.to.samples == nil {
		f.DebugFile = file.DebugPath()
	}
	return f
}

// Read adds the facts about the recording at a path. r reports on reading its samples.
func (f *CreateFacts) Read(path string, r *samples.Report) {
	f.Inputs = append(f.Inputs, CreateInput{
		File: path, Format: r.Format.String(), Event: r.Event, Samples: r.Samples, InBinary: r.InBinary,
		BranchStacks: r.Stacks, BranchFilter: r.Filter, CallStacks: r.Chains, BogusRanges: r.Bogus, OtherEvents: r.Skipped,
		Events: r.Events,
	})
	f.all.Add(r)
	f.Samples, f.InBinary, f.BogusRanges = f.all.Samples, f.all.InBinary, f.all.Bogus
	f.Objects = slices.DeleteFunc(append(f.Objects[:0], f.all.Objects...), func(o samples.Object) bool { return o.Ours })
	f.Objects = f.Objects[:min(len(f.Objects), maxObjects)]
}

const countedRanges = "ranges"

// setProfile sets the facts about the profile that was made. r is the report of making it.
func (f *CreateFacts) setProfile(r *create.Report) {
	f.BogusRanges += r.BackwardRanges + r.CrossingRanges
	f.made = r
	f.ProfileFacts = &ProfileFacts{
		Counted: "addresses", Weight: r.Weight, Placed: r.Placed, Unplaced: r.Unplaced, WithoutLines: r.NoLines,
		WithoutSymbol: r.NoSymbol, BelowMinimum: r.Below, PlacedShare: r.PlacedShare(), EstimatedHeads: r.Estimated, EstimatedCalls: r.Stacks,
		Functions: r.Functions, FunctionsLeftOut: r.Dropped, MissingDebugFiles: append([]string{}, r.Missing...), InlinedInPart: append([]string{}, r.Stubs...),
		WithoutLinesShare: human.Share(r.NoLines, r.Weight), Quality: NewQualityFacts(r, &f.all),
	}
	if r.Ranges {
		f.Counted = countedRanges
	}
}

// lowShare is the share of samples that got a place in the profile. If it is smaller, a warning is
// printed.
const lowShare = 0.9

// warn prints warnings about what may be wrong with the profile.
func (f *CreateFacts) warn(e *verb.Env) {
	if f.ProfileFacts == nil {
		return
	}
	if len(f.MissingDebugFiles) > 0 {
		e.Warnf("split debug info is missing: %s", some(f.MissingDebugFiles, 1))
	}
	if n := f.all.Damaged; n > 0 {
		e.Warnf("%s of the samples of SPE are damaged, and left out: %s", human.Percentage(n, f.all.Samples), human.Number(n))
	}
	f.warnOfBranches(e)
	f.Quality.warn(e)
	f.Sources.warn(e)
	if f.made.NoDiscriminators {
		e.Warnf("%s has no discriminators, so blocks of one line are taken together, and clang finds few of their counts: build it with -fdebug-info-for-profiling", human.Name(f.Binary))
	}
	if f.PlacedShare >= lowShare {
		return
	}
	var why []string
	because := func(weight uint64, what string) {
		if s := human.Share(weight, f.Weight); s >= 0.01 {
			why = append(why, human.Percent(s)+" "+what)
		}
	}
	because(f.WithoutSymbol, "lie outside of the symbol table's functions")
	without := "are in code without lines"
	if f.made.Hottest != "" {
		without += " such as " + human.Name(f.made.Hottest)
	}
	because(f.WithoutLines, without)
	because(f.Unplaced-f.made.Undeclared, "are in lines that have no place in a profile")
	undeclared := "are in functions whose declaration has no line"
	if f.made.LineTables {
		undeclared += ", which clang's -g1 leaves out without -fdebug-info-for-profiling"
	}
	because(f.made.Undeclared, undeclared)
	e.Warnf("only %s of the samples have a place in the profile: %s", human.Percent(f.PlacedShare), strings.Join(why, ", "))
}

// some returns a list of names as text, with only the first most of them, for example "a, b and 3
// more".
func some(names []string, most int) string {
	text := human.Name(strings.Join(names[:min(most, len(names))], ", "))
	if n := len(names) - most; n > 0 {
		text += " and " + human.Number(n) + " more"
	}
	return text
}

// warnOfBranches prints a warning if the recording has branches, but none in the program. Then the
// text of perf script may have offsets in place of addresses.
func (f *CreateFacts) warnOfBranches(e *verb.Env) {
	if f.Counted == countedRanges || f.noBranches {
		return
	}
	for _, in := range f.Inputs {
		if in.BranchStacks == 0 || in.BranchFilter != "" {
			continue
		}
		hint := ""
		if in.Format == samples.PerfScript.String() {
			hint = "; if it did branch, print addresses, with -F brstack and not brstackoff"
		}
		e.Warnf("%s: of %s none has branches of %s, so sampled addresses are counted%s",
			human.Name(in.File), human.Counted(in.BranchStacks, "branch stack"), human.Name(f.Binary), hint)
	}
}

// tell prints a summary of the profile.
func (f *CreateFacts) tell(e *verb.Env, c *creating) {
	if f.ProfileFacts == nil {
		e.Warnf("%s, %s in %s", human.Counted(f.Samples, "sample"), human.Number(f.InBinary), human.Name(f.Binary))
		return
	}
	heads := ""
	switch {
	case f.EstimatedCalls:
		heads = "; no branches, calls are of call stacks, and their counts estimates"
	case f.EstimatedHeads:
		heads = "; no branches, head counts are estimates"
	}
	bogus := ""
	if f.BogusRanges > 0 {
		bogus = "; " + human.Counted(f.BogusRanges, "bogus range")
	}
	e.Warnf("%s, %s in %s, %s of them placed; %s written, %s left out%s%s%s",
		human.Counted(f.Samples, "sample"), human.Number(max(f.InBinary, f.all.Within)), human.Name(f.Binary), human.Percent(f.PlacedShare),
		human.Counted(f.Functions, "function"), human.Number(f.FunctionsLeftOut), bogus, heads, readers(c.out.Out.Format.Name))
	if len(f.InlinedInPart) > 0 {
		e.Warnf("inlined only in part at some places, which are calls in the profile: %s", some(f.InlinedInPart, 3))
	}
	f.Quality.tell(e)
}

// readers returns a hint to the user for a profile of version 4, which no released compiler reads.
// It returns "" for other formats.
func readers(format string) string {
	if format != "v4" && format != "v4c" {
		return ""
	}
	return "; no GCC reads " + format + " itself yet: compile behind afdo exec, or use --to v2 (GCC 12 to 15) or --to v3 (GCC 16)"
}

// QualityFacts describe how reliable the counts of a profile are, in the form of their JSON.
type QualityFacts struct {
	Verdict           string          `json:"verdict"`
	Density           float64         `json:"density"`
	UncertainShare    float64         `json:"uncertain_share"`
	LeftOutShare      float64         `json:"left_out_share"`
	ContradictedShare float64         `json:"contradicted_share"`
	StackDepth        float64         `json:"stack_depth"`
	Lost              uint64          `json:"lost"`
	Moments           uint64          `json:"moments,omitempty"`
	MomentsElsewhere  uint64          `json:"moments_elsewhere,omitempty"`
	Effort            *samples.Effort `json:"effort,omitempty"`
	Reasons           []string        `json:"reasons"`
	RecordLonger      float64         `json:"record_longer"`

	of       verdict.Verdict
	branches bool
}

const exactVerdict = "exact"

// NewQualityFacts returns a verdict on how reliable a profile is. r reports on making the profile,
// and all on the samples of all inputs.
func NewQualityFacts(r *create.Report, all *samples.Report) *QualityFacts {
	q, v := r.Quality, verdict.Of(all, r)
	f := &QualityFacts{
		Verdict: v.Level.String(), Density: q.Density, UncertainShare: q.Uncertain, LeftOutShare: q.LeftOut,
		ContradictedShare: verdict.Contradicted(all, r), Lost: all.Lost, Moments: all.BurstsWithin, MomentsElsewhere: all.Bursts - all.BurstsWithin, Reasons: append([]string{}, v.Reasons...),
		RecordLonger: v.Longer, of: v, branches: q.Branches,
	}
	if v.Exact {
		f.Verdict = exactVerdict
	}
	if all.Effort.Moments > 0 {
		f.Effort = &all.Effort
	}
	if all.Stacks > 0 {
		f.StackDepth = float64(all.Branches) / float64(all.Stacks)
	}
	return f
}

// refuse returns an error if the verdict says that the samples are too poor for a profile that
// helps.
func (f *QualityFacts) refuse() error {
	if f.of.Level != verdict.LevelPoor {
		return nil
	}
	what := "the profile would not help"
	if f.RecordLonger > 1 {
		what = "too few samples for a profile that helps"
	}
	return fmt.Errorf("%s: %s%s, or take the profile as it is with --allow-poor", what, strings.Join(f.Reasons, "; "), f.advice())
}

// advice returns the hint to record longer, or "" if that would not help.
func (f *QualityFacts) advice() string {
	if f.RecordLonger == 1 {
		return ""
	}
	return "; record " + f.Longer()
}

// why returns, in words, the figures for which the verdict is "good".
func (f *QualityFacts) why() string {
	why := Few(f.Density) + " samples for each instruction of the hot functions"
	if f.UncertainShare >= 0.01 {
		why += ", " + human.Percent(f.UncertainShare) + " where counts are estimates of fewer than 10 samples"
	}
	return why
}

// Longer returns, in words, how much longer the user should record for a good profile.
func (f *QualityFacts) Longer() string {
	switch {
	case f.RecordLonger < 2:
		return "somewhat longer"
	case f.RecordLonger < 1000:
		return fmt.Sprintf("%.0f times longer", f.RecordLonger)
	}
	return "much longer"
}

// warn prints warnings about the quality of a profile that was written.
func (f *QualityFacts) warn(e *verb.Env) {
	if f.of.Level != verdict.LevelGood {
		e.Warnf("the profile is %v: %s%s", f.of.Level, strings.Join(f.Reasons, "; "), f.advice())
	}
	if f.Lost > 0 {
		e.Warnf("the recording lacks %s, for which the recorder had no room: record with a lower frequency", human.Counted(f.Lost, "record"))
	}
}

// tell prints, for a good recording, whether it has branches and what its profile is good for.
func (f *QualityFacts) tell(e *verb.Env) {
	switch {
	case f.of.Exact:
		e.Warnf("the profile is exact: executions were counted")
	case f.of.Level != verdict.LevelGood:
	case f.branches:
		e.Warnf("the recording has branch stacks of %.0f: good for hot functions and for branches (%s)", f.StackDepth, f.why())
	default:
		e.Warnf("the recording has addresses without branches: good for which functions are hot, poor for which way branches go (%s); "+
			"branch samples (perf record -b) or callgrind show both", f.why())
	}
}

// Few returns a number in decimal: with two digits if it is below 10, or else without a fraction.
func Few(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2g", n)
	}
	return human.Number(uint64(min(n, 1<<63)))
}
