package main

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/kind/gcovkind"
)

const showHelp = `Print what FILE is: its format and size, the sizes of its sections by kind, its
summary, and how many units, symbols, functions and location records it has.

The sections are those of version 4. For a file of another format they are what
"afdo convert --to v4" would make of it.`

func newShowCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print header, sizes, summary and counts of a profile",
		Long:  showHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInput(args[0], func(in *gcovkind.Input) error { return gcovkind.Show(&e.Env, in, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
