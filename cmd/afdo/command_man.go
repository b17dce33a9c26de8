package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/manpage"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
)

const manHelp = `Write the manual pages of the command and of its verbs into a folder, which is made
if need be: afdo.1, afdo-show.1 and so on. They say what the help says.`

// newManCommand returns a verb that the help does not list: it is for those who make packages.
func newManCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write manual pages",
		Long:   manHelp,
		Hidden: true,
		Args:   wantArgs("FOLDER"),
		RunE:   func(cmd *cobra.Command, args []string) error { return e.writeManual(cmd.Root(), args[0]) },
	}
}

func (e *env) writeManual(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if !cmd.IsAvailableCommand() && cmd != root {
			continue
		}
		err := output.Write(e.Out, filepath.Join(folder, manpage.Name(cmd)+".1"), func(w io.Writer) error {
			return manpage.Write(w, cmd, "afdo "+programVersion())
		})
		if err != nil {
			return err
		}
	}
	return nil
}
