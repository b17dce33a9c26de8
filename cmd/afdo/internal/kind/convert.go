package kind

import (
	"io"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
)

// Convert loads the file f of kind from into memory, trims the profile by the flags in t, and
// writes it in a format of kind to.
func Convert(e *cli.Env, from CanLoad, f *input.File, to CanEncode, out Output, t *trim.Flags) error {
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	l, err := from.Load(f)
	if err != nil {
		return err
	}
	tellLosses := StartCount(l.Losses)
	p, notes := t.Apply(l.Profile)
	if err := Write(e, to, out, p); err != nil {
		if l.Hint != nil {
			err = l.Hint(err)
		}
		return err
	}
	doing.Stop()
	Note(e, notes)
	tellLosses(e)
	return nil
}

// Write writes the profile p in a format of kind to. It prints on standard error what the format
// cannot store.
func Write(e *cli.Env, to CanEncode, out Output, p *profile.Profile) error {
	return WriteWith(e, out, func(w io.Writer) (string, error) { return to.Encode(w, out.Format.Name, p) })
}

// WriteWith is [Write] for a profile that the function encode writes. encode returns a description
// of what the format could not store, or "".
func WriteWith(e *cli.Env, out Output, encode func(io.Writer) (lost string, err error)) error {
	var lost string
	err := output.Write(e.Out, out.Path, func(w io.Writer) (err error) {
		lost, err = encode(w)
		return err
	})
	if err == nil && lost != "" {
		e.Warnf("%s does not store everything: %s", out.Format.Name, lost)
	}
	return err
}

// Note prints on standard error what trimming has removed from a profile.
func Note(e *cli.Env, notes []string) {
	for _, n := range notes {
		e.Warnf("%s", n)
	}
}
