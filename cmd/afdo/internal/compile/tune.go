package compile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/shell"
)

const tuneHelp = `Build a program, train it, build it again with a profile, and measure what that brings:

  afdo tune --train './prog train.txt' --measure './prog other.txt' -- make -j2
  afdo tune --train 'build/prog train.txt' --measure 'build/prog other.txt' -- \
    sh -c 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'

All of it happens in copies of the source tree below --folder, and the tree stays as it is
but for that folder, which git ignores. All commands run in the copies, where a path of
the tree stands for the copy's. The build may be any command that finds its compilers
through PATH, CC, CXX or FC: scripts in front of PATH stand in for them, add -g, and run
them behind "afdo exec" the second time. ccache and CMake's launchers are left out.

The training runs under the best recorder: branch stacks if the processor records them,
else steps, which stop the program for 5% of the time to follow its branches. A training
that is too short for steps runs up to 20 times. If that is still too short, it runs under
valgrind's callgrind, which is slow but exact. Samples of time make a poor profile, and
are the last choice.
--train may be given several times, and so may --measure; without --measure, the training
is measured, which flatters the profile. Train with other input than you measure with.

Then both programs run in turn, --rounds times each, or 10 to 100 times, as many as fit
in 20 seconds. The verdict is about the processor time, user and system: faster or slower
if the 95% confidence interval of the change (Hodges and Lehmann, from the signed ranks of
the rounds) is on one side of 0, and otherwise not decided. Instructions are counted with
perf or callgrind, if these are there. Times depend on what else the machine does;
instructions do not, but they are not time.

A build folder that CMake or Meson has configured is configured again in the copies, with
the same options. Cargo's programs take a profile if rustc is a nightly, or if you set
--env RUSTC_BOOTSTRAP=1. If no compile used the profile, tune fails and says why.

--layout also decides where the code is placed. It records the program that was built
with the profile once more, and measures it with the layout. clang 17 or newer and lld
take a list of blocks and functions ("afdo layout"). Programs of other compilers are
rewritten by llvm-bolt. Under valgrind, taken jumps, misses of an instruction cache of
32 KiB and used pages of code are counted, too.

Commands are printed as they run, for your own scripts. Finished steps are reused if the
commands and the tree are unchanged, unless --again is given.

JSON has these members, with a "change" of -0.1 for 10% less and "low" and "high" as the
bounds of its interval, which are missing if there are too few rounds:

  {"verdict": "faster" | "slower" | "not decided", "measures": [{"what", "unit",
    "before", "after", "change", "low", "high", "rounds"}, ...], "profile",
    "programs": [...], "recorder", "recorder_reason", "outputs_differ", "folder",
    "compiles", "compiles_with_profile", "placement": "clang" | "bolt", "layout"}`

// tuning is the flags of tune.
type tuning struct {
	tune.Options
	json bool
}

// tuneRecorders are the words of --recorder.
var tuneRecorders = []verb.Choice[tune.Recorder]{
	{Word: "best", Meaning: tune.Best}, {Word: "branches", Meaning: tune.Branches}, {Word: "steps", Meaning: tune.Steps}, {Word: "callgrind", Meaning: tune.Callgrind}, {Word: "cpu-clock", Meaning: tune.Clock},
}

func NewTune(e *verb.Env) *cobra.Command {
	var t tuning
	cmd := &cobra.Command{
		Use:   "tune --train COMMAND [--measure COMMAND] -- BUILD ARGS...",
		Short: "Build, train, build again and measure: is the program faster?",
		Long:  tuneHelp,
		Args: func(_ *cobra.Command, args []string) error {
			t.Build = args
			return t.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(cmd.Context(), e, &t) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the build's flags are its own
	f.StringArrayVar(&t.Train, "train", nil, "command for a shell that runs the program as it is used")
	f.StringArrayVar(&t.Measure, "measure", nil, "command for a shell that is measured; those of --train if not given")
	f.StringVar(&t.Tree, "tree", ".", "source tree")
	f.StringVar(&t.Folder, "folder", "afdo-tune", "folder for everything that is made")
	f.StringVarP(&t.Profile, "output", "o", "", "file for the profile; tuned.afdo in the folder if not given")
	f.StringArrayVar(&t.Env, "env", nil, "NAME=VALUE for the environment of all commands")
	f.IntVar(&t.Rounds, "rounds", 0, "how often both programs are measured; 10 to 100 if not given, as 20 s allow")
	f.BoolVar(&t.NoCount, "no-count", false, "do not count instructions, which takes long under callgrind")
	f.BoolVar(&t.Layout, "layout", false, "lay out the code of the program, too")
	f.DurationVar(&t.Limit, "time-limit", 0, "fail if it takes longer than this, such as 30m")
	verb.AddChoice(cmd, &t.Recorder, "recorder", "", "what to train under", tuneRecorders...)
	f.BoolVar(&t.Again, "again", false, "do all steps again")
	f.BoolVar(&t.json, "json", false, "print the result as JSON; commands go to standard error")
	return cmd
}

// A stepLine shows on standard error what tune is doing. Its Write is for messages, which may go to
// the same terminal.
type stepLine struct {
	err, out io.Writer
	line     *progress.Line
}

func (s *stepLine) begin(step string) {
	s.line.Stop()
	s.line = progress.Start(s.err)
	s.line.Say("%s", step)
}

func (s *stepLine) Write(text []byte) (int, error) {
	s.line.Hide()
	return s.out.Write(text)
}

// check refuses what makes no sense.
func (t *tuning) check() error {
	switch {
	case len(t.Build) == 0:
		return cli.Missing("argument BUILD")
	case len(t.Train) == 0:
		return cli.Missing("flag --train")
	case t.Rounds < 0:
		return cli.Usagef("--rounds %d measures nothing", t.Rounds)
	case t.Limit < 0:
		return cli.Usagef("--time-limit %v leaves no time", t.Limit)
	}
	for _, setting := range t.Env {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return cli.Usagef("--env is NAME=VALUE, not %q", setting)
		}
	}
	if len(t.Measure) == 0 {
		t.Measure = t.Train
	}
	return nil
}

// runTune runs tune and prints the result.
func runTune(ctx context.Context, e *verb.Env, t *tuning) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	var err error
	if t.Afdo, err = os.Executable(); err != nil {
		return err
	}
	shown := stepLine{err: e.Err, out: cli.Printer{W: e.Out}}
	if t.json {
		shown.out = cli.Printer{W: e.Err}
	}
	t.Out, t.Doing = &shown, shown.begin
	r, err := tune.Run(ctx, t.Options)
	shown.line.Stop()
	var failed *tune.CommandError
	switch {
	case errors.Is(err, tune.ErrStopped):
		return fmt.Errorf("%w; run the same command again to go on: finished steps are reused", err)
	case errors.As(err, &failed):
		return fmt.Errorf("%w\nafdo: fix this and run the same command again: finished steps are reused. Commands run in a copy of the tree, so files outside of it need an absolute path", err)
	}
	if err != nil {
		return err
	}
	if r.Differs {
		e.Warnf("the two programs print different output: compare what the commands print in the folders base and fast; one program may be broken")
	}
	if t.json {
		return output.JSON(e.Out, newTuneFacts(t, r))
	}
	return writeTuned(e.Out, t, r)
}

// TuneFacts is the JSON report of "afdo tune".
type TuneFacts struct {
	Verdict  tune.Verdict  `json:"verdict"`
	Measures []TuneMeasure `json:"measures"`
	Profile  string        `json:"profile"`
	Programs []string      `json:"programs"`
	Recorder tune.Recorder `json:"recorder"`
	Why      string        `json:"recorder_reason"`
	Differs  bool          `json:"outputs_differ"`
	Folder   string        `json:"folder"`
	Compiles int           `json:"compiles"`
	Used     int           `json:"compiles_with_profile"`

	Placement tune.Placement `json:"placement,omitempty"`
	Layout    string         `json:"layout,omitempty"`
}

type TuneMeasure struct {
	What   string   `json:"what"`
	Unit   string   `json:"unit"`
	Before float64  `json:"before"`
	After  float64  `json:"after"`
	Change float64  `json:"change"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Rounds int      `json:"rounds"`
}

func newTuneFacts(t *tuning, r *tune.Result) *TuneFacts {
	f := &TuneFacts{
		Verdict: r.Verdict, Profile: r.Profile, Programs: r.Programs, Recorder: r.Recorder, Why: r.Why, Differs: r.Differs, Folder: t.Folder,
		Compiles: r.Compiles, Used: r.Used, Placement: r.Placement, Layout: r.Layout,
	}
	for _, m := range r.Measures {
		measure := TuneMeasure{What: m.What, Unit: m.Unit, Before: m.Before, After: m.After, Change: m.Change, Rounds: m.Rounds}
		if !math.IsInf(m.High, 0) {
			measure.Low, measure.High = &m.Low, &m.High
		}
		f.Measures = append(f.Measures, measure)
	}
	return f
}

// writeTuned prints the measures, the verdict and how to build with the profile.
func writeTuned(w io.Writer, t *tuning, r *tune.Result) error {
	measures := table.Table{Columns: "lrrrl"}
	measures.Row("", "Before", "After", "Change")
	for _, m := range r.Measures {
		spread := ""
		if m.Rounds > 1 && !math.IsInf(m.High, 0) {
			spread = fmt.Sprintf("%+.1f%% to %+.1f%%", 100*m.Low, 100*m.High)
		}
		measures.Row(m.What, amount(m.Before, m.Unit), amount(m.After, m.Unit), fmt.Sprintf("%+.1f%%", 100*m.Change), spread)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := measures.Write(w, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nVerdict: %s\n\nThe profile is %s; %d of %d compiles used it. %s\n",
		verdictText(r), human.Name(r.Profile), r.Used, r.Compiles, advice(t, r))
	if err != nil || r.Verdict == tune.Slower {
		return err
	}
	switch r.Placement {
	case tune.ByClang:
		_, err = fmt.Fprintf(w, "\nand compile with -funique-internal-linkage-names and link with %s. Make a new layout whenever the sources or the profile change much.\n",
			shell.Line([]string{"-fuse-ld=lld", "-Wl,--symbol-ordering-file=" + r.Layout + "_ld_profile.txt,--no-warn-symbol-ordering"}))
	case tune.ByBOLT:
		_, err = fmt.Fprintln(w, "\nwith -fno-reorder-blocks-and-partition -Wl,-q, and have llvm-bolt rewrite the program, by the commands above.")
	}
	return err
}

// advice says what to do with the profile.
func advice(t *tuning, r *tune.Result) string {
	if r.Verdict == tune.Slower {
		return "Build without it, train with input that is more like what you measure with, or try another compiler, such as GCC 16 or clang: \"Does it pay?\" in docs/guide/tutorial.md has reasons."
	}
	return "To build with it:\n\n  " + HowToBuild(t.Build, t.Env, r)
}

// HowToBuild returns a command that builds with the profile, by the build system, the settings for
// its environment and the compilers of a build.
func HowToBuild(build, env []string, r *tune.Result) string {
	said := strings.Join(build, " ")
	set, rust := "", slices.Contains(r.Compilers, "rustc")
	flags := "-Cdebuginfo=1 -Zprofile-sample-use=" + r.Profile // without lines, LLVM finds no place for the counts
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		if name == "RUSTFLAGS" && rust {
			flags = value + " " + flags
			continue
		}
		set += name + "=" + shell.Quote(value) + " "
	}
	if rust {
		return set + "RUSTFLAGS=" + shell.Quote(flags) + " " + shell.Line(build)
	}
	return set + commandWithProfile(said, r)
}

// commandWithProfile returns a command for GCC and clang.
func commandWithProfile(said string, r *tune.Result) string {
	given, listed := shell.Quote(r.Profile), r.Profile
	if r.Layout != "" {
		given += " --layout " + shell.Quote(r.Layout)
		listed += ";--layout;" + r.Layout
	}
	variables := settings(r, `%[2]s="afdo exec --profile %[4]s -- %[3]s"`, given)
	switch by := func(name string) bool { return strings.Contains(said, name) }; {
	case by("cmake"):
		return "cmake " + settings(r, `-DCMAKE_%[1]s_COMPILER=%[3]s -DCMAKE_%[1]s_COMPILER_LAUNCHER="afdo;exec;--profile;%[4]s;--"`, listed) + " ..."
	case by("ninja") && !by("meson"):
		return variables + " for the command that configures the build folder, CMake or Meson"
	case by("meson"):
		return variables + " meson setup ..."
	case by("configure"):
		return "./configure " + variables
	case by("make"):
		return "make " + variables
	}
	return fmt.Sprintf("afdo exec --profile %s -- %s ...", given, r.Compilers[0])
}

// settings returns a text for each language of a build, made from a format. It inserts the
// language's name in CMake, the variable of make, the compiler and the profile.
func settings(r *tune.Result, format, profile string) string {
	var all []string
	for _, l := range []struct{ cmake, variable string }{{"C", "CC"}, {"CXX", "CXX"}, {"Fortran", "FC"}} {
		for _, name := range r.Compilers {
			if variableOf(name) == l.variable {
				all = append(all, fmt.Sprintf(format, l.cmake, l.variable, name, profile))
				break
			}
		}
	}
	return strings.Join(all, " ")
}

// variableOf returns the variable by which builds find a compiler.
func variableOf(compiler string) string {
	switch {
	case strings.Contains(compiler, "++"):
		return "CXX"
	case strings.Contains(compiler, "gfortran"):
		return "FC"
	}
	return "CC"
}

// verdictText returns the verdict in words, and what limits its worth.
func verdictText(r *tune.Result) string {
	text := decisionText(r)
	if r.Short {
		text += fmt.Sprintf("\nThe program runs for only %s, much of which is its start: measure with a longer input.", amount(r.Measures[0].Before, "s"))
	}
	return text
}

// decisionText says what was decided by which measure, and what the count of instructions says,
// which does not vary.
func decisionText(r *tune.Result) string {
	cpu := &r.Measures[0]
	facts := []string{moreOrLess(cpu.Change, "less processor time", "more processor time")}
	expected, same := math.Abs(cpu.Change), false
	for _, m := range r.Measures {
		if m.What == "instructions" {
			same = math.Abs(m.Change) < smallest
			facts = append(facts, instructionsText(m.Change))
			expected = max(expected, math.Abs(m.Change))
		}
	}
	switch {
	case r.Verdict == tune.Faster:
		return "faster: " + strings.Join(facts, ", ")
	case r.Verdict == tune.Slower:
		return "slower: " + strings.Join(facts, ", ")
	case math.IsInf(cpu.High, 0):
		return "not decided: " + strings.Join(append(facts[1:], "fewer than 6 rounds cannot decide about time"), "; ")
	}
	text := "not decided: "
	if len(facts) > 1 {
		if same {
			return text + fmt.Sprintf("%s, and the processor times vary by %.1f%%", facts[1], 100*(cpu.High-cpu.Low))
		}
		text += facts[1] + ", but "
	}
	text += fmt.Sprintf("the processor times vary by %.1f%%; a longer input", 100*(cpu.High-cpu.Low))
	if rounds := roundsToDecide(cpu, expected); rounds <= mostRounds {
		text += fmt.Sprintf(" or --rounds %d", rounds)
	}
	return text + " would decide it"
}

// mostRounds limits the number of rounds that verdictText recommends.
const mostRounds = 200

// roundsToDecide estimates how many rounds would show a change, rounded up to a multiple of ten.
// The interval of a measure shrinks with the square root of the number of rounds.
func roundsToDecide(m *tune.Measure, change float64) int {
	ratio := (m.High - m.Low) / 2 / max(change, 1e-3)
	rounds := max(float64(m.Rounds)*ratio*ratio, float64(m.Rounds)+10)
	return int(min(math.Ceil(rounds/10)*10, mostRounds+1))
}

// smallest is the smallest change of the instructions that is worth words: 0.1% in print.
const smallest = 0.0005

// instructionsText returns a change of the number of instructions in words.
func instructionsText(change float64) string {
	if math.Abs(change) < smallest {
		return "the same number of instructions"
	}
	return moreOrLess(change, "fewer instructions", "more instructions")
}

// moreOrLess returns a change in percent with one of two words, such as "3.1% fewer instructions".
func moreOrLess(change float64, less, more string) string {
	word := more
	if change < 0 {
		word = less
	}
	return fmt.Sprintf("%.1f%% %s", 100*math.Abs(change), word)
}

// amount returns a number with its unit.
func amount(n float64, unit string) string {
	if unit == "s" {
		return time.Duration(n * float64(time.Second)).Round(100 * time.Microsecond).String()
	}
	return strings.TrimSpace(human.Number(uint64(n)) + " " + unit)
}
