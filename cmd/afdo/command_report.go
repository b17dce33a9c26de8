package main

import (
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/demangled"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/report"
)

const reportHelp = `Write a page of HTML about FILE: a curve of its summary, a map of its units by
samples or by bytes, a flame graph of inlining, tables of units and functions that
can be sorted by any column, and a search.

The page is one file and loads nothing. It shows the hottest functions, and says
how many are missing.

The bytes of a unit are those of its string table, symbol names and samples in
version 4; for a FILE of another format, as "afdo convert --to v4" would write it.

OUT appears whole or not at all.`

func newReportCommand(e *env) *cobra.Command {
	var o kind.ReportOptions
	var plain bool
	var functions uint
	cmd := &cobra.Command{
		Use:   "report FILE -o OUT.html",
		Short: "Write a profile as a page of HTML",
		Long:  reportHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Path == cli.Stdio && cli.IsTerminal(e.Out) {
				return cli.Usagef("a page of HTML is not for a terminal: use -o FILE")
			}
			o.Demangle = o.Demangle && !plain
			o.Functions = int(min(functions, math.MaxInt32))
			if functions == 0 {
				o.Functions = math.MaxInt32 // more than there are symbols
			}
			return e.withFile(args[0], func(f *input.File, k kind.Kind) error {
				return dispatch(e, "report", k,
					func(k kind.CanReport) error { return k.Report(&e.Env, f, &o) },
					func(k kind.CanLoad) error { return e.report(f, k, &o) })
			})
		},
	}
	addOutputFlag(cmd, &o.Path)
	functions = report.DefaultFunctions
	cmd.Flags().VarP((*countFlag)(&functions), "number", "n", "how many functions to list at most, 0 for all")
	addDemangleFlags(cmd, &o.Demangle, &plain)
	e.addKindFlags(cmd)
	return cmd
}

func (e *env) report(f *input.File, k kind.CanLoad, o *kind.ReportOptions) error {
	doing := progress.Start(e.Err)
	doing.Say("reading %s", human.Name(f.Name))
	defer doing.Stop()
	l, err := k.Load(f)
	if err != nil {
		return err
	}
	var bytes []int64
	if isGCOV(k) {
		if bytes, err = gcovkind.UnitBytes(l.Profile, l.Reader); err != nil {
			return err
		}
	}
	options := report.Options{
		Source:    filepath.Base(f.Name),
		Format:    l.Format,
		Size:      l.Size,
		UnitBytes: bytes,
		Functions: o.Functions,
		Units:     report.DefaultUnits,
		Frames:    report.DefaultFrames,
	}
	if o.Demangle {
		options.Name = demangled.Bounded
	}
	doing.Say("writing %s", human.Name(o.Path))
	return output.Write(e.Out, o.Path, func(w io.Writer) error { return report.Write(w, l.Profile, options) })
}
