package look

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
)

const showHelp = `Print what FILE is: its format and size, the sizes of its sections by kind, its
summary, and how many units, symbols, functions and location records it has.

The sections are those of version 4. For a file of another format they are what
"afdo convert --to v4" would make of it.

Of a recording, perf.data or the folder of perf record --threads, it prints how many
samples it has, whether they have branch stacks and how deep these are, what was lost,
and what that means for a profile.`

func NewShow(e *verb.Env) *cobra.Command {
	var o kind.ShowOptions
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print header, sizes, summary and counts of a profile",
		Long:  showHelp,
		Args:  verb.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if shown, err := showIfRecording(e, args[0], o.JSON); shown || err != nil {
				return err
			}
			return e.WithOverview(args[0], func(f *input.File, k kind.Kind, overview *gcovkind.Overview) error {
				if overview != nil {
					return overview.Show(&e.Env, f, &o)
				}
				return verb.Dispatch(e, "show", k, func(k kind.CanShow) error { return k.Show(&e.Env, f, &o) }, nil)
			})
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	e.AddKindFlags(cmd)
	return cmd
}
