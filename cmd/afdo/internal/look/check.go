package look

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcdakind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

const checkHelp = `Print all problems of each FILE, one a line:

  FILE: fault: section 12 (symbol info) at offset 345: bad symbol: ...
  FILE: remark: section 0 (summary) at offset 121: summary disagrees: ...

A fault makes a part of the profile unreadable or ambiguous; a remark is unusual,
but legal. One defect may cause several problems: a misplaced section shifts the
indexes of those after it.

In a file of version 2 or 3 and in a text, reading stops at the first fault. If
there is none, names and summary are checked. The counters of a .gcda file are compared
with the notes of the compile, if there are any.

The exit status is 1 if any file has a fault, else 0. Nothing is printed for a
file without problems.`

func NewCheck(e *verb.Env) *cobra.Command {
	var asJSON bool
	var notes gcdakind.NotesFlag
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Print all problems of profiles",
		Long:  checkHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Missing("argument FILE")
			}
			return verb.StdinOnce(args...)
		},
		RunE: func(_ *cobra.Command, args []string) error { return checkFiles(e, args, notes, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	notes.AddTo(cmd)
	return cmd
}

// checkFiles checks all files, including files after one that cannot be read.
func checkFiles(e *verb.Env, paths []string, notes gcdakind.NotesFlag, asJSON bool) error {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	faulty := false
	err := output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		var p problemPrinter = &problemLines{w: w}
		if asJSON {
			p = newProblemJSON(w)
		}
		for _, path := range paths {
			doing.Say("checking %s", human.Name(path))
			faults, err := checkFile(e, path, notes, p)
			if err != nil {
				doing.Stop()
				e.Warnf("%s", cli.Message(err))
			}
			faulty = faulty || faults > 0 || err != nil
		}
		return p.finish()
	})
	if err == nil && faulty {
		return cli.StatusError(cli.StatusFault)
	}
	return err
}

// checkFile checks one file and returns how many faults it has. What keeps it from being read is an
// error.
func checkFile(e *verb.Env, path string, notes gcdakind.NotesFlag, printer problemPrinter) (faults int, err error) {
	printer.begin(input.Name(path))
	remarks := 0
	groups, err := runCheck(e, path, notes)
	for _, g := range groups {
		if g.Remark {
			remarks += g.Count
		} else {
			faults += g.Count
		}
		printer.problem(newProblem(g))
	}
	printer.end(faults, remarks, err)
	return faults, err
}

// runCheck returns all faults of a file. The error is an error of reading the file, not a fault in
// it, and names the file.
func runCheck(e *verb.Env, path string, notes gcdakind.NotesFlag) ([]check.Group, error) {
	f, err := input.Open(e.In, path)
	if errors.Is(err, anyprof.ErrUnknown) {
		return []check.Group{{Problem: afdo.Problem{Err: errors.Unwrap(err)}, Count: 1}}, nil // without the name
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.ReadAll()
	if err != nil {
		return nil, f.Wrap(err)
	}
	noted, err := notes.Of(f)
	if err != nil {
		return nil, f.Wrap(err)
	}
	return check.Fold(check.File(data, check.Options{
		Notes:       noted,
		Unqualified: slice.Names, FingerprintScheme: slice.FingerprintScheme, Fingerprints: gcovkind.UnitKeys,
		OverviewScheme: gcovkind.OverviewScheme, Overview: gcovkind.NewOverview,
	})), nil
}
