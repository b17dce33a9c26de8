package verb

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
)

// maxCompletions is the maximum number of names that a completion returns to the shell: a shell
// shows no more, and a profile may have millions.
const maxCompletions = 1000

// CompleteUnits completes the value of --unit in a shell. It returns the paths of units that begin
// with begun, in the profile on the command line.
func (e *Env) CompleteUnits(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return e.complete(args, begun, unitPaths)
}

// CompleteSymbols completes the value of --symbol in a shell. It returns the names of functions
// that begin with begun, in the unit of --unit if that is given.
func (e *Env) CompleteSymbols(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if unit := cmd.Flag("unit"); unit.Changed {
		return e.complete(args, begun, func(model any) iter.Seq2[string, error] { return namesInUnit(model, unit.Value.String()) })
	}
	return e.complete(args, begun, functionNames)
}

// complete returns the words with which a shell can complete the word begun. list yields all
// candidates, from the profile at args[0]: it gets what modelOf returns. If the file cannot be
// read, complete returns no words and prints nothing, because a message would end up in the command
// line.
func (e *Env) complete(args []string, begun string, list func(model any) iter.Seq2[string, error]) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == cli.Stdio {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []string
	err := e.WithParts(args[0], func(f *input.File, k kind.Kind) error {
		model, err := modelOf(f, k)
		if err != nil {
			return err
		}
		for name, err := range list(model) {
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

// modelOf returns an [afdo.Reader] for a GCOV profile of any format. For other profiles, it returns
// what anyprof.Profile.Model returns.
func modelOf(f *input.File, k kind.Kind) (any, error) {
	if _, ok := k.(*gcovkind.Kind); ok {
		in, err := gcovkind.Open(f)
		if err != nil {
			return nil, err
		}
		return in.Reader()
	}
	p, err := f.Profile()
	if err != nil {
		return nil, err
	}
	return p.Model(), nil
}

// unitPaths iterates over the paths of the source files of a profile. Only GCOV profiles have them.
func unitPaths(model any) iter.Seq2[string, error] {
	if r, ok := model.(*afdo.Reader); ok {
		return find.NamesOf(r.Units(), (*afdo.Unit).Path)
	}
	return func(func(string, error) bool) {}
}

// functionNames iterates over the names of the functions of a profile.
func functionNames(model any) iter.Seq2[string, error] {
	switch m := model.(type) {
	case *afdo.Reader:
		return namesOfUnits(m.Units())
	case *sampleprof.Reader:
		return find.NamesOf(m.Functions(), func(f *sampleprof.Function) string { return m.Name(f.Name).Text })
	case *sampleprof.Profile:
		return find.NamesOf(find.Certain(m.Functions()), func(f *sampleprof.Function) string { return m.Name(f.Name).Text })
	case *instrprof.Reader:
		return find.NamesOf(m.Records(), instrprof.Record.Name)
	case *instrprof.Profile:
		return find.NamesOf(find.Certain(m.Records()), instrprof.Record.Name)
	}
	return func(func(string, error) bool) {}
}

// namesInUnit iterates over the names of the functions of a unit. Only GCOV profiles have units.
func namesInUnit(model any, path string) iter.Seq2[string, error] {
	if r, ok := model.(*afdo.Reader); ok {
		return namesOfUnits(func(yield func(*afdo.Unit, error) bool) { yield(r.UnitBySuffix(path)) })
	}
	return func(yield func(string, error) bool) { yield("", afdo.ErrNotFound) }
}

// namesOfUnits iterates over the names of the functions with samples in the given units.
func namesOfUnits(units iter.Seq2[*afdo.Unit, error]) iter.Seq2[string, error] {
	return find.NamesOf(find.Symbols(units), func(s afdo.Symbol) string {
		if !s.HasInfo() {
			return "" // which is not offered
		}
		return s.Name()
	})
}

// Offerable reports whether completion can offer a name to a shell. Completion prints each name on
// a line. It cannot offer these names:
//   - names with blanks at an end, which the shell loses,
//   - names with a tab, after which the shell expects a description,
//   - names with control characters or invalid text, which would reach the terminal,
//   - names that begin like a remark of cobra, which would be printed as one.
func Offerable(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, unicode.IsControl) && !strings.HasPrefix(name, "_activeHelp_")
}
