package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
)

const unitsHelp = `Print a line for each unit of FILE: the number of symbols, the number of functions
with samples of their own, the sum of all counts in these functions including
inlined bodies, and the path. Symbols with an unknown
source file make the unit "(unknown)", in JSON "".`

func newUnitsCommand(e *env) *cobra.Command {
	var asJSON bool
	order := gcovkind.UnitOrder("file")
	cmd := &cobra.Command{
		Use:   "units FILE",
		Short: "List the units of a profile with their symbols and samples",
		Long:  unitsHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInput("units", args[0], func(in *gcovkind.Input) error { return gcovkind.ListUnits(&e.Env, in, order, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().Var(&order, "sort", "order of the lines: "+strings.Join(gcovkind.UnitOrderNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return gcovkind.UnitOrderNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
