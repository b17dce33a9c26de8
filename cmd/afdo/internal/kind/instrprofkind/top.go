package instrprofkind

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
)

// TopFacts is what top prints, in the form of its JSON.
type TopFacts struct {
	Total     uint64     `json:"total"` // of all counters
	Functions []HotFacts `json:"functions"`
	LeftOut   int        `json:"left_out"`

	width int // of the terminal
}

// HotFacts is a record.
type HotFacts struct {
	Name      string  `json:"name"`
	Demangled string  `json:"demangled,omitempty"`
	Hash      string  `json:"hash"`
	Sum       uint64  `json:"sum"`   // of the counters
	Share     float64 `json:"share"` // of the total, 0 to 1
	Max       uint64  `json:"max"`   // of the counters
	Entry     uint64  `json:"entry"` // the first counter

	versions bool // several records have the name and differ in the hash
}

// Top lists the functions whose counters have the largest sums; by entry for --sort head, by name
// for --sort name.
func (k *Kind) Top(e *cli.Env, f *input.File, o *kind.TopOptions) error {
	if o.HasUnit || o.Calls {
		return cli.Usagef("an instrumentation profile has no units, and calls only where they are indirect: see lookup")
	}
	doing := progress.Start(e.Progress())
	doing.Say("reading %s", human.Name(f.Name))
	defer doing.Stop()
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	facts := newTopFacts(p.Profile, o)
	doing.Stop()
	if o.JSON {
		return output.JSON(e.Out, facts)
	}
	return output.Write(e.Out, cli.Stdio, facts.print)
}

func newTopFacts(p *instrprof.Profile, o *kind.TopOptions) *TopFacts {
	facts := &TopFacts{Functions: []HotFacts{}, width: o.Width}
	versions := make(map[string]int) // records of each name
	for r := range p.Records() {
		h := HotFacts{Name: r.Name(), Hash: fmt.Sprintf("%#x", r.Hash())}
		if r.Pseudo() == 0 {
			for c := range r.Counters().All() {
				h.Sum = saturating.Add(h.Sum, c)
				h.Max = max(h.Max, c)
			}
			if r.Counters().Len() > 0 {
				h.Entry = r.Counters().At(0)
			}
		}
		facts.Total = saturating.Add(facts.Total, h.Sum)
		if h.Sum > 0 {
			facts.Functions = append(facts.Functions, h)
			versions[h.Name]++
		}
	}
	slices.SortFunc(facts.Functions, func(a, b HotFacts) int {
		switch o.Order {
		case "name":
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Hash, b.Hash))
		case "head":
			return cmp.Or(cmp.Compare(b.Entry, a.Entry), strings.Compare(a.Name, b.Name), strings.Compare(a.Hash, b.Hash))
		}
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), strings.Compare(a.Name, b.Name), strings.Compare(a.Hash, b.Hash))
	})
	if n := len(facts.Functions); o.Number > 0 && uint(n) > o.Number {
		facts.LeftOut = n - int(o.Number)
		facts.Functions = facts.Functions[:o.Number]
	}
	for i := range facts.Functions {
		h := &facts.Functions[i]
		h.versions = versions[h.Name] > 1
		h.Share = float64(h.Sum) / float64(facts.Total)
		if o.Demangle {
			h.Demangled = demangled.Name(h.Name)
		}
	}
	return facts
}

func (t *TopFacts) print(w io.Writer) error {
	l := &table.List{Numbers: table.Table{Columns: "rrrr"}, Heading: "Function", LeftOut: t.LeftOut, Width: t.width}
	l.Numbers.Row("Sum", "Sum%", "Max", "Entry")
	for _, h := range t.Functions {
		l.Numbers.Row(human.Number(h.Sum), human.Percent(h.Share), human.Number(h.Max), human.Number(h.Entry))
	}
	l.Spare = []int{2}
	l.About = func(i int) (iter.Seq[string], string) {
		h, version := &t.Functions[i], ""
		if h.versions {
			version = "hash " + h.Hash
		}
		return shown(h.Demangled, h.Name), version
	}
	return l.Write(w, 0)
}
