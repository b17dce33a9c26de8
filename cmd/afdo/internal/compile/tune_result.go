package compile

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/shell"
)

// TuneFacts is the JSON report of "afdo tune".
type TuneFacts struct {
	TuneTry
	Advice   string        `json:"advice"`
	Tries    []TuneTry     `json:"tries"`
	Programs []string      `json:"programs"`
	Build    string        `json:"build_command"`
	Recorder tune.Recorder `json:"recorder"`
	Why      string        `json:"recorder_reason"`
	Differs  *bool         `json:"outputs_differ"` // whether the two programs' outputs differ; nil if they vary from run to run
	Folder   string        `json:"folder"`
	Program  string        `json:"program_folder"`
	Compiles int           `json:"compiles"`
	Used     int           `json:"compiles_with_profile"`
}

// TuneTry is the result of one attempt of "afdo tune" to use the profile, such as with or without a
// layout.
type TuneTry struct {
	tune.Try
	Measures []TuneMeasure `json:"measures"`
}

type TuneMeasure struct {
	tune.Measure
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// The values of TuneFacts.Advice: keepOrdinary if the program is not faster with the profile.
const useProfile, keepOrdinary = "use the profile", "keep the ordinary build"

func newTuneFacts(t *tuning, r *tune.Result) *TuneFacts {
	f := &TuneFacts{
		TuneTry: newTuneTry(r.Try), Advice: keepOrdinary, Programs: r.Programs, Build: HowToBuild(&t.Options, r), Recorder: r.Recorder, Why: r.Why,
		Folder: t.Folder, Program: r.Folder, Compiles: r.Compiles, Used: r.Used,
	}
	if r.Verdict == tune.Faster {
		f.Advice = useProfile
	}
	if different := r.Outputs == tune.DifferentOutputs; r.Outputs != tune.VaryingOutputs {
		f.Differs = &different
	}
	for _, try := range r.Tries {
		f.Tries = append(f.Tries, newTuneTry(try))
	}
	return f
}

func newTuneTry(try tune.Try) TuneTry {
	f := TuneTry{Try: try}
	for _, m := range try.Measures {
		measure := TuneMeasure{Measure: m}
		if !math.IsInf(m.High, 0) {
			measure.Low, measure.High = &m.Low, &m.High
		}
		f.Measures = append(f.Measures, measure)
	}
	return f
}

// writeTuned prints the result of "afdo tune". The result has the measurements, the verdict, a
// table of the tried ways of using the profile, such as with and without a layout, and how to build
// with the profile.
func writeTuned(w io.Writer, t *tuning, r *tune.Result) error {
	measures := table.Table{Columns: "lrrrl"}
	measures.Row("", "Before", "After", "Change")
	for _, m := range r.Measures {
		measures.Row(m.What, amount(m.Before, m.Unit), amount(m.After, m.Unit), percent(m.Change), interval(&m))
	}
	verdict := human.Wrap("", 0, "Verdict: "+verdictText(&r.Try), tuneColumns)
	if color := map[tune.Verdict]string{tune.Faster: cli.Green, tune.Slower: cli.Red}[r.Verdict]; color != "" {
		verdict = strings.Replace(verdict, string(r.Verdict), cli.Colored(w, color, string(r.Verdict)), 1)
	}
	tries := table.Table{Columns: "llrrr"}
	tries.Row("Way", "Verdict", "Time", "Instructions", "Code")
	for _, try := range r.Tries {
		changes := make(map[string]string)
		for _, m := range try.Measures {
			changes[m.What] = percent(m.Change)
		}
		tries.Row(string(try.Way), string(try.Verdict), changes["processor time"], changes["instructions"], changes["code"])
	}
	all := ""
	if len(r.Tries) > 1 {
		all = tries.Text(0) + "\n"
	}
	if r.Outputs == tune.DifferentOutputs {
		all += human.Wrap("", 0, fmt.Sprintf("The two programs print different output: compare what the measured commands print in %s and in %s. One program may be broken, unless they print when or where they were built.", human.Name(shownPath(filepath.Join(t.Folder, "base"))), human.Name(shownPath(r.Folder))), tuneColumns) + "\n"
	}
	_, err := io.WriteString(w, "\n"+measures.Text(0)+"\n"+verdict+"\n"+all+adviceText(t, r))
	return err
}

// adviceText returns the last paragraph that "afdo tune" prints. It says where the faster program
// is and how to build it. If the profile makes the program slower, it advises against the profile.
func adviceText(t *tuning, r *tune.Result) string {
	if r.Verdict == tune.Slower {
		return human.Wrap("", 0, "Keep the ordinary build: the profile makes the program slower in every way that was tried. Train with input that is more like what you measure with, or try another compiler, such as GCC 16 or clang. \"Does it pay?\" in docs/guide/tutorial.md has reasons.", tuneColumns)
	}
	var text strings.Builder
	which, build := "The faster program", "Build it yourself:"
	if r.Verdict == tune.Undecided {
		which, build = "The program with the profile", "Build it yourself, although it may not pay:"
		text.WriteString(human.Wrap("", 0, "Keep the ordinary build: no way of using the profile that was tried is certainly faster.", tuneColumns))
	}
	where := human.Name(strings.Join(r.Programs, " and ")) + " in " + human.Name(shownPath(r.Folder))
	if len(r.Programs) == 1 {
		where = human.Name(shownPath(filepath.Join(r.Folder, r.Programs[0])))
	}
	fmt.Fprintf(&text, "%sIts profile: %s, used by %d of %d compiles\n", human.Wrap(which+": ", 2, where, tuneColumns), human.Name(shownPath(r.Profile)), r.Used, r.Compiles)
	fmt.Fprintf(&text, "%s\n\n  %s\n", build, shell.Fold(HowToBuild(&t.Options, r), "    ", tuneColumns-len("  ")))
	if how := layoutText(t, r); how != "" {
		text.WriteString("\n" + human.Wrap("", 0, how, tuneColumns))
	}
	return text.String()
}

// layoutText returns the linker and compiler options that a build with the layout needs. It returns
// "" if tune has made no layout.
func layoutText(t *tuning, r *tune.Result) string {
	how := "Link"
	if t.Layout { // the profile has the unique names, too
		how = "Compile with -funique-internal-linkage-names and link"
	}
	switch {
	case r.Placement == "":
		return ""
	case r.Placement == tune.ByClang:
		return how + " with -fuse-ld=lld -Wl,--symbol-ordering-file=" + r.Layout + "_ld_profile.txt,--no-warn-symbol-ordering. Make a new layout whenever the sources or the profile change much."
	}
	return "Build with -fno-reorder-blocks-and-partition -Wl,-q, and have llvm-bolt rewrite the program, by the commands in the log."
}

// shownPath returns a path as it is printed: relative to the current folder if it is below that
// folder, and otherwise unchanged.
func shownPath(path string) string {
	here, _ := os.Getwd() // of "", no path is relative
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// verdictText returns the verdict on one attempt to use the profile, for example "faster", with the
// measured changes. If it is not decided whether the program is faster, the text has the reasons.
func verdictText(try *tune.Try) string {
	cpu := &try.Measures[0]
	count := ""
	for _, m := range try.Measures {
		if m.What == "instructions" {
			count = instructionsText(m.Change)
		}
	}
	facts := count
	if try.Verdict != tune.Undecided {
		facts = strings.TrimSuffix(moreOrLess(cpu.Change, "less processor time", "more processor time")+", "+count, ", ")
		return string(try.Verdict) + ": " + facts
	}
	switch {
	case math.IsInf(cpu.High, 0):
		facts = fmt.Sprintf("%d rounds are too few to decide about time", cpu.Rounds)
	case max(math.Abs(cpu.Low), math.Abs(cpu.High)) < tune.Margin:
		facts = fmt.Sprintf("the processor times differ by less than %.1f%%", 100*tune.Margin)
	default:
		facts = fmt.Sprintf("the processor time changes by %s", interval(cpu))
	}
	if count != "" {
		facts = count + "; " + facts
	}
	if try.Short {
		facts += fmt.Sprintf(". The program runs for only %s, much of which is its start: measure with a longer input", amount(cpu.Before, "s"))
	}
	if try.Busy {
		facts += ". It had to wait for other programs: measure on an idle machine"
	}
	return "not decided: " + facts
}

// interval returns the confidence interval of a measurement, or "" if it has none.
func interval(m *tune.Measure) string {
	if m.Rounds < 2 || math.IsInf(m.High, 0) {
		return ""
	}
	return percent(m.Low) + " to " + percent(m.High)
}

func percent(change float64) string { return fmt.Sprintf("%+.1f%%", 100*change) }

// smallest is the smallest change of the number of instructions that is reported. It rounds to
// 0.1%.
const smallest = 0.0005

// instructionsText describes in words how much the number of executed instructions has changed,
// such as "3.1% fewer instructions".
func instructionsText(change float64) string {
	if math.Abs(change) < smallest {
		return "the same number of instructions"
	}
	return moreOrLess(change, "fewer instructions", "more instructions")
}

// moreOrLess returns a change in percent, followed by less if the change is negative, and by more
// otherwise. An example is "3.1% fewer instructions".
func moreOrLess(change float64, less, more string) string {
	word := more
	if change < 0 {
		word = less
	}
	return fmt.Sprintf("%.1f%% %s", 100*math.Abs(change), word)
}

// amount returns a measured number with its unit, rounded for printing.
func amount(n float64, unit string) string {
	if unit == "s" {
		return time.Duration(n * float64(time.Second)).Round(100 * time.Microsecond).String()
	}
	return strings.TrimSpace(human.Number(uint64(n)) + " " + unit)
}
