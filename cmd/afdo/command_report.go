package main

import (
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/demangled"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/report"
)

const reportHelp = `Write FILE as a page of HTML to look at: a curve of its summary, a map of its
units by samples or by bytes, a flame graph of what is inlined where, tables of
units and functions that sort by any column, and a search through all of them.

The page is one file that loads nothing else. It has the hottest functions, and
says how many it leaves out.

What a unit has in bytes are its string table, its symbol names and the samples
of its functions in version 4, for FILE of another format those that "afdo
convert --to v4" would make.

OUT appears whole or not at all.`

func newReportCommand(e *env) *cobra.Command {
	var path string
	var demangle, plain bool
	var functions uint
	cmd := &cobra.Command{
		Use:   "report FILE -o OUT.html",
		Short: "Write a profile as a page of HTML",
		Long:  reportHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if path == cli.Stdio && cli.IsTerminal(e.Out) {
				return cli.Usagef("a page of HTML is not for a terminal: use -o FILE")
			}
			if functions == 0 {
				functions = math.MaxInt32 // more than there are symbols
			}
			return e.withInput(args[0], func(in *gcovkind.Input) error {
				return e.report(in, path, demangle && !plain, int(min(functions, math.MaxInt32)))
			})
		},
	}
	addOutputFlag(cmd, &path)
	cmd.Flags().UintVarP(&functions, "number", "n", report.DefaultFunctions, "how many functions to list at most, 0 for all")
	addDemangleFlags(cmd, &demangle, &plain)
	return cmd
}

func (e *env) report(in *gcovkind.Input, path string, demangle bool, functions int) error {
	doing := progress.Start(e.Err)
	doing.Say("reading %s", human.Name(in.Name))
	defer doing.Stop()
	p, err := in.Profile()
	if err != nil {
		return err
	}
	r, err := in.Reader()
	if err != nil {
		return err
	}
	bytes, err := gcovkind.UnitBytes(p, r)
	if err != nil {
		return err
	}
	options := report.Options{
		Source:    filepath.Base(in.Name),
		Format:    in.Format.String(),
		Size:      in.Size(),
		UnitBytes: bytes,
		Functions: functions,
		Units:     report.DefaultUnits,
		Frames:    report.DefaultFrames,
	}
	if demangle {
		options.Name = demangled.Bounded
	}
	doing.Say("writing %s", human.Name(path))
	return output.Write(e.Out, path, func(w io.Writer) error { return report.Write(w, p, options) })
}
