package verb

import (
	"context"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
)

// maxCompletions is the maximum number of names that a completion returns to the shell: a shell
// shows no more, and a profile may have millions.
const maxCompletions = 1000

// CompleteUnits completes the value of --unit in a shell. It returns the paths of units that begin
// with begun, in the profile on the command line.
func (e *Env) CompleteUnits(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return e.complete(args, begun, func(ctx context.Context, p *anyprof.Profile) (iter.Seq2[string, error], error) {
		return find.NamesOf(p.Units(ctx), func(u anyprof.Unit) string { return u.Path }), nil
	})
}

// CompleteSymbols completes the value of --symbol in a shell. It returns the names of functions
// that begin with begun, in the unit of --unit if that is given.
func (e *Env) CompleteSymbols(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return e.complete(args, begun, func(ctx context.Context, p *anyprof.Profile) (iter.Seq2[string, error], error) {
		functions := p.Functions(ctx)
		if flag := cmd.Flags().Lookup("unit"); flag != nil && flag.Changed {
			u, err := p.Unit(ctx, flag.Value.String())
			if err != nil {
				return nil, err
			}
			functions = u.Functions(ctx)
		}
		return find.NamesOf(functions, func(f *anyprof.Function) string { return f.Text }), nil
	})
}

// complete returns the names from list that begin with begun, the word at the cursor of the shell.
// It prints nothing about a file that cannot be read.
func (e *Env) complete(args []string, begun string, list func(context.Context, *anyprof.Profile) (iter.Seq2[string, error], error)) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == cli.Stdio {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []string
	err := e.WithParts(args[0], func(f *input.File, _ kind.Kind) error {
		p, err := f.Profile()
		if err != nil {
			return err
		}
		names, err := list(context.Background(), p)
		if err != nil {
			return err
		}
		for name, err := range names {
			if err != nil {
				return err
			}
			if strings.HasPrefix(name, begun) && Offerable(name) {
				offered = append(offered, name)
			}
			if len(offered) == maxCompletions {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// Offerable reports whether completion can return a name to a shell. Completion prints each name on
// a line. The shell loses blanks at the ends of a line, and takes the text after a tab as a
// description. Control characters and invalid text would reach the terminal. A name that begins
// with cobra's mark for remarks would be printed as a remark.
func Offerable(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, unicode.IsControl) && !strings.HasPrefix(name, "_activeHelp_")
}
