package instrprofkind

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// DiffFacts is what diff prints, in the form of its JSON. An overlap is 0 to 1, as llvm-profdata
// computes it.
type DiffFacts struct {
	Overlap    float64        `json:"overlap"` // of the counters
	Sums       [2]float64     `json:"sums"`    // of the counters of each profile
	Values     []OverlapFacts `json:"values"`
	Common     int            `json:"common_records"`
	Mismatched int            `json:"mismatched_records"`
	Lost       int            `json:"lost_records"`   // of the first profile alone
	Gained     int            `json:"gained_records"` // of the second alone
	Changed    int            `json:"changed_records"`
	Functions  []DeltaFacts   `json:"functions"` // those that differ most
	LeftOut    int            `json:"left_out"`

	width int // of the terminal
}

// OverlapFacts is the overlap of a kind of values.
type OverlapFacts struct {
	Kind    string     `json:"kind"`
	Overlap float64    `json:"overlap"`
	Sums    [2]float64 `json:"sums"`
}

// DeltaFacts describes a record that differs between the profiles, or that only one of them has.
type DeltaFacts struct {
	Name      string      `json:"name"`
	Demangled string      `json:"demangled,omitempty"`
	Hash      string      `json:"hash"`
	Sums      [2]*float64 `json:"sums"` // null where there is no record
}

// Diff prints how much two profiles overlap and what differs most.
func (k *Kind) Diff(e *cli.Env, files [2]*input.File, o *kind.DiffOptions) (differ bool, err error) {
	if o.ByUnit {
		return false, cli.Usagef("an instrumentation profile has no units")
	}
	doing := progress.Start(e.Progress())
	doing.Say("comparing %s and %s", human.Name(files[0].Name), human.Name(files[1].Name))
	defer doing.Stop()
	var profiles [2]*instrprof.Profile
	for i, f := range files {
		l, err := k.load(e, f)
		if err != nil {
			return false, f.Wrap(err)
		}
		profiles[i] = l.Profile
	}
	c := instrprof.Compare(profiles[0], profiles[1])
	facts := newDiffFacts(c, o)
	doing.Stop()
	if o.JSON {
		return !c.Equal, output.JSON(e.Out, facts)
	}
	return !c.Equal, output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return facts.print(w, c.Equal) })
}

func newDiffFacts(c *instrprof.Comparison, o *kind.DiffOptions) *DiffFacts {
	f := &DiffFacts{
		Overlap: c.Counters.Value, Sums: c.Counters.Sums, Common: c.Common, Mismatched: c.Mismatched,
		Values: []OverlapFacts{}, Functions: []DeltaFacts{}, width: o.Width,
	}
	for i, v := range c.Values {
		f.Values = append(f.Values, OverlapFacts{instrprof.ValueKind(i).String(), v.Value, v.Sums})
	}
	for i, d := range c.Functions {
		switch {
		case !d.Has[1]:
			f.Lost++
		case !d.Has[0]:
			f.Gained++
		default:
			f.Changed++
		}
		if o.Number == 0 || uint(i) < o.Number {
			f.Functions = append(f.Functions, newDelta(d, o.Demangle))
		}
	}
	f.LeftOut = len(c.Functions) - len(f.Functions)
	return f
}

func newDelta(d instrprof.FunctionDelta, demangle bool) DeltaFacts {
	f := DeltaFacts{Name: d.Name, Hash: fmt.Sprintf("%#x", d.Hash)}
	if demangle {
		f.Demangled = demangled.Name(d.Name)
	}
	for i, sum := range d.Sums {
		if d.Has[i] {
			f.Sums[i] = &sum
		}
	}
	return f
}

func (f *DiffFacts) print(w io.Writer, equal bool) error {
	if equal {
		_, err := fmt.Fprintln(w, "The profiles say the same.")
		return err
	}
	t := &table.Table{Columns: "lrrr"}
	t.Row("", "Overlap", "First", "Second")
	t.Row("Counters", human.Overlap(f.Overlap), count(f.Sums[0]), count(f.Sums[1]))
	for _, v := range f.Values {
		if v.Sums[0] > 0 || v.Sums[1] > 0 {
			t.Row(v.Kind, human.Overlap(v.Overlap), count(v.Sums[0]), count(v.Sums[1]))
		}
	}
	if err := t.Write(w, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nRecords: %s in both, %s of them with other numbers of counters or sites; %s lost, %s gained, %s changed\n\n",
		human.Number(f.Common+f.Mismatched), human.Number(f.Mismatched), human.Number(f.Lost), human.Number(f.Gained), human.Number(f.Changed))
	if err != nil {
		return err
	}
	l := &table.List{Numbers: table.Table{Columns: "rr"}, Heading: "Function", LeftOut: f.LeftOut, Width: f.width}
	l.Numbers.Row("First", "Second")
	for _, d := range f.Functions {
		l.Numbers.Row(side(d.Sums[0]), side(d.Sums[1]))
	}
	l.About = func(i int) (iter.Seq[string], string) {
		return shown(f.Functions[i].Demangled, f.Functions[i].Name), ""
	}
	return l.Write(w, 0)
}

// shown returns what people read of a name that may have been demangled, and shorter forms of it.
func shown(plain, name string) iter.Seq[string] {
	if plain == "" {
		return slices.Values([]string{human.Name(name)})
	}
	return demangled.InForms(func(form func(string) string) string { return human.Name(form(name)) })
}

func side(sum *float64) string {
	if sum == nil {
		return "-"
	}
	return count(*sum)
}

func count(sum float64) string {
	if sum >= 1<<63 {
		return fmt.Sprintf("%.6g", sum)
	}
	return human.Number(uint64(sum))
}
