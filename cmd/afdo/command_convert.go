package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli/trim"
)

const convertHelp = `Write the profile IN in another format, or again in the same one. Standard error
reports what OUT cannot hold; a value that does not fit is an error, it is never
truncated. The summary is copied, or computed if IN has none.

` + trim.Help + `

OUT appears whole or not at all.`

func newConvertCommand(e *env) *cobra.Command {
	var out outputFlags
	var trimming trim.Flags
	var json bool
	cmd := &cobra.Command{
		Use:   "convert IN [-o OUT] [--to FORMAT]",
		Short: "Convert a profile to another format",
		Long:  convertHelp,
		Args:  wantArgs("IN"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.resolve(e); err != nil {
				return err
			}
			return e.tellWritten(json, out.path, func() error {
				return e.withFile(args[0], func(f *input.File, k kind.Kind) error { return e.convert(f, k, &out, &trimming) })
			}, func(f *writtenFacts) { f.Format = out.out.Format.Name })
		},
	}
	out.usual = usualFormat
	out.addFlags(e, cmd)
	trimming.AddTo(cmd)
	addWrittenFlag(cmd, &json)
	return cmd
}

// convert has a kind convert between its own formats, and goes through memory between those of two
// kinds.
func (e *env) convert(f *input.File, k kind.Kind, out *outputFlags, trimming *trim.Flags) error {
	if err := out.suits(k); err != nil {
		return err
	}
	if own, ok := k.(kind.CanConvert); ok && k == out.kind {
		return own.Convert(&e.Env, f, out.out, trimming)
	}
	if part, ok := out.kind.(kind.TakesPart); ok && part.TakesPart(f.Format()) {
		return part.Convert(&e.Env, f, out.out, trimming)
	}
	from, readable := k.(kind.CanLoad)
	to, writable := out.kind.(kind.CanEncode)
	if !readable || !writable {
		return fmt.Errorf("%s cannot hold %ss", out.out.Format.Name, k.Name())
	}
	return kind.Convert(&e.Env, from, f, to, out.out, trimming)
}
