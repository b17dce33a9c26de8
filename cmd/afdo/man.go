package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
)

const manHelp = `Write the manual pages of the command and of its verbs into a folder, which is made
if need be: afdo.1, afdo-show.1 and so on. They say what the help says.`

// newManCommand returns a verb that the help does not list: it is for those who make packages.
func newManCommand(e *verb.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write manual pages",
		Long:   manHelp,
		Hidden: true,
		Args:   verb.Args("FOLDER"),
		RunE:   func(cmd *cobra.Command, args []string) error { return writeManual(e, cmd.Root(), args[0]) },
	}
}

func writeManual(e *verb.Env, root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if !cmd.IsAvailableCommand() && cmd != root {
			continue
		}
		err := output.Write(e.Out, filepath.Join(folder, manpageName(cmd)+".1"), func(w io.Writer) error {
			return writeManpage(w, cmd, "afdo "+cli.ProgramVersion())
		})
		if err != nil {
			return err
		}
	}
	return nil
}
