package main

import (
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/demangled"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/jsonstream"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/profile"
)

const diffHelp = `Compare the samples of two profiles, which may be in different formats.

Overlaps range from 0, no sample at a place where the other has one, to 1. Apart
from Counts they compare shares of all samples, so it does not matter how long
the profiles were sampled.

  Similarity  the profile similarity of "llvm-profdata overlap --sample": the
              overlap of each function's locations, times 1 less the difference
              of the function's shares, weighted by the mean of these.
  Functions   the lesser of its two shares, summed over all functions.
  Locations   the same over all locations, what is inlined included.
  Counts      the lesser of the two counts, summed over all locations, divided
              by the sum of the greater, LLVM's sample overlap.
  Only        the samples at locations that the other profile does not have.

Functions are listed by how much their shares of all samples have changed. Their
overlap is that of their locations. With --units, units are listed instead.

Profiles may differ in what is no sample: head counts, calls, timestamps, symbols
that are only referred to. The first difference of any kind is said. Summaries
and the numbers of units and symbols make no difference.

JSON has these members, with shares of all samples from 0 to 1:

  {"first": {"file", "samples", "functions", "units"}, "second": {...}, "equal",
    "difference", "overlap": {"similarity", "functions", "locations", "counts",
    "only_first", "only_second"},
    "changed": [{"name", "demangled", "unit", "first_samples", "second_samples",
      "first_share", "second_share", "change", "overlap"}, ...],
    "gained": [...], "lost": [...],
    "units": [{"unit", "first_samples", "second_samples", "first_share",
      "second_share", "change", "overlap", "first_functions",
      "second_functions", "gained", "lost"}, ...],
    "left_out": {"changed", "gained", "lost", "units"}}

where "left_out" is how many of each --number has left out.`

func newDiffCommand(e *env) *cobra.Command {
	var o diffOptions
	var plain bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the samples of two profiles",
		Long:  diffHelp,
		Args:  wantArgs("A", "B"),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == cli.Stdio && args[1] == cli.Stdio {
				return cli.Usagef("standard input can be read only once")
			}
			o.demangle = o.demangle && !plain
			return e.diff([2]string(args), &o)
		},
	}
	f := cmd.Flags()
	f.UintVarP(&o.number, "number", "n", 25, "how many lines of each list to print, 0 for all")
	f.BoolVar(&o.byUnit, "units", false, "list units instead of functions")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with status 1 if there is any difference")
	addDemangleFlags(cmd, &o.demangle, &plain)
	return cmd
}

// diffOptions is what the flags ask for.
type diffOptions struct {
	number   uint
	byUnit   bool
	json     bool
	exitCode bool
	demangle bool
}

func (e *env) diff(paths [2]string, o *diffOptions) error {
	doing := progress.Start(e.Err)
	defer doing.Stop()
	doing.Say("reading %s and %s", human.Name(paths[0]), human.Name(paths[1]))
	profiles, err := e.loadPair(paths)
	if err != nil {
		return err
	}
	doing.Say("comparing %s and %s", human.Name(paths[0]), human.Name(paths[1]))
	r := newDiffReport(paths, profiles, o)
	doing.Stop()
	write := r.text
	if o.json {
		write = r.json
	}
	if err := output.Write(e.Out, cli.Stdio, write); err != nil {
		return err
	}
	if o.exitCode && r.difference != nil {
		return cli.StatusError(cli.StatusFault)
	}
	return nil
}

// loadPair reads two profiles at a time. The error is that of the first.
func (e *env) loadPair(paths [2]string) (profiles [2]*profile.Profile, err error) {
	var second error
	done := make(chan struct{})
	go func() {
		defer close(done)
		profiles[1], second = e.loadProfile(paths[1])
	}()
	profiles[0], err = e.loadProfile(paths[0])
	<-done
	if err == nil {
		err = second
	}
	return profiles, err
}

// A diffReport is what diff prints.
type diffReport struct {
	*diffOptions
	paths      [2]string
	diff       *profile.Diff
	difference error // the first one of any kind, nil if there is none

	changed, gained, lost []*profile.FunctionDiff
	units                 []*profile.UnitDiff // those that have changed
	numUnits              [2]int
}

func newDiffReport(paths [2]string, profiles [2]*profile.Profile, o *diffOptions) *diffReport {
	r := &diffReport{
		diffOptions: o,
		paths:       paths,
		diff:        profile.NewDiff(profiles[0], profiles[1]),
		difference:  profile.Compare(profiles[0], profiles[1]),
	}
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

// shown returns how many of n lines are to be printed.
func (r *diffReport) shown(n int) int {
	if r.number == 0 || uint(n) < r.number {
		return n
	}
	return int(r.number)
}

// name returns the name of a function for people.
func (r *diffReport) name(f *profile.FunctionDiff) string {
	name := f.Name
	if r.demangle {
		name = demangled.Name(name)
	}
	return human.Name(name)
}

// overlapText writes an overlap such that only 0 looks like 0 and only 1 like 1.
func overlapText(x float64) string {
	const digits, least = 6, 1e-6
	if x > 0 && x < 1 {
		x = math.Min(math.Max(x, least), 1-least)
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// json prints the report for other programs.
func (r *diffReport) json(w io.Writer) error {
	j := diffJSON{jsonstream.New(w), r}
	return j.report()
}
