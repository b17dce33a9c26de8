package verb

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// Args accepts one argument for each name.
func Args(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return cli.Usagef("no %s", names[len(args)])
		case len(args) > len(names):
			return cli.Usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// StdinOnce refuses paths of which more than one is standard input.
func StdinOnce(paths ...string) error {
	if first := slices.Index(paths, cli.Stdio); first >= 0 && slices.Contains(paths[first+1:], cli.Stdio) {
		return cli.Usagef("standard input can be read only once")
	}
	return nil
}

// NotOnto refuses an output that is an input, which something of another kind would replace.
func NotOnto(out string, inputs ...string) error {
	to, err := os.Stat(out)
	if out == cli.Stdio || err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if from, err := os.Stat(in); err == nil && os.SameFile(from, to) {
			return cli.Usagef("-o %s is an input, which it would replace: name another file", human.Name(out))
		}
	}
	return nil
}
