package produce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase"
)

const rebaseHelp = `Move the counts of PROFILE to where their lines are in sources that were edited since.

A count stands at a line that is counted from the declaration of its function, so
whoever inserts a line moves all counts below it to the wrong ones. Each function is
found in the old sources and in the new ones, and its lines are aligned. Counts of
lines that are gone are left out. A function whose lines are the same keeps its
records. docs/guide/rebase.md says what is found.

The old sources are those that the profiled program was built from. A profile that
"afdo create" made remembers enough of them, if it could read them. Otherwise:
  --old-source DIR         a folder with them; may be several

The new ones are what is to be compiled:
  --source DIR             a folder with them; may be several
  --compile-commands FILE  what the commands of a compilation database read
  --binary NEW             a program that was built from them, whose debug info says
                           exactly which function is where, and what it is called now

The output has the format of PROFILE unless told otherwise. The report tells what has
become of the functions; with --dry-run it is all that is made.

A function is "unknown" if the old sources do not have it, and stays as it is. It is
"unchanged", "moved" if some of its lines are elsewhere, "mapped in part" if some of them
are gone, "renamed" or "lost".`

// A rebasing contains the flags of the verb rebase and the sources that it has read.
type rebasing struct {
	out                 verb.Output
	oldSources, sources []string
	binary, database    string
	json, dry           bool
	report              rebaseReport
	old, new            rebase.Sources
	progress            *progress.Line
}

func NewRebase(e *verb.Env) *cobra.Command {
	var r rebasing
	cmd := &cobra.Command{
		Use:   "rebase PROFILE -o OUT {--source DIR... | --compile-commands FILE | --binary NEW} [--old-source DIR...]",
		Short: "Move a profile to sources that were edited since",
		Long:  rebaseHelp,
		Args:  verb.Args("PROFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			return runRebase(cmd.Context(), e, args[0], &r)
		},
	}
	f := cmd.Flags()
	f.Var(kind.ProgramFlag(&r.binary), "binary", "program that was built from the new sources, with debug info")
	r.out.AddFlags(e, cmd)
	f.Lookup("output").DefValue = ""
	r.out.Path = ""
	f.StringArrayVar(&r.oldSources, "old-source", nil, "folder with the sources that were profiled, if the profile does not remember them")
	f.StringArrayVar(&r.sources, "source", nil, "folder with the sources to be compiled")
	f.StringVar(&r.database, "compile-commands", "", "compilation database of the new sources, compile_commands.json")
	f.BoolVar(&r.dry, "dry-run", false, "report what would be moved, and write nothing")
	f.BoolVar(&r.json, "json", false, "report as JSON on standard output")
	r.report.number = 25
	f.VarP(&r.report.number, "number", "n", "how many functions to print, 0 for all")
	verb.AddDemangleFlags(cmd, &r.report.demangle)
	return cmd
}

// check returns an error for flags that contradict each other, before any work is done.
func (r *rebasing) check() error {
	switch {
	case r.dry && r.out.Path != "":
		return cli.Usagef("--dry-run writes no file: leave -o away")
	case !r.dry && r.out.Path == "":
		return cli.Missing("flag -o or --dry-run")
	case r.json && r.out.Path == cli.Stdio:
		return cli.Usagef("--json writes to standard output: name a file for the profile with -o")
	case len(r.sources) == 0 && r.database == "" && r.binary == "":
		return cli.Missing("flag --source, --compile-commands or --binary, which says where the new sources are")
	}
	return nil
}

// runRebase moves the counts of a profile to the lines that they have in edited sources. It writes
// the result, and prints what became of the counts.
func runRebase(ctx context.Context, e *verb.Env, path string, r *rebasing) error {
	r.progress = progress.Start(e.Progress())
	defer r.progress.Stop()
	if err := r.readSources(ctx, e); err != nil {
		return err
	}
	return e.WithFile(path, func(f *input.File, k kind.Kind) error {
		r.progress.Say("rebasing %s", human.Name(path))
		report, err := r.do(e, f, k)
		r.progress.Stop()
		if report == nil || err != nil && !errors.Is(err, rebase.ErrNothing) {
			return err
		}
		r.report.path, r.report.Report = path, report
		if tell := r.tell(e); tell != nil {
			return tell
		}
		return err
	})
}

func (r *rebasing) do(e *verb.Env, f *input.File, k kind.Kind) (report *rebase.Report, err error) {
	ask := &kind.Rebase{New: &r.new}
	if len(r.oldSources) > 0 {
		ask.Old = &r.old
	}
	if !r.dry {
		ask.Output = func(format string) (kind.Output, kind.Kind, error) {
			r.out.To.Name = cmp.Or(r.out.To.Name, format)
			err := r.out.Resolve(e)
			return r.out.Out, r.out.Kind, err
		}
	}
	err = verb.Dispatch(e, "rebase", k, func(own kind.CanRebase) error {
		report, err = own.Rebase(&e.Env, f, ask)
		return err
	}, func(from kind.CanLoad) error {
		report, err = kind.RebaseModel(&e.Env, from, f, ask)
		return err
	})
	if errors.Is(err, rebase.ErrNoSources) {
		err = fmt.Errorf("%w: name them with --old-source", err)
	}
	return report, err
}

// tell prints the report on how the counts of functions were moved.
func (r *rebasing) tell(e *verb.Env) error {
	switch {
	case r.json:
		return r.report.json(e.Out)
	case r.out.Path == cli.Stdio:
		e.Warnf("%s", r.report.summary())
		return nil
	}
	return r.report.text(e.Out)
}

// readSources reads the old and the new source files that the flags name.
func (r *rebasing) readSources(ctx context.Context, e *verb.Env) error {
	for _, dir := range r.oldSources {
		r.progress.Say("reading %s", human.Name(dir))
		if err := r.old.AddFolder(dir); err != nil {
			return err
		}
	}
	for _, dir := range r.sources {
		r.progress.Say("reading %s", human.Name(dir))
		if err := r.new.AddFolder(dir); err != nil {
			return err
		}
	}
	if r.database != "" {
		if err := r.readCommands(ctx, e); err != nil {
			return err
		}
	}
	if r.binary != "" {
		return r.readBinary(ctx)
	}
	return nil
}

// readBinary reads declarations of functions from the debug info of a program. If no flag names the
// sources, it also reads the source files of these declarations.
func (r *rebasing) readBinary(ctx context.Context) error {
	r.progress.Say("reading debug info of %s", human.Name(r.binary))
	file, err := symbolize.Open(r.binary)
	if err != nil {
		return err
	}
	defer file.Close()
	declarations, err := rebase.Declarations(ctx, file)
	if err != nil {
		return err
	}
	if len(r.sources) == 0 && r.database == "" {
		last, read := "", 0
		for _, d := range declarations { // by file
			if d.File == last {
				continue
			}
			last = d.File
			if r.new.ReadFile(d.File) == nil {
				read++
			}
		}
		if read == 0 {
			return fmt.Errorf("%s: none of the sources that debug info names can be read; --source tells where they are", human.Name(r.binary))
		}
	}
	r.new.Declare(declarations)
	return nil
}

// readCommands reads the source files and headers that the commands of a compilation database
// compile or include.
func (r *rebasing) readCommands(ctx context.Context, e *verb.Env) error {
	commands, _, err := verb.ReadDatabase(r.database)
	if err != nil {
		return err
	}
	cache, err := store.Default()
	if err != nil {
		e.Warnf("%v", err)
	}
	seen := make(map[string]bool)
	for i, c := range commands {
		r.progress.Say("reading what %d of %d commands read", i+1, len(commands))
		in, err := c.Inputs(ctx, cache)
		if err != nil {
			e.Warnf("%s: %v: its headers are not looked at", human.Name(c.Sources[0]), err)
			in = &inputs.Inputs{Files: c.Sources}
		}
		for _, path := range c.Paths(in.Files) {
			if !seen[path] && r.new.ReadFile(path) == nil {
				seen[path] = true
			}
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("%s: no source of its commands can be read", human.Name(r.database))
	}
	return nil
}

// A rebaseReport is what the verb rebase prints: what became of the counts of each function.
type rebaseReport struct {
	*rebase.Report
	path     string
	number   table.Count
	demangle bool
}

// A rebaseOutcome has the sums over all functions whose counts were moved with the same outcome,
// such as "lost".
type rebaseOutcome struct {
	Outcome       string
	Functions     int
	Samples, Kept uint64
}

// outcomes returns a sum of functions and counts for each outcome that occurred.
func (r *rebaseReport) outcomes() []rebaseOutcome {
	var all [rebase.Lost + 1]rebaseOutcome
	for i := range r.Functions {
		f := &r.Functions[i]
		o := &all[f.Outcome]
		o.Outcome = f.Outcome.String()
		o.Functions++
		o.Samples = saturating.Add(o.Samples, f.Samples)
		o.Kept = saturating.Add(o.Kept, f.Kept)
	}
	list := []rebaseOutcome{}
	for _, o := range all {
		if o.Functions > 0 {
			list = append(list, o)
		}
	}
	return list
}

// summary returns the report in one line: how many functions had each outcome, and which share of
// the samples still belongs to a line.
func (r *rebaseReport) summary() string {
	var parts []string
	for _, o := range r.outcomes() {
		parts = append(parts, human.Number(o.Functions)+" "+o.Outcome)
	}
	return "functions: " + strings.Join(parts, ", ") + "; " + human.Percentage(r.Kept, r.Samples) + " of the samples have a line"
}

// text prints the report as text.
func (r *rebaseReport) text(stdout io.Writer) error {
	return output.Write(stdout, cli.Stdio, func(w io.Writer) error {
		totals := table.Table{Columns: "lrrr"}
		totals.Row("Outcome", "Functions", "Samples", "With a line")
		for _, o := range r.outcomes() {
			totals.Row(o.Outcome, human.Number(o.Functions), human.Number(o.Samples), human.Percentage(o.Kept, o.Samples))
		}
		totals.Row("all", human.Number(len(r.Functions)), human.Number(r.Samples), human.Percentage(r.Kept, r.Samples))
		list := table.Table{Columns: "rrll"}
		shown := table.Count(0)
		for i := range r.Functions {
			f := &r.Functions[i]
			switch {
			case f.Outcome == rebase.Unchanged || f.Outcome == rebase.Unknown:
			case r.number == 0 || shown < r.number:
				shown++
				list.Row(human.Number(f.Samples), human.Percentage(f.Kept, f.Samples), f.Outcome.String(), r.names(f))
			}
		}
		text := totals.Text(0)
		if !list.Empty() {
			text += "\n" + list.Text(0)
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

// names returns the name of a function for printing. If the function was renamed, it returns the
// old and the new name.
func (r *rebaseReport) names(f *rebase.Function) string {
	name := func(symbol string) string {
		if r.demangle {
			symbol = demangled.Name(symbol)
		}
		return human.Name(symbol)
	}
	if f.Symbol == f.NewSymbol {
		return name(f.Symbol)
	}
	return name(f.Symbol) + " -> " + name(f.NewSymbol)
}

// json prints the report as JSON.
func (r *rebaseReport) json(stdout io.Writer) error {
	return output.Write(stdout, cli.Stdio, func(w io.Writer) error {
		j := jsonstream.New(w)
		j.Object("")
		j.Name("file", r.path)
		j.Uint("samples", r.Samples)
		j.Uint("kept", r.Kept)
		j.Array("outcomes")
		for _, o := range r.outcomes() {
			j.Object("")
			j.Name("outcome", o.Outcome)
			j.Uint("functions", uint64(o.Functions))
			j.Uint("samples", o.Samples)
			j.Uint("kept", o.Kept)
			j.End()
		}
		j.End()
		j.Array("functions")
		for i := range r.Functions {
			f := &r.Functions[i]
			j.Object("")
			j.Name("name", f.Symbol)
			j.Name("unit", f.Unit)
			j.Name("outcome", f.Outcome.String())
			j.Name("new_name", f.NewSymbol)
			j.Name("new_unit", f.NewUnit)
			j.Uint("samples", f.Samples)
			j.Uint("kept", f.Kept)
			j.End()
		}
		j.End()
		j.End()
		return j.Finish()
	})
}
