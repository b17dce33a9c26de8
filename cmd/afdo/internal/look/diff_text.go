package look

import (
	"fmt"
	"io"
	"iter"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// text prints the report for people.
func (r *diffReport) text(w io.Writer) error {
	if err := r.head().Write(w, 0); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s%s\n\nOverlap\n", alignedText(r.aligned), r.verdict()); err != nil {
		return err
	}
	if err := r.overlaps().Write(w, 2); err != nil {
		return err
	}
	if r.ByUnit {
		return r.unitList(w)
	}
	for _, list := range []struct {
		title     string
		functions []*profile.FunctionDiff
	}{
		{"Functions that have changed", r.changed},
		{"Functions that only the second profile has", r.gained},
		{"Functions that only the first profile has", r.lost},
	} {
		if err := r.functionList(w, list.title, list.functions); err != nil {
			return err
		}
	}
	return nil
}

// head returns the table that says what is compared.
func (r *diffReport) head() *table.Table {
	t := &table.Table{Columns: "lrrrl"}
	t.Row("", "Samples", "Functions", "In units", "File")
	for i, p := range [2]profile.Portion{r.diff.First, r.diff.Second} {
		t.Row([2]string{"First", "Second"}[i], human.Number(p.Samples), human.Number(p.Functions), human.Number(r.numUnits[i]), human.Name(r.paths[i]))
	}
	return t
}

// alignedText says which units were taken for the same though their paths are not, a line for each
// reason; nothing if there are none.
func alignedText(a profile.Alignment) string {
	text := ""
	for _, r := range a.Roots {
		text += rootText(r) + fmt.Sprintf(" in the second profile: units matched: %s.\n", human.Number(r.Units))
	}
	for i, u := range a.Moved {
		if i == maxMoved {
			return text + fmt.Sprintf("%s more units have another path.\n", human.Number(len(a.Moved)-i))
		}
		text += fmt.Sprintf("Unit %s is %s in the second profile, by its functions.\n", human.Name(u.First), human.Name(u.Second))
	}
	return text
}

// maxMoved limits the number of units with another path that are listed.
const maxMoved = 5

func rootText(r profile.AlignedRoot) string {
	first, second := human.Name(r.First), human.Name(r.Second)
	switch {
	case r.First == "":
		return "Paths have " + second + " before them"
	case r.Second == "":
		return "Paths that begin with " + first + " lack that"
	}
	return "Paths that begin with " + first + " begin with " + second
}

func (r *diffReport) verdict() string {
	if r.difference == nil {
		return "The profiles say the same."
	}
	return "The profiles differ, first here: " + r.difference.Error()
}

func (r *diffReport) overlaps() *table.Table {
	o := &r.diff.Overlap
	t := &table.Table{Columns: "ll"}
	t.Row("Similarity", human.Overlap(o.Similarity))
	t.Row("Functions", human.Overlap(o.Functions))
	t.Row("Locations", human.Overlap(o.Locations))
	t.Row("Counts", human.Overlap(o.Counts))
	t.Row("Only", fmt.Sprintf("%s of the first, %s of the second", human.Percent(o.OnlyFirst), human.Percent(o.OnlySecond)))
	return t
}

func (r *diffReport) functionList(w io.Writer, title string, functions []*profile.FunctionDiff) error {
	shown := functions[:r.shown(len(functions))]
	l := &table.List{Numbers: table.Table{Columns: "rrrr"}, Heading: "Function", LeftOut: len(functions) - len(shown), Width: r.Width}
	l.Numbers.Row("First", "Second", "Points", "Overlap")
	l.Spare = []int{3}
	for _, f := range shown {
		l.Numbers.Row(shares(f.First, f.Second, f.Change(), f.Overlap)...)
	}
	l.About = func(i int) (iter.Seq[string], string) {
		return demangled.InForms(func(form func(string) string) string { return r.name(shown[i], form) }), human.Unit(shown[i].Path)
	}
	return writeList(w, title, len(functions), l)
}

func (r *diffReport) unitList(w io.Writer) error {
	shown := r.units[:r.shown(len(r.units))]
	l := &table.List{Numbers: table.Table{Columns: "rrrrrr"}, Heading: "Unit", LeftOut: len(r.units) - len(shown), Width: r.Width}
	l.Numbers.Row("First", "Second", "Points", "Overlap", "Gained", "Lost")
	l.Spare = []int{5, 4, 3}
	for _, u := range shown {
		l.Numbers.Row(append(shares(u.First, u.Second, u.Change(), u.Overlap), human.Number(u.Gained), human.Number(u.Lost))...)
	}
	l.About = func(i int) (iter.Seq[string], string) { return table.Named(human.Unit(shown[i].Path)) }
	return writeList(w, "Units that have changed", len(r.units), l)
}

// shares returns the cells that functions and units have in common.
func shares(first, second profile.Portion, change, overlap float64) []string {
	cell := func(p profile.Portion) string {
		if p.Functions == 0 {
			return "none"
		}
		return human.Percent(p.Share)
	}
	return []string{cell(first), cell(second), fmt.Sprintf("%+.2f", 100*change), human.Overlap(overlap)}
}

// writeList writes a list under a title that says how long it is. An empty list is not written.
func writeList(w io.Writer, title string, n int, l *table.List) error {
	if n == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s: %s\n", title, human.Number(n)); err != nil {
		return err
	}
	return l.Write(w, 2)
}
