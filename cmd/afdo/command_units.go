package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"

	"github.com/go-afdo/afdo/internal/saturating"
)

const unitsHelp = `Print a line for each unit of FILE: how many symbols it has, how many of them are
functions with samples of their own, the sum of all counts in those functions'
bodies and in what is inlined there, and its path. Symbols with an unknown
source file make the unit "(unknown)", in JSON "".`

func newUnitsCommand(e *env) *cobra.Command {
	var asJSON bool
	order := unitOrder("file")
	cmd := &cobra.Command{
		Use:   "units FILE",
		Short: "List the units of a profile with their symbols and samples",
		Long:  unitsHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInput(args[0], func(in *input) error { return e.units(in, order, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().Var(&order, "sort", "order of the lines: "+strings.Join(unitOrderNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return unitOrderNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// unitFacts is what is printed of a unit, in the form of its JSON.
type unitFacts struct {
	Path       string `json:"path"`
	PathBase64 string `json:"path_base64,omitempty"` // of a path that is not UTF-8, which JSON cannot hold
	Symbols    uint64 `json:"symbols"`
	Functions  uint64 `json:"functions"`
	Samples    uint64 `json:"samples"`
}

// unitOrders are the orders of --sort. The largest number comes first.
var unitOrders = [...]struct {
	name    string
	compare func(a, b unitFacts) int // nil for the order of the file
}{
	{"file", nil},
	{"path", func(a, b unitFacts) int { return strings.Compare(a.Path, b.Path) }},
	{"samples", func(a, b unitFacts) int { return cmp.Compare(b.Samples, a.Samples) }},
	{"functions", func(a, b unitFacts) int { return cmp.Compare(b.Functions, a.Functions) }},
}

// unitOrder is the value of --sort.
type unitOrder string

func (o *unitOrder) String() string { return string(*o) }

func (o *unitOrder) Set(name string) error {
	if !slices.Contains(unitOrderNames(), name) {
		return fmt.Errorf("want one of %s", strings.Join(unitOrderNames(), ", "))
	}
	*o = unitOrder(name)
	return nil
}

func (o *unitOrder) Type() string { return "ORDER" }

func unitOrderNames() []string {
	names := make([]string, len(unitOrders))
	for i, o := range unitOrders {
		names[i] = o.name
	}
	return names
}

// sort keeps units that compare as equal in the order of the file.
func (o unitOrder) sort(units []unitFacts) {
	for _, known := range unitOrders {
		if known.name == string(o) && known.compare != nil {
			slices.SortStableFunc(units, known.compare)
		}
	}
}

func (e *env) units(in *input, order unitOrder, asJSON bool) error {
	progress := e.startProgress()
	progress.say("reading %s", printable(in.name))
	defer progress.stop()
	r, err := in.openReader()
	if err != nil {
		return err
	}
	units, err := listUnits(r)
	if err != nil {
		return err
	}
	order.sort(units)
	progress.stop()
	if asJSON {
		return e.printJSON(units)
	}
	return e.withOutput(stdio, func(w io.Writer) error { return unitTable(units).write(w, 0) })
}

// listUnits returns the units in the order of the file.
func listUnits(r *afdo.Reader) ([]unitFacts, error) {
	units := []unitFacts{}
	w := newWalker(r)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		f := unitFacts{Path: u.Path()}
		if !utf8.ValidString(f.Path) {
			f.PathBase64 = base64.StdEncoding.EncodeToString([]byte(f.Path))
		}
		err := w.symbols(u, func(_ afdo.Symbol, body *function) error {
			f.Symbols++
			if body != nil {
				f.Functions++
				f.Samples = saturating.Add(f.Samples, body.samples())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		units = append(units, f)
	}
	return units, nil
}

func unitTable(units []unitFacts) *table {
	t := &table{columns: "rrrl"}
	t.row("Symbols", "Functions", "Samples", "Path")
	for _, u := range units {
		t.row(grouped(u.Symbols), grouped(u.Functions), grouped(u.Samples), printableUnit(u.Path))
	}
	return t
}
