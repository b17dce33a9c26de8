package look

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/report"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
	"github.com/spf13/cobra"
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

// reportOptions are the flags of the verb report.
type reportOptions struct {
	path           string      // path of the output
	functions      table.Count // maximum number of functions to list, 0 for all
	demangle       bool
	explained      string // path of the JSON from "afdo explain --json", or ""
	binary, source string // the program with debug info, and the directory of its sources
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
	cmd.Flags().VarP(&o.functions, "number", "n", "how many functions to list at most, 0 for all")
	cmd.Flags().StringVar(&o.source, "source", "", "directory that holds the sources")
	cmd.Flags().StringVar(&o.explained, "explained", "", "JSON of afdo explain, to show as well")
	verb.AddDemangleFlags(cmd, &o.demangle)
	e.AddKindFlags(cmd)
	// The kinds use the binary for units and names.
	cmd.Flags().Lookup("binary").Usage = "the program that was profiled, for the source of lines, and for names and units where FILE has none"
	return cmd
}

// wantOneOrTwo checks the number of arguments of the verb report. One argument is the FILE to draw.
// With two, the first is an earlier profile, with which FILE is compared.
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
	if o.demangle {
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

// A reportSide is a profile that the verb report draws: the only one, or one of the two that it
// compares.
type reportSide struct {
	kind.Drawing
	file      *input.File
	loaded    *kind.Loaded // nil for a kind that does not implement kind.CanLoad
	unitBytes []int64      // size in bytes of each unit in the file, by UnitRef
}

// openSide opens the file at a path and loads the profile in it, for the verb report. The caller
// closes the file.
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

// reportChange prepares two profiles for a page that compares them: it gives the same units and
// functions the same names. It returns an error if the counts of the two profiles do not mean the
// same thing, for example samples and bytes.
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

// mostExplained is the number of functions that a page lists among those for which compiles find
// the fewest counts.
const mostExplained = 10

// readExplained reads a file that "afdo explain --json" has written. It returns what the page of
// the verb report shows of it.
func readExplained(path string) (*report.Explained, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var facts compile.ExplainFacts
	if err := json.Unmarshal(data, &facts); err != nil || facts.Reasons == nil {
		return nil, fmt.Errorf("%s: not the JSON of afdo explain", human.Name(path))
	}
	shown := &report.Explained{Counts: facts.Counts, Share: facts.FoundShare}
	for _, r := range explain.Reasons {
		if n := facts.Reasons[r]; n > 0 {
			shown.Reasons = append(shown.Reasons, report.ReasonCounts{Reason: string(r), Counts: n})
		}
	}
	for _, f := range facts.Functions {
		if f.Reason == explain.Found || len(shown.Functions) == mostExplained {
			continue
		}
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		shown.Functions = append(shown.Functions, report.ExplainedFunction{
			Name: f.Demangled, Reason: string(f.Reason), At: at, Counts: f.Counts, Found: f.Found,
		})
	}
	return shown, nil
}

// A sourceFinder finds the source text for lines of a profile. It uses the debug info of a binary,
// because a profile counts lines from the declaration of the function.
type sourceFinder struct {
	env            *cli.Env
	ctx            context.Context
	profile        *profile.Profile
	binary, source string // the program, and the directory of its sources
}

// locate sets the line number and the text of each of the lines, which have only offsets from the
// declarations of their functions. A line whose source file does not exist gets only its number.
func (s *sourceFinder) locate(lines []report.Line) error {
	if err := s.number(lines); err != nil {
		return err
	}
	units := make(map[string][]*report.Line)
	missing := 0
	for i := range lines {
		if l := &lines[i]; l.Number > 0 {
			units[l.Unit] = append(units[l.Unit], l)
		}
	}
	for unit, lines := range units {
		if !s.read(unit, lines) {
			missing++
		}
	}
	if missing > 0 {
		s.env.Warnf("the sources of %d of %d units are not found: their lines have numbers alone", missing, len(units))
	}
	return nil
}

// number sets the line numbers of those lines for whose functions the debug info has the
// declaration.
func (s *sourceFinder) number(lines []report.Line) error {
	var functions []annotate.Name
	index := make(map[annotate.Name]int)
	for _, l := range lines {
		name := annotate.Name{Unit: l.Unit, Symbol: l.Function}
		if _, ok := index[name]; !ok {
			index[name] = len(functions)
			functions = append(functions, name)
		}
	}
	var holders []string
	for ref := range s.profile.Functions() {
		holders = append(holders, s.profile.SymbolName(ref))
	}
	declared, err := annotate.Declarations(s.ctx, s.binary, functions, holders)
	if errors.Is(err, annotate.ErrNoDeclaration) {
		s.env.Warnf("%s: no debug info of the functions with the hottest lines: lines are offsets", s.binary)
		return nil
	}
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		if at := declared[index[annotate.Name{Unit: l.Unit, Symbol: l.Function}]]; at > 0 {
			l.Number = max(0, int(at)+l.Offset)
		}
	}
	return nil
}

// read sets the texts of lines of one unit from the unit's source file. It returns false if it
// cannot read the file.
func (s *sourceFinder) read(unit string, lines []*report.Line) bool {
	path, err := annotate.FindSource(s.source, unit)
	if err != nil {
		return false
	}
	text, err := annotate.Text(path)
	if err != nil {
		return false
	}
	for _, l := range lines {
		if l.Number <= len(text) {
			l.Text = text[l.Number-1]
		}
	}
	return slices.ContainsFunc(lines, func(l *report.Line) bool { return l.Number <= len(text) })
}
