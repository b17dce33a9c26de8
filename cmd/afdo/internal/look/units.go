package look

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

const unitsHelp = `Print a line for each unit of FILE: the number of symbols, the number of functions
with samples of their own, the sum of all counts in these functions including
inlined bodies, and the path. Symbols with an unknown source file make the unit
"(unknown)", in JSON "".

LLVM's sample profiles do not say which function is in which source file: --binary
names the program that does.

A terminal gets paths as short as it is wide; with -v, or outside a terminal, they
are whole.`

// A listing contains the flags of the verb units.
type listing struct {
	order  unitOrder
	number table.Count
	json   bool
}

// A unitOrder compares two units, for the order that --sort selects. It is nil for the order of the
// file.
type unitOrder func(a, b gcovkind.UnitFacts) int

// mostSamples compares two units, for sorting. The one with more samples comes first.
func mostSamples(a, b gcovkind.UnitFacts) int { return cmp.Compare(b.Samples, a.Samples) }

var unitOrders = []verb.Choice[unitOrder]{
	{Word: "file"},
	{Word: "path", Meaning: func(a, b gcovkind.UnitFacts) int { return strings.Compare(a.Unit, b.Unit) }},
	{Word: "samples", Meaning: mostSamples},
	{Word: "functions", Meaning: func(a, b gcovkind.UnitFacts) int { return cmp.Compare(b.Functions, a.Functions) }},
}

func NewUnits(e *verb.Env) *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use:   "units FILE",
		Short: "List the units of a profile with their symbols and samples",
		Long:  unitsHelp,
		Args:  verb.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.number > 0 && !cmd.Flags().Changed("sort") {
				l.order = mostSamples
			}
			return e.WithOverview(args[0], func(f *input.File, k kind.Kind, o *gcovkind.Overview) error { return runUnits(e, f, k, o, &l) })
		},
	}
	cmd.Flags().BoolVar(&l.json, "json", false, "print JSON")
	verb.AddChoice(cmd, &l.order, "sort", "", "order of the lines, samples with -n", unitOrders...)
	cmd.Flags().VarP(&l.number, "number", "n", "how many lines to print, 0 for all")
	e.AddWholeFlag(cmd)
	e.AddKindFlags(cmd)
	return cmd
}

func runUnits(e *verb.Env, f *input.File, k kind.Kind, o *gcovkind.Overview, l *listing) error {
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(f.Name))
	defer doing.Stop()
	units, err := unitsOf(e, f, k, o)
	if err != nil {
		return err
	}
	doing.Stop()
	if l.order != nil {
		slices.SortStableFunc(units, l.order)
	}
	shown, leftOut := table.First(units, l.number)
	return output.Facts(e.Out, l.json, map[string][]gcovkind.UnitFacts{"units": shown}, func(w io.Writer) error {
		t := &table.List{Numbers: table.Table{Columns: "rrr"}, Heading: "Path", LeftOut: leftOut, Width: e.Width()}
		t.Numbers.Row("Symbols", "Functions", "Samples")
		for _, u := range shown {
			t.Numbers.Row(human.Number(u.Symbols), human.Number(u.Functions), human.Number(u.Samples))
		}
		t.About = func(i int) (iter.Seq[string], string) { return table.Named(human.Unit(shown[i].Unit)) }
		return t.Write(w, 0)
	})
}

// unitsOf returns the facts about all units of a file. It reads a GCOV profile unit by unit, and
// loads profiles of other kinds as a whole.
func unitsOf(e *verb.Env, f *input.File, k kind.Kind, o *gcovkind.Overview) ([]gcovkind.UnitFacts, error) {
	if o != nil {
		return o.Units()
	}
	if verb.IsGCOV(k) {
		in, err := gcovkind.Open(f)
		if err != nil {
			return nil, err
		}
		return gcovkind.Units(in)
	}
	from, ok := k.(kind.CanLoad)
	if !ok {
		return nil, e.Kinds.Refuse("units", k, verb.Can[kind.CanLoad])
	}
	loaded, err := from.Load(f)
	if err != nil {
		return nil, err
	}
	if loaded.NoUnits {
		return nil, cli.Usagef("an %s does not say which function is in which unit: name the program with --binary", k.Name())
	}
	return gcovkind.UnitsOf(loaded.Profile), nil
}
