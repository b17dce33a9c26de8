package look

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/pprofile"
)

var pprofHelp = fmt.Sprintf(`Write the samples of FILE in pprof's format, for flame graphs in "go tool pprof
-http=: OUT" and other viewers.

A stack shows inlining: the leaf is the function that a sample belongs to, its
callers are the functions that it is inlined in. Real calls are missing, since a
profile does not say which samples came through a call: see "afdo top --calls".
Lines are offsets from the line of the function's declaration, which the profile
does not have; discriminators are missing.

Names are the assembler's: pprof demangles and shortens them, see its option
-symbolize=demangle=full, templates or none. --demangle is for viewers that do not
demangle; pprof is slow to draw such long names.

Samples inlined more than %d deep are added to a function %s.
A profile whose counts add up to more than 2^63-1 is refused.

OUT appears whole or not at all.`, pprofile.MaxDepth, pprofile.Folded)

func NewPprof(e *verb.Env) *cobra.Command {
	var o kind.PprofOptions
	cmd := &cobra.Command{
		Use:   "pprof FILE [-o OUT.pb.gz]",
		Short: "Write a profile for go tool pprof",
		Long:  pprofHelp,
		Args:  verb.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Path == cli.Stdio && cli.IsTerminal(e.Out) {
				return cli.Usagef("a pprof profile is not for a terminal: use -o FILE")
			}
			if err := verb.NotOnto(o.Path, args...); err != nil {
				return err
			}
			return e.WithFile(args[0], func(f *input.File, k kind.Kind) error {
				return verb.Dispatch(e, "pprof", k,
					func(k kind.CanPprof) error { return k.Pprof(&e.Env, f, &o) },
					func(k kind.CanLoad) error { return runPprof(e, f, k, &o) })
			})
		},
	}
	verb.AddOutputFlag(cmd, &o.Path)
	cmd.Flags().BoolVar(&o.Demangle, "demangle", false, "write the names of C++ and Rust functions as in the source")
	e.AddKindFlags(cmd)
	return cmd
}

func runPprof(e *verb.Env, f *input.File, k kind.CanLoad, o *kind.PprofOptions) error {
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(f.Name))
	defer doing.Stop()
	l, err := k.Load(f)
	if err != nil {
		return err
	}
	options := pprofile.Options{Source: filepath.Base(f.Name), Comments: pprofComments(f.Name, k, l)}
	if o.Demangle {
		options.Name = demangled.Bounded
	}
	doing.Say("writing %s", human.Name(o.Path))
	var folded uint64
	err = output.Write(e.Out, o.Path, func(w io.Writer) (err error) {
		folded, err = pprofile.Write(w, l.Profile, options)
		return err
	})
	doing.Stop()
	if err == nil && folded > 0 {
		e.Warnf("counts nested more than %d deep that were added up: %d", pprofile.MaxDepth, folded)
	}
	return err
}

func pprofComments(name string, k kind.Kind, l *kind.Loaded) []string {
	s := l.Profile.Summary
	if s == nil {
		s = l.Profile.Summarize()
	}
	return []string{
		fmt.Sprintf("Made by afdo pprof of %s, %s (%s).", human.Name(filepath.Base(name)), k.Name(), l.Format),
		fmt.Sprintf("Summary: total %s, largest count %s, largest head count %s, %s counts, %s functions.",
			human.Number(s.TotalCount), human.Number(s.MaxCount), human.Number(s.MaxFunctionCount), human.Number(s.NumCounts), human.Number(s.NumFunctions)),
	}
}
