package main

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
)

const showHelp = `Print what FILE is: its format and size, the sizes of its sections by kind, its
summary, and how many units, symbols, functions and location records it has.

The sections are those of version 4. For a file of another format they are what
"afdo convert --to v4" would make of it.`

func newShowCommand(e *env) *cobra.Command {
	var o kind.ShowOptions
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print header, sizes, summary and counts of a profile",
		Long:  showHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withFile(args[0], func(f *input.File, k kind.Kind) error {
				return dispatch(e, "show", k, func(k kind.CanShow) error { return k.Show(&e.Env, f, &o) }, nil)
			})
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	e.addKindFlags(cmd)
	return cmd
}
