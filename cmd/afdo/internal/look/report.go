package look

import (
	"cmp"
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/report"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

const reportHelp = `Write a page of HTML about FILE: a curve of its summary, a map of its units by
samples or by bytes, a flame graph of inlining, tables of units, functions, lines
and calls that can be sorted by any column, and a search.

With two profiles, the page shows how FILE differs from A, the one before: which
functions and units grew and which shrank, and a flame graph of that. Shares of all
samples are compared, so the length of the runs does not matter.

A profile counts lines from the declaration of each function. With --binary, the
debug info of the program tells where that is, and the page has the hottest lines
by their numbers and with their source, which is searched below --source as by
"afdo annotate".

With --explained, the page also says what compilers made of FILE, as the JSON of
"afdo explain" has it.

The page is one file and loads nothing. It shows what is hottest, and says how
much is missing.

The bytes of a unit are those of its string table, symbol names and samples in
version 4; for a FILE of another format, as "afdo convert --to v4" would write it.

OUT appears whole or not at all.`

// reportOptions is what the verb report is asked for.
type reportOptions struct {
	path            string // of the output
	functions       uint   // how many to list at most, 0 for all
	demangle, plain bool
	explained       string // what "afdo explain --json" has printed
	binary, source  string // the program with debug info, and the directory of its sources
}

func NewReport(e *verb.Env) *cobra.Command {
	o := reportOptions{functions: report.DefaultFunctions}
	cmd := &cobra.Command{
		Use:   "report [A] FILE [-o OUT.html]",
		Short: "Write a profile, or what changed between two, as a page of HTML",
		Long:  reportHelp,
		Args:  wantOneOrTwo,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.binary, err = cmd.Flags().GetString("binary"); err != nil {
				return err
			}
			switch {
			case o.path == cli.Stdio && cli.IsTerminal(e.Out):
				return cli.Usagef("a page of HTML is not for a terminal: use -o FILE")
			case o.source != "" && o.binary == "":
				return cli.Usagef("--source needs --binary, which tells where functions are declared")
			}
			if err := cmp.Or(verb.StdinOnce(args...), verb.NotOnto(o.path, args...)); err != nil {
				return err
			}
			return runReport(cmd.Context(), e, args, &o)
		},
	}
	verb.AddOutputFlag(cmd, &o.path)
	cmd.Flags().VarP((*verb.Count)(&o.functions), "number", "n", "how many functions to list at most, 0 for all")
	cmd.Flags().StringVar(&o.source, "source", "", "directory that holds the sources")
	cmd.Flags().StringVar(&o.explained, "explained", "", "JSON of afdo explain, to show as well")
	verb.AddDemangleFlags(cmd, &o.demangle, &o.plain)
	e.AddKindFlags(cmd)
	// The kinds use the binary for units and names.
	cmd.Flags().Lookup("binary").Usage = "the program that was profiled, for the source of lines, and for names and units where FILE has none"
	return cmd
}

// wantOneOrTwo takes the FILE, or what to compare it with before it.
func wantOneOrTwo(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return verb.Args("A", "FILE")(cmd, args)
	}
	return verb.Args("FILE")(cmd, args)
}

func runReport(ctx context.Context, e *verb.Env, paths []string, o *reportOptions) error {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	sides := make([]*reportSide, len(paths))
	for i, path := range paths {
		doing.Say("reading %s", human.Name(path))
		var err error
		if sides[i], err = openSide(e, path); err != nil {
			return err
		}
		defer sides[i].file.Close()
	}
	last := sides[len(sides)-1]
	options := report.Options{
		Source:    filepath.Base(last.file.Name),
		Functions: int(min(o.functions, math.MaxInt32)),
		Units:     report.DefaultUnits,
		Frames:    report.DefaultFrames,
		Calls:     report.DefaultCalls,
		Lines:     report.DefaultLines,
	}
	if o.functions == 0 {
		options.Functions = math.MaxInt32 // more than there are symbols
	}
	if o.demangle && !o.plain {
		options.Name, options.Short = demangled.Bounded, demangled.Brief
	}
	if len(sides) == 2 {
		if err := reportChange(e, [2]*reportSide(sides)); err != nil {
			return err
		}
		options.Before, options.BeforeSource = sides[0].Profile, filepath.Base(sides[0].file.Name)
	}
	switch {
	case last.loaded == nil && o.source != "":
		return cli.Usagef("--source is for profiles of samples, and %s is none", human.Name(last.file.Name))
	case last.loaded != nil && o.binary != "":
		options.Locate = (&sourceFinder{&e.Env, ctx, last.Profile, o.binary, o.source}).locate
	}
	if o.explained != "" {
		var err error
		if options.Explained, err = readExplained(o.explained); err != nil {
			return err
		}
	}
	options.Format, options.Note, options.Size, options.UnitBytes = last.Format, last.Note, last.Size, last.unitBytes
	doing.Say("writing %s", human.Name(o.path))
	return output.Write(e.Out, o.path, func(w io.Writer) error { return report.Write(w, last.Profile, options) })
}

// A reportSide is a profile that is drawn.
type reportSide struct {
	kind.Drawing
	file      *input.File
	loaded    *kind.Loaded // nil for a kind that package profile does not hold
	unitBytes []int64      // what its units take, by UnitRef
}

// reportSide reads a profile. The caller closes its file.
func openSide(e *verb.Env, path string) (side *reportSide, err error) {
	f, k, err := e.OpenFile(path)
	if err != nil {
		return nil, err
	}
	side = &reportSide{file: f}
	err = verb.Dispatch(e, "report", k,
		func(k kind.CanReport) error {
			d, err := k.Drawing(&e.Env, f)
			if err == nil {
				side.Drawing = *d
			}
			return err
		},
		func(k kind.CanLoad) error { return side.load(k) })
	if err != nil {
		f.Close()
		return nil, f.Wrap(err)
	}
	return side, nil
}

func (s *reportSide) load(k kind.CanLoad) error {
	l, err := k.Load(s.file)
	if err != nil {
		return err
	}
	s.loaded = l
	s.Drawing = kind.Drawing{Profile: l.Profile, Format: l.Format, Size: l.Size}
	if verb.IsGCOV(k) {
		s.unitBytes, err = gcovkind.UnitBytes(l.Profile, l.Reader)
	}
	return err
}

// reportChange makes sure that two profiles can be compared.
func reportChange(e *verb.Env, sides [2]*reportSide) error {
	if sides[0].Note != sides[1].Note {
		return cli.Usagef("%s and %s do not count the same things", human.Name(sides[0].file.Name), human.Name(sides[1].file.Name))
	}
	if sides[0].loaded == nil {
		return nil
	}
	named, err := sameNames(e, [2]*input.File{sides[0].file, sides[1].file}, [2]*kind.Loaded{sides[0].loaded, sides[1].loaded})
	if err != nil {
		return err
	}
	for i, s := range sides {
		if s.Profile != named[i] { // it has no units now
			s.Profile, s.unitBytes = named[i], nil
		}
	}
	// Source, debug info and paths belong to the second profile.
	if text := alignedText(profile.Align(named[1], named[0])); text != "" {
		e.Warnf("%s", strings.TrimSuffix(text, "\n"))
	}
	return nil
}
