package merge

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/trim"
)

const convertHelp = `Write the profile IN in another format, or again in the same one. Standard error
reports what OUT cannot hold; a value that does not fit is an error, it is never
truncated. The summary is copied, or computed if IN has none.

` + trim.Help + `

OUT appears whole or not at all.`

func NewConvert(e *verb.Env) *cobra.Command {
	var out verb.Output
	var trimming trim.Flags
	var json bool
	cmd := &cobra.Command{
		Use:   "convert IN [-o OUT] [--to FORMAT]",
		Short: "Convert a profile to another format",
		Long:  convertHelp,
		Args:  verb.Args("IN"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.Resolve(e); err != nil {
				return err
			}
			return e.TellWritten(json, out.Path, func() error {
				return e.WithFile(args[0], func(f *input.File, k kind.Kind) error { return runConvert(e, f, k, &out, &trimming) })
			}, func(f *verb.WrittenFacts) { f.Format = out.Out.Format.Name })
		},
	}
	out.Usual = verb.UsualFormat
	out.AddFlags(e, cmd)
	trimming.AddTo(cmd)
	verb.AddWrittenFlag(cmd, &json)
	return cmd
}

// runConvert converts a profile to another format. If the format belongs to the profile's own kind,
// the kind converts it. Otherwise runConvert loads the profile into memory and writes it in a
// format of the other kind.
func runConvert(e *verb.Env, f *input.File, k kind.Kind, out *verb.Output, trimming *trim.Flags) error {
	if err := out.Suits(k); err != nil {
		return err
	}
	if own, ok := k.(kind.CanConvert); ok && k == out.Kind {
		return own.Convert(&e.Env, f, out.Out, trimming)
	}
	if part, ok := out.Kind.(kind.TakesPart); ok && part.TakesPart(f.Format()) {
		return part.Convert(&e.Env, f, out.Out, trimming)
	}
	from, readable := k.(kind.CanLoad)
	to, writable := out.Kind.(kind.CanEncode)
	if !readable || !writable {
		return out.Out.CannotHold(k)
	}
	return kind.Convert(&e.Env, from, f, to, out.Out, trimming)
}
