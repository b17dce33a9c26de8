package look

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
)

const lookupHelp = `Print the unit of FILE whose path is PATH, or ends in PATH at a "/" if only one
does. In a version 4 file only this unit and the names of its callees are read.
With --symbol, print that symbol alone. The output is a complete profile in the
textual form of version 4.

With --symbol but without --unit, list the units that have a symbol of that name,
and the functions in which it is inlined where it has no samples of its own. Of a
file of version 4 that takes an index.

NAME may be the name as the assembler has it, or as the source has it, with or
without parameters and template arguments, or the end of that from a "::" on if
only one symbol has it: StrPair::GetStr for tinyxml2::StrPair::GetStr().

The output of --demangle is for people: it may not parse. JSON has demangled names
in addition to the others.`

func NewLookup(e *verb.Env) *cobra.Command {
	l := kind.LookupOptions{Number: 25}
	cmd := &cobra.Command{
		Use:   "lookup FILE {--unit PATH [--symbol NAME] | --symbol NAME}",
		Short: "Print one unit or symbol of a profile",
		Long:  lookupHelp,
		Args:  verb.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.HasUnit, l.HasSymbol = cmd.Flags().Changed("unit"), cmd.Flags().Changed("symbol")
			if !l.HasUnit && !l.HasSymbol {
				return cli.Missing("flag --unit or --symbol")
			}
			return e.WithParts(args[0], func(f *input.File, k kind.Kind) error {
				return verb.Dispatch(e, "lookup", k, func(k kind.CanLookup) error { return k.Lookup(&e.Env, f, &l) }, nil)
			})
		},
	}
	f := cmd.Flags()
	f.VarP(verb.OnceFlag(&l.Unit), "unit", "u", "path of a unit, or the end of one")
	f.VarP(verb.OnceFlag(&l.Symbol), "symbol", "s", "name of a symbol, as the assembler or the source has it, or its end")
	f.VarP(&l.Number, "number", "n", "how many of the functions in which a symbol is inlined to print, 0 for all")
	f.BoolVar(&l.JSON, "json", false, "print JSON")
	f.BoolVar(&l.Demangle, "demangle", false, "print the names of C++ and Rust functions as in the source")
	_ = cmd.RegisterFlagCompletionFunc("unit", e.CompleteUnits)
	_ = cmd.RegisterFlagCompletionFunc("symbol", e.CompleteSymbols)
	e.AddKindFlags(cmd)
	return cmd
}
