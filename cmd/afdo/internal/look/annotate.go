package look

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
)

const annotateHelp = `Print the source of a unit with the samples of each line, the functions that it
called and what was inlined there.

A profile counts lines from the declaration of each function and does not say
where that is. The debug info of the program does: --binary names it. Without it,
the lines of each function are listed as offsets from its declaration.

The samples of a line are the sum of all its counts, in the function itself and
in the copies of it that are inlined in functions of the same unit. --source
names a directory to search for the unit's path, with or without its first
directories; otherwise the path is used as it is.`

type annotateOptions struct {
	unit, symbol   string
	binary, source string
	context        int
	all, json      bool
	color          string
}

func NewAnnotate(e *verb.Env) *cobra.Command {
	var a annotateOptions
	cmd := &cobra.Command{
		Use:   "annotate FILE --unit PATH [--symbol NAME] [--binary BIN] [--source DIR]",
		Short: "Print the source of a unit with its samples",
		Long:  annotateHelp,
		Args:  verb.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("unit"):
				return cli.Missing("flag --unit")
			case a.source != "" && a.binary == "":
				return cli.Usagef("--source needs --binary, which tells where functions are declared")
			case a.context < 0:
				return cli.Usagef("--context is %d, want 0 or more", a.context)
			}
			return e.WithGCOVParts("annotate", args[0], func(in *gcovkind.Input) error { return runAnnotate(cmd.Context(), e, in, &a) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&a.unit, "unit", "u", "", "path of a unit, or the end of one")
	f.StringVarP(&a.symbol, "symbol", "s", "", "only this function: its name, as the assembler or the source has it, or its end")
	f.Var(kind.ProgramFlag(&a.binary), "binary", "the program that was profiled, with debug info")
	f.StringVar(&a.source, "source", "", "directory that holds the sources")
	f.IntVarP(&a.context, "context", "C", 2, "lines of source around those with samples")
	f.BoolVar(&a.all, "all", false, "print all lines of the source")
	f.BoolVar(&a.json, "json", false, "print JSON")
	verb.AddChoice(cmd, &a.color, "color", "", "colour hot lines", verb.Words([]string{"auto", "always", "never"})...)
	_ = cmd.RegisterFlagCompletionFunc("unit", e.CompleteUnits)
	_ = cmd.RegisterFlagCompletionFunc("symbol", e.CompleteSymbols)
	return cmd
}

func runAnnotate(ctx context.Context, e *verb.Env, in *gcovkind.Input, a *annotateOptions) error {
	r, err := in.Reader()
	if err != nil {
		return err
	}
	u, err := find.Unit(r, a.unit)
	if err != nil {
		return err
	}
	var only *afdo.Symbol
	if a.symbol != "" {
		s, err := find.Symbol(u, a.symbol)
		if err != nil {
			return err
		}
		only = &s
	}
	l, err := annotate.Read(u, only)
	if err != nil {
		return err
	}
	if a.binary == "" {
		return printListing(e, r, l, "", a)
	}
	if err := l.Declare(ctx, a.binary); err != nil {
		return err
	}
	source, err := annotate.FindSource(a.source, u.Path())
	if err != nil {
		return err
	}
	return printListing(e, r, l, source, a)
}

// printListing prints the samples of a unit's functions. It prints them beside the lines of the
// source file at the path source or, if source is "", by line offsets from the declarations of the
// functions.
func printListing(e *verb.Env, r *afdo.Reader, l *annotate.Listing, source string, a *annotateOptions) error {
	name := func(id afdo.SymbolID) (string, error) {
		s, err := r.SymbolByID(id)
		if err != nil {
			return "", err
		}
		return s.Name(), nil
	}
	if a.json {
		j, err := l.JSON(source, name)
		if err != nil {
			return err
		}
		return output.JSON(e.Out, j)
	}
	readable := func(id afdo.SymbolID) (string, error) {
		n, err := name(id)
		return demangled.Short(n), err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		colored := a.color == "always" || a.color == "auto" && cli.Colored(e.Out, cli.Red, "") != "" // not with NO_COLOR
		p := annotate.Printer{Out: w, Name: readable, Context: a.context, Color: colored}
		if a.all {
			p.Context = -1
		}
		if source == "" {
			return p.Offsets(l)
		}
		rows, beyond, err := l.Rows(source)
		if err != nil {
			return err
		}
		if beyond > 0 {
			e.Warnf("%s: %d lines with samples are not in it: it may not be the source of the binary", source, beyond)
		}
		return p.Source(l, source, rows)
	})
}
