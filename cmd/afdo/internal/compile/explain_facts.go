package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/launch/laidout"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ExplainFacts is the JSON report of "afdo explain": which counts of a profile some compiles have
// found, and why they have not found the others.
type ExplainFacts struct {
	Profile    string                    `json:"profile"`
	Counts     uint64                    `json:"counts"`
	Found      uint64                    `json:"found"`
	FoundShare float64                   `json:"found_share"`
	Findable   uint64                    `json:"findable"` // counts that a compiler of this version looks up
	Elsewhere  uint64                    `json:"elsewhere"`
	Moved      int                       `json:"moved,omitempty"` // functions whose counts were moved to edited sources
	Reasons    map[explain.Reason]uint64 `json:"reasons"`
	Functions  []ExplainedFunction       `json:"functions"`
	Units      []explain.Unit            `json:"units"`
}

type ExplainedFunction struct {
	Name      string         `json:"name"`
	Demangled string         `json:"demangled"`
	File      string         `json:"file,omitempty"`
	Line      uint32         `json:"line,omitempty"`
	Counts    uint64         `json:"counts"`
	Found     uint64         `json:"found"`
	EntryUsed bool           `json:"entry_used,omitempty"`
	Reason    explain.Reason `json:"reason"`
	Advice    string         `json:"advice,omitempty"`

	suspect uint64
}

func newExplainFacts(path string, r *explain.Report) *ExplainFacts {
	f := &ExplainFacts{
		Profile: path, Counts: r.Counts, Found: r.Found, FoundShare: human.Share(r.Found, r.Counts), Elsewhere: r.Elsewhere,
		Reasons: make(map[explain.Reason]uint64), Functions: []ExplainedFunction{}, Units: append([]explain.Unit{}, r.Units...),
	}
	for _, reason := range explain.Reasons {
		f.Reasons[reason] = r.Reasons[reason]
		if reason.Findable() {
			f.Findable = saturating.Add(f.Findable, r.Reasons[reason])
		}
	}
	for i := range r.Functions {
		g := &r.Functions[i]
		f.Functions = append(f.Functions, ExplainedFunction{
			g.Name, demangled.Bounded(g.Name), g.File, g.Line, g.Counts, g.Found, g.EntryUsed, g.Reason, g.Reason.Advice(), g.Suspect(),
		})
	}
	return f
}

// write prints the report as text. It lists the units and the functions for which compiles find the
// fewest counts. most limits the number of each; 0 means no limit.
func (f *ExplainFacts) write(w io.Writer, most table.Count) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s of %s found", human.Percent(f.FoundShare), human.Counted(f.Counts, "count"))
	if f.Elsewhere > 0 {
		fmt.Fprintf(&out, "; %s are of functions that are not compiled here", human.Number(f.Elsewhere))
	}
	out.WriteString("\n")
	if f.Moved > 0 {
		fmt.Fprintf(&out, "Counts of %s were moved to where their lines are now, as by \"afdo exec\".\n", human.Counted(f.Moved, "edited function"))
	}
	if f.Findable < f.Counts {
		fmt.Fprintf(&out, "No compiler of this version looks up more than %s of them.\nOf these, %s were found.\n", human.Percentage(f.Findable, f.Counts), human.Percent(f.foundOfFindable()))
	}
	reasons := table.Table{Columns: "lrl"}
	meaning := map[explain.Reason]string{explain.Border: "of a function, where no compiler looks up counts"}
	for _, r := range explain.Reasons {
		if f.Reasons[r] > 0 {
			reasons.Row(string(r), human.Percentage(f.Reasons[r], f.Counts), meaning[r])
		}
	}
	out.WriteString(reasons.Text(2))
	if changed := f.changed(); changed > 0 {
		fmt.Fprintf(&out, "Functions that were edited since have %s of the counts: what was found of them may be of other lines.\n",
			human.Percentage(changed, f.Counts))
	}
	_, err := io.WriteString(w, out.String()+f.unitsText(most)+f.functionsText(most))
	return err
}

// foundOfFindable returns the share of counts that the compiles have found, among the counts that a
// compiler can find at all.
func (f *ExplainFacts) foundOfFindable() float64 { return human.Share(f.Found, f.Findable) }

// changed returns the sum of the counts of functions whose source lines have changed since the
// recording.
func (f *ExplainFacts) changed() uint64 {
	sum := uint64(0)
	for _, g := range f.Functions {
		if g.Reason == explain.Edited || g.Reason == explain.Declared {
			sum = saturating.Add(sum, g.Counts)
		}
	}
	return sum
}

// unitsText returns a table of the units that lose the most counts, as text. A count is lost if the
// compile of the unit does not find it. most limits the number of rows; 0 means no limit. The
// result is "" if there is only one unit.
func (f *ExplainFacts) unitsText(most table.Count) string {
	if len(f.Units) < 2 {
		return ""
	}
	units := table.Table{Columns: "rrll"}
	units.Row("Found", "Counts", "Unit")
	worst := slices.Clone(f.Units)
	slices.SortStableFunc(worst, func(a, b explain.Unit) int { return cmp.Compare(b.Counts-b.Found, a.Counts-a.Found) })
	for _, u := range worst[:most.Of(len(worst))] {
		units.Row(human.Percentage(u.Found, u.Counts), human.Number(u.Counts), human.Name(u.Name), string(u.Reason))
	}
	return "\nUnits\n" + units.Text(2)
}

// functionsText returns a table of the functions that lose the most counts, as text. Each row has
// the reason. Advice on the reasons follows the table. most limits the number of rows; 0 means no
// limit.
func (f *ExplainFacts) functionsText(most table.Count) string {
	functions := table.Table{Columns: "rrlll"}
	functions.Row("Found", "Counts", "Reason", "Function", "Declared at")
	advice := []explain.Reason{}
	for _, g := range f.Functions[:most.Of(len(f.Functions))] {
		if g.suspect == 0 {
			break
		}
		at := human.Name(g.File)
		if g.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, g.Line)
		}
		reason := string(g.Reason)
		if g.Found == 0 && g.EntryUsed {
			reason += ", entry used"
		}
		functions.Row(human.Percentage(g.Found, g.Counts), human.Number(g.Counts), reason, human.Name(demangled.Short(g.Name)), at)
		if g.Advice != "" && !slices.Contains(advice, g.Reason) {
			advice = append(advice, g.Reason)
		}
	}
	if len(advice) == 0 {
		return ""
	}
	text := "\nFunctions that lose most\n" + functions.Text(2) + "\n"
	for _, r := range advice {
		text += fmt.Sprintf("%s: %s\n", r, r.Advice())
	}
	return text
}

// ExplainLayoutFacts is the JSON report of "afdo explain --layout": for which functions in a list
// of "afdo layout" the compiler has used the list.
type ExplainLayoutFacts struct {
	Layout       string                 `json:"layout"`
	Listed       int                    `json:"functions_listed"`
	LaidOut      int                    `json:"laid_out"`
	LaidOutShare float64                `json:"laid_out_share"`
	Elsewhere    int                    `json:"elsewhere"`
	Reasons      map[laidout.Reason]int `json:"reasons"`
	Functions    []PlacedFunction       `json:"functions"`
	Units        []laidout.Unit         `json:"units"`
}

// PlacedFunction reports on one function in a list of "afdo layout". It has the unit that defines
// the function, and says whether the compiler ordered its basic blocks by the list and, if not,
// why.
type PlacedFunction struct {
	Name      string         `json:"name"`
	Demangled string         `json:"demangled"`
	Unit      string         `json:"unit,omitempty"`
	Reason    laidout.Reason `json:"reason"`
	Advice    string         `json:"advice,omitempty"`
}

// splitLayoutArgs splits the arguments of "afdo explain --layout" into the profile, which is
// optional, and the compiler command after "--". dash is the number of arguments before "--", or -1
// without "--".
func splitLayoutArgs(args []string, dash int) (profiles, argv []string) {
	if dash < 0 {
		return args, nil
	}
	return args[:dash], args[dash:]
}

// checkLayout returns an error for arguments and flags that do not go with --layout. args and dash
// are those of [splitLayoutArgs].
func (x *explaining) checkLayout(args []string, dash int) error {
	profiles, argv := splitLayoutArgs(args, dash)
	switch {
	case len(profiles) > 1:
		return cli.Usagef("want one PROFILE, not %d", len(profiles))
	case x.binary != "":
		return cli.Usagef("--layout compares compiles: it does not go with --binary")
	case (len(argv) > 0) == (x.database != ""):
		return cli.Usagef("want one of -- COMPILER ARGS... and --compile-commands FILE")
	case x.jobs < 1:
		return cli.Usagef("-j wants a number of compiles")
	}
	return nil
}

// runExplainLayout runs compiles with a list of "afdo layout", and reports for which of the listed
// functions the compiler used the list. args and dash are those of [splitLayoutArgs].
func runExplainLayout(ctx context.Context, e *verb.Env, args []string, dash int, x *explaining) (err error) {
	profiles, argv := splitLayoutArgs(args, dash)
	compiles, err := x.compiles(argv)
	if err != nil {
		return err
	}
	path := x.layout + listSuffix
	c, err := laidout.New(path)
	if err != nil {
		return input.Wrap(path, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.Launcher.NoRebase, c.Launcher.NoParams = x.noRebase, x.noParams
	if len(profiles) > 0 {
		c.Launcher.Profile = profiles[0]
	}
	units, err := compileAll(ctx, e, compiles, x.jobs, func(ctx context.Context, one compile) (*laidout.Compiled, error) {
		return c.Compile(ctx, one.command.Line, one.source)
	})
	if err != nil {
		return err
	}
	facts := newExplainLayoutFacts(path, c.Report(units, x.database == ""))
	return facts.tell(e, x)
}

func newExplainLayoutFacts(path string, r *laidout.Report) *ExplainLayoutFacts {
	f := &ExplainLayoutFacts{
		Layout: path, Listed: len(r.Functions), LaidOut: r.LaidOut, LaidOutShare: human.Share(uint64(r.LaidOut), uint64(len(r.Functions))), Elsewhere: r.Elsewhere,
		Reasons: make(map[laidout.Reason]int), Functions: []PlacedFunction{}, Units: r.Units,
	}
	for _, reason := range laidout.Reasons {
		f.Reasons[reason] = 0
	}
	for _, g := range r.Functions {
		f.Reasons[g.Reason]++
		f.Functions = append(f.Functions, PlacedFunction{g.Name, demangled.Bounded(g.Name), g.Unit, g.Reason, g.Reason.Advice()})
	}
	rank := map[bool]int{true: 0, false: 1} // what is lost comes first
	slices.SortStableFunc(f.Functions, func(a, b PlacedFunction) int { return rank[a.Reason.Lost()] - rank[b.Reason.Lost()] })
	return f
}

// tell prints the report as text or JSON. It returns an error if the compiler used the list for no
// function, or for fewer than --min-found requires.
func (f *ExplainLayoutFacts) tell(e *verb.Env, x *explaining) (err error) {
	if x.json {
		err = output.JSON(e.Out, f)
	} else {
		err = f.write(e.Out, x.number)
	}
	name := human.Name(f.Layout)
	switch {
	case err != nil:
		return err
	case f.Listed == 0:
		return fmt.Errorf("%s: none of its functions is compiled here", name)
	case f.LaidOut == 0:
		return fmt.Errorf("%s: of %s none is laid out: %s", name, human.Counted(f.Listed, "function"), f.worst())
	case f.LaidOutShare < float64(x.minFound):
		return fmt.Errorf("%s: %s of the functions are laid out, --min-found is %s", name, human.Percent(f.LaidOutShare), &x.minFound)
	}
	return nil
}

// worst returns the most frequent reason why the compiler did not apply the layout to a listed
// function.
func (f *ExplainLayoutFacts) worst() (worst laidout.Reason) {
	for _, r := range laidout.Reasons {
		if r.Lost() && f.Reasons[r] > f.Reasons[worst] {
			worst = r
		}
	}
	return worst
}

// write prints the report as text. It lists the units, and the functions to which the compiler did
// not apply the layout. most limits the number of each; 0 means no limit.
func (f *ExplainLayoutFacts) write(w io.Writer, most table.Count) error {
	text := fmt.Sprintf("%s of %s laid out", human.Number(f.LaidOut), human.Counted(f.Listed, "function"))
	if f.Elsewhere > 0 {
		text += fmt.Sprintf("; not compiled here: %s of the list", human.Counted(f.Elsewhere, "other function"))
	}
	reasons := table.Table{Columns: "lr"}
	for _, r := range laidout.Reasons {
		if f.Reasons[r] > 0 {
			reasons.Row(string(r), human.Number(f.Reasons[r]))
		}
	}
	_, err := io.WriteString(w, text+"\n"+reasons.Text(2)+f.unitsText(most)+f.functionsText(most))
	return err
}

// unitsText returns a table of the units, as text. The units with the most functions to which the
// compiler did not apply the layout come first. most limits the number of rows; 0 means no limit.
// The result is "" if there is only one unit and it is compiled with the layout.
func (f *ExplainLayoutFacts) unitsText(most table.Count) string {
	if len(f.Units) < 2 && !slices.ContainsFunc(f.Units, func(u laidout.Unit) bool { return u.Why != "" }) {
		return ""
	}
	ranked := slices.Clone(f.Units)
	slices.SortStableFunc(ranked, func(a, b laidout.Unit) int { return cmp.Compare(b.Functions-b.LaidOut, a.Functions-a.LaidOut) })
	units := table.Table{Columns: "rrll"}
	units.Row("Laid out", "Functions", "Unit")
	for _, u := range ranked[:most.Of(len(ranked))] {
		units.Row(human.Number(u.LaidOut), human.Number(u.Functions), human.Name(u.Name), u.Why)
	}
	return "\nUnits\n" + units.Text(2)
}

// functionsText returns a table of the functions to which the compiler did not apply the layout, as
// text. Each row has the reason. Advice on the reasons follows the table. most limits the number of
// rows; 0 means no limit.
func (f *ExplainLayoutFacts) functionsText(most table.Count) (text string) {
	functions := table.Table{Columns: "lll"}
	functions.Row("Reason", "Function", "Unit")
	var shown []laidout.Reason
	lost := f.Functions[:f.Listed-f.LaidOut]
	for _, g := range lost[:most.Of(len(lost))] {
		functions.Row(string(g.Reason), human.Name(demangled.Short(g.Name)), human.Name(g.Unit))
		shown = append(shown, g.Reason)
	}
	if len(shown) > 0 {
		text = "\nFunctions that are not laid out\n" + functions.Text(2)
	}
	if f.Reasons[laidout.NotChecked] > 0 {
		shown = append(shown, laidout.NotChecked)
	}
	separator := "\n"
	for _, r := range laidout.Reasons {
		if advice := r.Advice(); advice != "" && slices.Contains(shown, r) {
			text += fmt.Sprintf("%s%s: %s\n", separator, r, advice)
			separator = ""
		}
	}
	return text
}
