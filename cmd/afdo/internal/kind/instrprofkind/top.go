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
	"github.com/go-afdo/afdo/profile"
)

// TopFacts is what the verb top prints, in the form of its JSON.
type TopFacts struct {
	Total     uint64     `json:"total"` // sum of all counters
	Functions []HotFacts `json:"functions"`
	LeftOut   int        `json:"left_out"`

	width int // width of the terminal in columns
}

// HotFacts describes a record in the list of the verb top, which has the records with the largest
// counts.
type HotFacts struct {
	Name      string  `json:"name"`
	Demangled string  `json:"demangled,omitempty"`
	Hash      string  `json:"hash"`
	Sum       uint64  `json:"sum"`   // sum of the counters
	Share     float64 `json:"share"` // share of the total, 0 to 1
	Max       uint64  `json:"max"`   // largest counter
	Entry     uint64  `json:"entry"` // the first counter, which counts entries of the function

	versions bool // several records have this name, with different hashes
}

// Top lists the records with the largest sums of counters. --sort head orders them by entry counts,
// --sort name by name.
func (k *Kind) Top(e *cli.Env, f *input.File, o *kind.TopOptions) error {
	if o.HasUnit || o.Calls {
		return cli.Usagef("an instrumentation profile has no units, and calls only where they are indirect: see lookup")
	}
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(f.Name))
	defer doing.Stop()
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	facts := newTopFacts(p.Profile, o)
	doing.Stop()
	return output.Facts(e.Out, o.JSON, facts, facts.print)
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
	facts.Functions, facts.LeftOut = table.First(facts.Functions, o.Number)
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
		return demangled.Forms(h.Name, h.Demangled != ""), version
	}
	return l.Write(w, 0)
}

// Drawing converts an instrumentation profile to a sample profile, so that the verb report can draw
// it. Counters take the place of samples.
func (k *Kind) Drawing(e *cli.Env, f *input.File) (*kind.Drawing, error) {
	p, err := k.load(e, f)
	if err != nil {
		return nil, err
	}
	return &kind.Drawing{
		Profile: asBodies(p.Profile),
		Format:  f.Format().String(),
		Note:    "Samples are what counters count: how often a part of a function ran.",
		Size:    p.file.Size(),
	}, nil
}

// asBodies converts an instrumentation profile to a sample profile. Each counter becomes a count
// whose line is the counter's number, and the first counter is the head count. A function with
// internal linkage belongs to the unit that its name contains.
func asBodies(p *instrprof.Profile) *profile.Profile {
	q := profile.New()
	var body profile.Body
	for r := range p.Records() {
		if r.Pseudo() != 0 {
			continue
		}
		body.Reset()
		head := uint64(0)
		for i := range r.Counters().Len() {
			body.Count(uint32(i), 0, r.Counters().At(i))
		}
		if r.Counters().Len() > 0 {
			head = r.Counters().At(0)
		}
		name, file := r.Name(), profile.UnknownUnit
		if i := strings.LastIndexAny(name, ";:"); i >= 0 {
			file = q.AddUnit(name[:i])
		}
		q.AddFunction(q.AddSymbol(file, instrprof.Symbol(name)), profile.Function{HeadCount: head, Records: body.Records()})
	}
	return q
}
