package compile

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ExplainFacts is the JSON report of "afdo explain".
type ExplainFacts struct {
	Profile    string                    `json:"profile"`
	Counts     uint64                    `json:"counts"`
	Found      uint64                    `json:"found"`
	FoundShare float64                   `json:"found_share"`
	Findable   uint64                    `json:"findable"` // counts that a compiler of this version looks up
	Elsewhere  uint64                    `json:"elsewhere"`
	Moved      int                       `json:"moved,omitempty"` // functions of edited sources
	Reasons    map[explain.Reason]uint64 `json:"reasons"`
	Functions  []ExplainedFunction       `json:"functions"`
	Units      []explainedUnit           `json:"units"`
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

type explainedUnit struct {
	Unit     string         `json:"unit"`
	Compiler string         `json:"compiler,omitempty"`
	Counts   uint64         `json:"counts"`
	Found    uint64         `json:"found"`
	Reason   explain.Reason `json:"reason,omitempty"`
}

func newExplainFacts(path string, r *explain.Report) *ExplainFacts {
	f := &ExplainFacts{
		Profile: path, Counts: r.Counts, Found: r.Found, FoundShare: human.Share(r.Found, r.Counts), Elsewhere: r.Elsewhere,
		Reasons: make(map[explain.Reason]uint64), Functions: []ExplainedFunction{}, Units: []explainedUnit{},
	}
	for _, reason := range explain.Reasons {
		f.Reasons[reason] = r.Reasons[reason]
		if reason.Findable() {
			f.Findable = saturating.Add(f.Findable, r.Reasons[reason])
		}
	}
	for _, u := range r.Units {
		f.Units = append(f.Units, explainedUnit{u.Name, u.Compiler, u.Counts, u.Found, u.Reason})
	}
	for i := range r.Functions {
		g := &r.Functions[i]
		f.Functions = append(f.Functions, ExplainedFunction{
			g.Name, demangled.Bounded(g.Name), g.File, g.Line, g.Counts, g.Found, g.EntryUsed, g.Reason, g.Reason.Advice(), g.Suspect(),
		})
	}
	return f
}

// write prints the facts with the functions and units that lose most.
func (f *ExplainFacts) write(w io.Writer, most verb.Count) error {
	if _, err := fmt.Fprintf(w, "%s of %s found", human.Percent(f.FoundShare), human.Counted(f.Counts, "count")); err != nil {
		return err
	}
	if f.Elsewhere > 0 {
		fmt.Fprintf(w, "; %s are of functions that are not compiled here", human.Number(f.Elsewhere))
	}
	fmt.Fprintln(w)
	if f.Moved > 0 {
		fmt.Fprintf(w, "Counts of %s were moved to where their lines are now, as by \"afdo exec\".\n", human.Counted(f.Moved, "edited function"))
	}
	if f.Findable < f.Counts {
		fmt.Fprintf(w, "No compiler of this version looks up more than %s of them; of these, %s were found.\n", human.Percentage(f.Findable, f.Counts), human.Percent(f.foundOfFindable()))
	}
	reasons := table.Table{Columns: "lr"}
	for _, r := range explain.Reasons {
		if f.Reasons[r] > 0 {
			reasons.Row(string(r), human.Percentage(f.Reasons[r], f.Counts))
		}
	}
	if err := reasons.Write(w, 2); err != nil {
		return err
	}
	if changed := f.changed(); changed > 0 {
		fmt.Fprintf(w, "Functions that were edited since have %s of the counts: what was found of them may be of other lines.\n",
			human.Percentage(changed, f.Counts))
	}
	if err := f.writeUnits(w, most); err != nil {
		return err
	}
	return f.writeFunctions(w, most)
}

// foundOfFindable returns the share of the counts that were found, of those that can be found.
func (f *ExplainFacts) foundOfFindable() float64 { return human.Share(f.Found, f.Findable) }

// changed returns the counts of functions whose lines are others by now.
func (f *ExplainFacts) changed() uint64 {
	sum := uint64(0)
	for _, g := range f.Functions {
		if g.Reason == explain.Edited || g.Reason == explain.Declared {
			sum = saturating.Add(sum, g.Counts)
		}
	}
	return sum
}

// writeUnits prints the units that lose most, if there is more than one.
func (f *ExplainFacts) writeUnits(w io.Writer, most verb.Count) error {
	if len(f.Units) < 2 {
		return nil
	}
	units := table.Table{Columns: "rrll"}
	units.Row("Found", "Counts", "Unit")
	for _, u := range f.worstUnits(most) {
		units.Row(human.Percentage(u.Found, u.Counts), human.Number(u.Counts), human.Name(u.Unit), string(u.Reason))
	}
	if _, err := fmt.Fprintln(w, "\nUnits"); err != nil {
		return err
	}
	return units.Write(w, 2)
}

// worstUnits returns the units that lose most.
func (f *ExplainFacts) worstUnits(most verb.Count) []explainedUnit {
	units := slices.Clone(f.Units)
	slices.SortStableFunc(units, func(a, b explainedUnit) int { return cmp.Compare(b.Counts-b.Found, a.Counts-a.Found) })
	return units[:most.Of(len(units))]
}

// writeFunctions prints the functions that lose most, and what to do.
func (f *ExplainFacts) writeFunctions(w io.Writer, most verb.Count) error {
	functions := table.Table{Columns: "rrlll"}
	functions.Row("Found", "Counts", "Reason", "Function", "Declared at")
	advice := []explain.Reason{}
	said := make(map[explain.Reason]bool)
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
		if !said[g.Reason] && g.Advice != "" {
			said[g.Reason] = true
			advice = append(advice, g.Reason)
		}
	}
	if len(said) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w, "\nFunctions that lose most"); err != nil {
		return err
	}
	if err := functions.Write(w, 2); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range advice {
		if _, err := fmt.Fprintf(w, "%s: %s\n", r, r.Advice()); err != nil {
			return err
		}
	}
	return nil
}
