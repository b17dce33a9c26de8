package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/textfmt"
)

const convertHelp = `Write the profile IN in another format, or in the same one anew. What OUT cannot
hold is said on standard error; a value that does not fit is refused, never cut.
The summary is carried over, and computed if IN has none.

` + trimHelp + `

OUT appears whole or not at all.`

func newConvertCommand(e *env) *cobra.Command {
	var out output
	var trim trimming
	cmd := &cobra.Command{
		Use:   "convert IN -o OUT --to FORMAT",
		Short: "Convert a profile to another format",
		Long:  convertHelp,
		Args:  wantArgs("IN"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.check(e); err != nil {
				return err
			}
			return e.withInput(args[0], func(in *input) error { return e.convert(in, out, &trim) })
		},
	}
	out.addFlags(cmd)
	trim.addFlags(cmd)
	return cmd
}

func (e *env) convert(in *input, out output, trim *trimming) error {
	var progress *progress
	if !out.onTerminal(e) {
		progress = e.startProgress()
	}
	progress.say("converting %s to %s", printable(in.name), formatNames[out.format])
	defer progress.stop()
	if !in.format.v4() {
		return e.convertProfile(in, out, trim)
	}
	extensions := countExtensions(in.reader)
	var err error
	if out.format == formatText && !trim.any() {
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
func (e *env) convertProfile(in *input, out output, trim *trimming) error {
	p, err := in.loadProfile()
	if err != nil {
		return err
	}
	p, notes := trim.apply(p)
	if err := e.writeProfile(out, p); err != nil {
		return err
	}
	e.note(notes)
	return nil
}

// convertToText holds no more of a version 4 file than a unit.
func (e *env) convertToText(in *input, out output) error {
	return e.withOutput(out.path, func(w io.Writer) error { return textfmt.Print(w, in.reader) })
}

// reportExtensions says what a version 4 file holds that is not of the RFC, which no conversion keeps (RFC 6.3).
func (e *env) reportExtensions(x extensions) {
	if x.err != nil {
		e.warnf("cannot tell what was left out: %s", message(x.err))
	}
	if x.sections > 0 {
		e.warnf("sections of unknown types that were left out: %d", x.sections)
	}
	if x.locations > 0 {
		e.warnf("locations of unknown types that were left out: %d", x.locations)
	}
}
