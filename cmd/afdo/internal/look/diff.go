package look

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
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
--units lists units instead.

Profiles may also differ in head counts, calls, timestamps and symbols without
samples. The first difference of any kind is reported. Summaries and the numbering
of units and symbols are not compared.

JSON has these members, with shares of all samples from 0 to 1:

  {"first": {"file", "samples", "functions", "units"}, "second": {...}, "equal",
    "difference", "overlap": {"similarity", "functions", "locations", "counts",
    "only_first", "only_second"},
    "matched": {"same", "folders": [{"first", "second", "units"}, ...],
      "moved": [{"first", "second"}, ...]},
    "changed": [{"name", "demangled", "unit", "first_samples", "second_samples",
      "first_share", "second_share", "change", "overlap"}, ...],
    "gained": [...], "lost": [...],
    "units": [{"unit", "first_samples", "second_samples", "first_share",
      "second_share", "change", "overlap", "first_functions",
      "second_functions", "gained", "lost"}, ...],
    "left_out": {"changed", "gained", "lost", "units"}}

where "left_out" has how many of each --number left out.`

func NewDiff(e *verb.Env) *cobra.Command {
	var o kind.DiffOptions
	var plain, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the samples of two profiles",
		Long:  diffHelp,
		Args:  verb.Args("A", "B"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := verb.StdinOnce(args...); err != nil {
				return err
			}
			o.Demangle = o.Demangle && !plain
			o.Width = cli.Width(e.Out)
			differ, err := runDiff(e, [2]string(args), &o)
			if err == nil && differ && exitCode {
				return cli.StatusError(cli.StatusFault)
			}
			return err
		},
	}
	f := cmd.Flags()
	o.Number = 25
	f.VarP((*verb.Count)(&o.Number), "number", "n", "how many lines of each list to print, 0 for all")
	f.BoolVar(&o.ByUnit, "units", false, "list units instead of functions")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	f.BoolVar(&exitCode, "exit-code", false, "exit with status 1 if there is any difference")
	verb.AddDemangleFlags(cmd, &o.Demangle, &plain)
	e.AddKindFlags(cmd)
	return cmd
}

// runDiff has the kind of two files compare them.
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

// diffModels compares two profiles in memory.
func diffModels(e *verb.Env, files [2]*input.File, from [2]kind.CanLoad, o *kind.DiffOptions) (differ bool, err error) {
	paths := [2]string{files[0].Name, files[1].Name}
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	doing.Say("reading %s and %s", human.Name(paths[0]), human.Name(paths[1]))
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

// loadPair reads two profiles at the same time. If both fail, it returns the error of the first.
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

// sameNames returns two profiles in which the same functions have the same names. If only one of
// them contains the units of functions, both are compared without units.
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

// A diffReport is what diff prints.
type diffReport struct {
	*kind.DiffOptions
	paths      [2]string
	difference error // the first one of any kind, nil if there is none
	aligned    profile.Alignment
	diff       *profile.Diff

	changed, gained, lost []*profile.FunctionDiff
	units                 []*profile.UnitDiff // those that have changed
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

// shown returns how many of n lines are printed.
func (r *diffReport) shown(n int) int { return verb.Count(r.Number).Of(n) }

// name returns the name of a function for people, demangled in a form unless that is not wanted.
func (r *diffReport) name(f *profile.FunctionDiff, form func(string) string) string {
	name := f.Name
	if r.Demangle {
		name = form(name)
	}
	return human.Name(name)
}

// json prints the report for other programs.
func (r *diffReport) json(w io.Writer) error {
	j := diffJSON{jsonstream.New(w), r}
	return j.report()
}
