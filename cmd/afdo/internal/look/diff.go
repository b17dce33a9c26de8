package look

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
	"github.com/spf13/cobra"
)

const diffHelp = `Compare the samples of two profiles, which may be in different formats.

Overlaps range from 0 (no location has samples in both) to 1. All but Counts
compare shares of all samples, so the length of the runs does not matter.

  Similarity  the profile similarity of "llvm-profdata overlap --sample": the
              overlap of each function's locations, times 1 less the difference
              of the function's shares, weighted by the mean of these.
  Functions   the lesser of a function's two shares, summed over all functions.
  Locations   the same over all locations, including those of inlined bodies.
  Counts      the lesser of the two counts, summed over all locations, divided
              by the sum of the greater, LLVM's sample overlap.
  Only        the samples at locations that the other profile does not have.

Functions that are counted have a body of their own; those that are only inlined
have none. Units without such functions do not count here, as they do for "show".

Units are the same in both if their paths are, or if these differ only in where
they begin, as those of a program that was built in two folders; else, if they
have the same functions. What was taken for the same is said, and the paths are
those of the first profile.

Functions are listed by how much their share of all samples has changed, in
points: from 6% to 8% are +2 points. Their overlap is that of their locations.
--units lists units instead. A terminal gets names as short as it is wide; with -v,
or outside a terminal, names are whole.

Profiles may also differ in head counts, calls, timestamps and symbols without
samples. The first difference of any kind is reported. Summaries and the numbering
of units and symbols are not compared.`

func NewDiff(e *verb.Env) *cobra.Command {
	var o kind.DiffOptions
	var exitCode bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the samples of two profiles",
		Long:  diffHelp,
		Args:  verb.Args("A", "B"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := verb.StdinOnce(args...); err != nil {
				return err
			}
			o.Width = e.Width()
			differ, err := runDiff(e, [2]string(args), &o)
			if err == nil && differ && exitCode {
				return cli.StatusError(cli.StatusFault)
			}
			return err
		},
	}
	f := cmd.Flags()
	o.Number = 25
	f.VarP(&o.Number, "number", "n", "how many lines of each list to print, 0 for all")
	f.BoolVar(&o.ByUnit, "units", false, "list units instead of functions")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	f.BoolVar(&exitCode, "exit-code", false, "exit with status 1 if there is any difference")
	e.AddWholeFlag(cmd)
	verb.AddDemangleFlags(cmd, &o.Demangle)
	e.AddKindFlags(cmd)
	return cmd
}

// runDiff compares two files and prints the differences. If both files are of the same kind, and
// the kind has its own comparison, runDiff uses that. Otherwise it converts both to profiles of
// package profile.
func runDiff(e *verb.Env, paths [2]string, o *kind.DiffOptions) (differ bool, err error) {
	var files [2]*input.File
	var kinds [2]kind.Kind
	for i, path := range paths {
		if files[i], kinds[i], err = e.OpenFile(path); err != nil {
			return false, err
		}
		defer files[i].Close()
	}
	if own, ok := kinds[0].(kind.CanDiff); ok && kinds[0] == kinds[1] {
		return own.Diff(&e.Env, files, o)
	}
	var from [2]kind.CanLoad
	for i, k := range kinds {
		var ok bool
		if from[i], ok = k.(kind.CanLoad); !ok {
			able := func(k kind.Kind) bool {
				return verb.Can[kind.CanLoad](k) || kinds[0] == kinds[1] && verb.Can[kind.CanDiff](k)
			}
			return false, files[i].Wrap(e.Kinds.Refuse("diff", kinds[i], able))
		}
	}
	return diffModels(e, files, from, o)
}

// diffModels loads two files as profiles of package profile, compares the profiles, and prints the
// differences. differ reports whether there are any.
func diffModels(e *verb.Env, files [2]*input.File, from [2]kind.CanLoad, o *kind.DiffOptions) (differ bool, err error) {
	paths := [2]string{files[0].Name, files[1].Name}
	doing := progress.Begin(e.Progress(), "reading %s and %s", human.Name(paths[0]), human.Name(paths[1]))
	defer doing.Stop()
	loaded, err := loadPair(files, from)
	if err != nil {
		return false, err
	}
	var profiles [2]*profile.Profile
	if profiles, err = sameNames(e, files, loaded); err != nil {
		return false, err
	}
	doing.Say("comparing %s and %s", human.Name(paths[0]), human.Name(paths[1]))
	r := newDiffReport(paths, profiles, o)
	doing.Stop()
	write := r.text
	if o.JSON {
		write = r.json
	}
	return r.difference != nil, output.Write(e.Out, cli.Stdio, write)
}

// loadPair reads two profiles at the same time. If both reads fail, it returns the error of the
// first file.
func loadPair(files [2]*input.File, from [2]kind.CanLoad) (loaded [2]*kind.Loaded, err error) {
	load := func(i int) error {
		l, err := from[i].Load(files[i])
		if err != nil {
			return files[i].Wrap(err)
		}
		loaded[i] = l
		return nil
	}
	second := make(chan error, 1)
	go func() { second <- load(1) }()
	return loaded, cmp.Or(load(0), <-second)
}

// sameNames returns two profiles in which the same functions have the same names and units, so that
// they can be compared. If the format of only one of the files stores units, sameNames removes the
// units from that profile.
func sameNames(e *verb.Env, files [2]*input.File, loaded [2]*kind.Loaded) (profiles [2]*profile.Profile, err error) {
	for i, l := range loaded {
		profiles[i] = l.Profile
		other := 1 - i
		if l.NoUnits || !loaded[other].NoUnits {
			continue
		}
		e.Warnf("%s knows no units: functions are compared by name alone", human.Name(files[other].Name))
		if profiles[i], err = gcovkind.WithoutUnits(l.Profile); err != nil {
			return profiles, files[i].Wrap(err)
		}
	}
	return profiles, nil
}

// A diffReport is the comparison of two profiles that the verb diff prints.
type diffReport struct {
	*kind.DiffOptions
	paths      [2]string
	difference error // the first difference of any kind, or nil
	aligned    profile.Alignment
	diff       *profile.Diff

	changed, gained, lost []*profile.FunctionDiff
	units                 []*profile.UnitDiff // the units that have changed
	numUnits              [2]int
}

func newDiffReport(paths [2]string, profiles [2]*profile.Profile, o *kind.DiffOptions) *diffReport {
	r := &diffReport{
		DiffOptions: o,
		paths:       paths,
		difference:  profile.Compare(profiles[0], profiles[1]),
		aligned:     profile.Align(profiles[0], profiles[1]),
	}
	r.diff = profile.NewDiff(profiles[0], profiles[1])
	for i := range r.diff.Functions {
		switch f := &r.diff.Functions[i]; {
		case f.First.Functions == 0:
			r.gained = append(r.gained, f)
		case f.Second.Functions == 0:
			r.lost = append(r.lost, f)
		case f.Change() != 0 || f.Overlap != 1:
			r.changed = append(r.changed, f)
		}
	}
	for i := range r.diff.Units {
		u := &r.diff.Units[i]
		r.numUnits[0] += min(1, u.First.Functions)
		r.numUnits[1] += min(1, u.Second.Functions)
		if u.Change() != 0 || u.Overlap != 1 || u.Gained+u.Lost > 0 {
			r.units = append(r.units, u)
		}
	}
	return r
}

// json prints the report as JSON.
func (r *diffReport) json(w io.Writer) error {
	j := diffJSON{jsonstream.New(w), r}
	return j.report()
}

// A diffJSON writes a diffReport as JSON.
type diffJSON struct {
	*jsonstream.Writer
	of *diffReport
}

func (j *diffJSON) report() error {
	r := j.of
	j.Object("")
	j.side("first", 0, r.diff.First)
	j.side("second", 1, r.diff.Second)
	j.Bool("equal", r.difference == nil)
	if r.difference != nil {
		j.Name("difference", r.difference.Error())
	}
	j.overlap(&r.diff.Overlap)
	j.matched(&r.aligned)
	j.functions("changed", r.changed)
	j.functions("gained", r.gained)
	j.functions("lost", r.lost)
	j.units()
	j.Object("left_out")
	for _, list := range []struct {
		key string
		n   int
	}{{"changed", len(r.changed)}, {"gained", len(r.gained)}, {"lost", len(r.lost)}, {"units", len(r.units)}} {
		j.Uint(list.key, uint64(list.n-r.Number.Of(list.n)))
	}
	j.End()
	j.End()
	return j.Finish()
}

func (j *diffJSON) side(key string, which int, p profile.Portion) {
	j.Object(key)
	j.Name("file", j.of.paths[which])
	j.Uint("samples", p.Samples)
	j.Uint("functions", uint64(p.Functions))
	j.Uint("units", uint64(j.of.numUnits[which]))
	j.End()
}

func (j *diffJSON) overlap(o *profile.Overlap) {
	j.Object("overlap")
	j.Float("similarity", o.Similarity)
	j.Float("functions", o.Functions)
	j.Float("locations", o.Locations)
	j.Float("counts", o.Counts)
	j.Float("only_first", o.OnlyFirst)
	j.Float("only_second", o.OnlySecond)
	j.End()
}

func (j *diffJSON) matched(a *profile.Alignment) {
	j.Object("matched")
	j.Uint("same", uint64(a.Same))
	j.Array("folders")
	for _, r := range a.Roots {
		j.Object("")
		j.Name("first", r.First)
		j.Name("second", r.Second)
		j.Uint("units", uint64(r.Units))
		j.End()
	}
	j.End()
	j.Array("moved")
	for _, u := range a.Moved {
		j.Object("")
		j.Name("first", u.First)
		j.Name("second", u.Second)
		j.End()
	}
	j.End()
	j.End()
}

func (j *diffJSON) functions(key string, list []*profile.FunctionDiff) {
	j.Array(key)
	for _, f := range list[:j.of.Number.Of(len(list))] {
		j.Object("")
		j.Name("name", f.Name)
		if j.of.Demangle {
			j.Name("demangled", demangled.Name(f.Name))
		}
		j.Name("unit", f.Path)
		j.shares(f.First, f.Second, f.Change(), f.Overlap)
		j.End()
	}
	j.End()
}

func (j *diffJSON) units() {
	j.Array("units")
	for _, u := range j.of.units[:j.of.Number.Of(len(j.of.units))] {
		j.Object("")
		j.Name("unit", u.Path)
		j.shares(u.First, u.Second, u.Change(), u.Overlap)
		j.Uint("first_functions", uint64(u.First.Functions))
		j.Uint("second_functions", uint64(u.Second.Functions))
		j.Uint("gained", uint64(u.Gained))
		j.Uint("lost", uint64(u.Lost))
		j.End()
	}
	j.End()
}

func (j *diffJSON) shares(first, second profile.Portion, change, overlap float64) {
	j.Uint("first_samples", first.Samples)
	j.Uint("second_samples", second.Samples)
	j.Float("first_share", first.Share)
	j.Float("second_share", second.Share)
	j.Float("change", change)
	j.Float("overlap", overlap)
}

// text prints the report as text.
func (r *diffReport) text(w io.Writer) error {
	if err := r.head().Write(w, 0); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s\nOverlap\n%s", r.fill(alignedText(r.aligned)+r.verdict()+"\n"), r.overlaps().Text(2)); err != nil {
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

// head returns the table with the names and totals of the two profiles.
func (r *diffReport) head() *table.List {
	l := &table.List{Numbers: table.Table{Columns: "lrrr"}, Heading: "File", Width: r.Width}
	l.Numbers.Row("", "Samples", "Functions", "In units")
	for i, p := range [2]profile.Portion{r.diff.First, r.diff.Second} {
		l.Numbers.Row([2]string{"First", "Second"}[i], human.Number(p.Samples), human.Number(p.Functions), human.Number(r.numUnits[i]))
	}
	l.About = func(i int) (iter.Seq[string], string) { return table.Named(human.Name(r.paths[i])) }
	return l
}

// fill wraps a text to the width of the terminal. It shortens words that are longer than a line.
func (r *diffReport) fill(text string) string {
	if r.Width == 0 {
		return text
	}
	var filled strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := range words {
			words[i] = human.Shorten(words[i], max(3, r.Width-2))
		}
		filled.WriteString(human.Wrap("", 2, strings.Join(words, " "), r.Width))
	}
	return filled.String()
}

// alignedText describes, for messages, which units of two profiles were taken as the same although
// their paths differ. Each line describes one reason, such as two corresponding folders. It returns
// "" if there are no such units.
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

// maxMoved is the maximum number of units for which diff prints that their path has changed.
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
	shown, leftOut := table.First(functions, r.Number)
	l := &table.List{Numbers: table.Table{Columns: "rrrr"}, Heading: "Function", LeftOut: leftOut, Width: r.Width}
	l.Numbers.Row("First", "Second", "Points", "Overlap")
	l.Spare = []int{3}
	for _, f := range shown {
		l.Numbers.Row(shares(f.First, f.Second, f.Change(), f.Overlap)...)
	}
	l.About = func(i int) (iter.Seq[string], string) {
		return demangled.Forms(shown[i].Name, r.Demangle), human.Unit(shown[i].Path)
	}
	return writeList(w, title, len(functions), l)
}

func (r *diffReport) unitList(w io.Writer) error {
	shown, leftOut := table.First(r.units, r.Number)
	l := &table.List{Numbers: table.Table{Columns: "rrrrrr"}, Heading: "Unit", LeftOut: leftOut, Width: r.Width}
	l.Numbers.Row("First", "Second", "Points", "Overlap", "Gained", "Lost")
	l.Spare = []int{5, 4, 3}
	for _, u := range shown {
		l.Numbers.Row(append(shares(u.First, u.Second, u.Change(), u.Overlap), human.Number(u.Gained), human.Number(u.Lost))...)
	}
	l.About = func(i int) (iter.Seq[string], string) { return table.Named(human.Unit(shown[i].Path)) }
	return writeList(w, "Units that have changed", len(r.units), l)
}

// shares returns the cells that a row for a function and a row for a unit have in common: the share
// of samples in each of the two profiles, the change of the share, and the overlap.
func shares(first, second profile.Portion, change, overlap float64) []string {
	cell := func(p profile.Portion) string {
		if p.Functions == 0 {
			return "none"
		}
		return human.Percent(p.Share)
	}
	return []string{cell(first), cell(second), fmt.Sprintf("%+.2f", 100*change), human.Overlap(overlap)}
}

// writeList prints a list with a title and its number of rows. It prints nothing if the list is
// empty.
func writeList(w io.Writer, title string, n int, l *table.List) error {
	if n == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s: %s\n", title, human.Number(n)); err != nil {
		return err
	}
	return l.Write(w, 2)
}
