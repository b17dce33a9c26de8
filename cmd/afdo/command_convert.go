package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/textfmt"
)

const convertHelp = `Write the profile IN in another format, or in the same one anew. What OUT cannot
hold is said on standard error; a value that does not fit is refused, never cut.
The summary is carried over, and computed if IN has none.

` + trim.Help + `

OUT appears whole or not at all.`

func newConvertCommand(e *env) *cobra.Command {
	var out outputFlags
	var trimming trim.Flags
	cmd := &cobra.Command{
		Use:   "convert IN -o OUT --to FORMAT",
		Short: "Convert a profile to another format",
		Long:  convertHelp,
		Args:  wantArgs("IN"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.check(e); err != nil {
				return err
			}
			return e.withInput(args[0], func(in *gcovkind.Input) error { return e.convert(in, out, &trimming) })
		},
	}
	out.addFlags(cmd)
	trimming.AddTo(cmd)
	return cmd
}

func (e *env) convert(in *gcovkind.Input, out outputFlags, trim *trim.Flags) error {
	var doing *progress.Line
	if !out.onTerminal(e) {
		doing = progress.Start(e.Err)
	}
	doing.Say("converting %s to %s", human.Name(in.Name), out.format.String())
	defer doing.Stop()
	if !in.Format.V4() {
		return e.convertProfile(in, out, trim)
	}
	extensions := in.CountExtensions()
	var err error
	if out.format == gcovkind.Text && !trim.Any() {
		err = e.convertToText(in, out)
	} else {
		err = e.convertProfile(in, out, trim)
	}
	if err != nil {
		return err
	}
	e.reportExtensions(<-extensions)
	return nil
}

// convertProfile goes through the whole profile in memory.
func (e *env) convertProfile(in *gcovkind.Input, out outputFlags, trim *trim.Flags) error {
	p, err := in.Profile()
	if err != nil {
		return err
	}
	p, notes := trim.Apply(p)
	if err := e.writeProfile(out, p); err != nil {
		return err
	}
	e.note(notes)
	return nil
}

// convertToText holds no more of a version 4 file than a unit.
func (e *env) convertToText(in *gcovkind.Input, out outputFlags) error {
	r, err := in.Reader()
	if err != nil {
		return err
	}
	return output.Write(e.Out, out.path, func(w io.Writer) error { return textfmt.Print(w, r) })
}

// reportExtensions says what a version 4 file holds that is not of the RFC, which no conversion keeps (RFC 6.3).
func (e *env) reportExtensions(x gcovkind.Extensions) {
	if x.Err != nil {
		e.Warnf("cannot tell what was left out: %s", cli.Message(x.Err))
	}
	if x.Sections > 0 {
		e.Warnf("sections of unknown types that were left out: %d", x.Sections)
	}
	if x.Locations > 0 {
		e.Warnf("locations of unknown types that were left out: %d", x.Locations)
	}
}

// note says on standard error what was trimmed.
func (e *env) note(notes []string) {
	for _, n := range notes {
		e.Warnf("%s", n)
	}
}
