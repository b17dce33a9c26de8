package gcovkind

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
)

// UnitFacts is what is printed of a unit, in the form of its JSON.
type UnitFacts struct {
	Unit       string `json:"unit"`                  // its path
	UnitBase64 string `json:"unit_base64,omitempty"` // of a path that is not UTF-8, which JSON cannot hold
	Symbols    uint64 `json:"symbols"`
	Functions  uint64 `json:"functions"`
	Samples    uint64 `json:"samples"`
}

// unitOrders are the orders of --sort. The largest number comes first.
var unitOrders = [...]struct {
	name    string
	compare func(a, b UnitFacts) int // nil for the order of the file
}{
	{"file", nil},
	{"path", func(a, b UnitFacts) int { return strings.Compare(a.Unit, b.Unit) }},
	{"samples", func(a, b UnitFacts) int { return cmp.Compare(b.Samples, a.Samples) }},
	{"functions", func(a, b UnitFacts) int { return cmp.Compare(b.Functions, a.Functions) }},
}

// UnitOrder is the order of units, by name: the value of --sort.
type UnitOrder string

// String returns the name. With Set and Type it makes an order the value of a flag.
func (o *UnitOrder) String() string { return string(*o) }

// Set takes the order of a name.
func (o *UnitOrder) Set(name string) error {
	if !slices.Contains(UnitOrderNames(), name) {
		return fmt.Errorf("want one of %s", strings.Join(UnitOrderNames(), ", "))
	}
	*o = UnitOrder(name)
	return nil
}

// Type is what the help calls the value.
func (o *UnitOrder) Type() string { return "ORDER" }

// UnitOrderNames returns the names of all orders.
func UnitOrderNames() []string {
	names := make([]string, len(unitOrders))
	for i, o := range unitOrders {
		names[i] = o.name
	}
	return names
}

// sort keeps units that compare as equal in the order of the file.
func (o UnitOrder) sort(units []UnitFacts) {
	for _, known := range unitOrders {
		if known.name == string(o) && known.compare != nil {
			slices.SortStableFunc(units, known.compare)
		}
	}
}

// ListUnits prints a line or a JSON object a unit.
func ListUnits(e *cli.Env, in *Input, order UnitOrder, asJSON bool) error {
	doing := progress.Start(e.Err)
	doing.Say("reading %s", human.Name(in.Name))
	defer doing.Stop()
	r, err := in.Reader()
	if err != nil {
		return err
	}
	units, err := unitsOf(r)
	if err != nil {
		return err
	}
	order.sort(units)
	doing.Stop()
	if asJSON {
		return output.JSON(e.Out, units)
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return unitTable(units).Write(w, 0) })
}

// unitsOf returns the units in the order of the file.
func unitsOf(r *afdo.Reader) ([]UnitFacts, error) {
	units := []UnitFacts{}
	w := newWalker(r)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		f := UnitFacts{Unit: u.Path()}
		if !utf8.ValidString(f.Unit) {
			f.UnitBase64 = base64.StdEncoding.EncodeToString([]byte(f.Unit))
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

func unitTable(units []UnitFacts) *table.Table {
	t := &table.Table{Columns: "rrrl"}
	t.Row("Symbols", "Functions", "Samples", "Path")
	for _, u := range units {
		t.Row(human.Number(u.Symbols), human.Number(u.Functions), human.Number(u.Samples), human.Unit(u.Unit))
	}
	return t
}
