package memprofkind

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A guid is written as a string of hexadecimal digits, as --symbol takes it. JavaScript cannot
// represent all numbers of 64 bits.
type guid uint64

func (g guid) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(g)), nil }

// topFunction is what a function allocates.
type topFunction struct {
	GUID        guid   `json:"guid"`
	Name        string `json:"name,omitempty"`
	Bytes       uint64 `json:"bytes"`       // that it allocates itself
	Allocations uint64 `json:"allocations"` // the same
	ColdBytes   uint64 `json:"cold_bytes"`  // of Bytes
	TotalBytes  uint64 `json:"total_bytes"` // with what it calls

	symbol string // its mangled name, if that is demangled
}

// topFacts is the JSON of top.
type topFacts struct {
	Bytes     uint64        `json:"bytes"`
	Functions []topFunction `json:"functions"`
	LeftOut   int           `json:"left_out"`

	width int // of the terminal
}

// Top lists the functions that allocate most.
func (k *Kind) Top(e *cli.Env, f *input.File, o *kind.TopOptions) error {
	if o.HasUnit || o.Calls {
		return cli.Usagef("a memory profile knows neither units nor calls that allocate nothing")
	}
	p, names, err := k.profile(e, f)
	if err != nil {
		return err
	}
	facts, err := topOf(p)
	if err != nil {
		return err
	}
	facts.width = o.Width
	facts.sort(o.Order, names)
	if n := int(o.Number); n > 0 && n < len(facts.Functions) {
		facts.LeftOut = len(facts.Functions) - n
		facts.Functions = facts.Functions[:n]
	}
	for i := range facts.Functions {
		t := &facts.Functions[i]
		if t.Name = names[uint64(t.GUID)]; o.Demangle && t.Name != "" {
			t.symbol, t.Name = t.Name, demangled.Name(t.Name)
		}
	}
	if o.JSON {
		return output.JSON(e.Out, facts)
	}
	return output.Write(e.Out, cli.Stdio, facts.print)
}

func topOf(p *memprof.Profile) (*topFacts, error) {
	facts := new(topFacts)
	at := make(map[uint64]int)
	function := func(id uint64) *topFunction {
		i, ok := at[id]
		if !ok {
			i = len(facts.Functions)
			at[id] = i
			facts.Functions = append(facts.Functions, topFunction{GUID: guid(id)})
		}
		return &facts.Functions[i]
	}
	for a := range p.Allocs() {
		size := a.Block[memprof.TotalSize]
		facts.Bytes += size
		met := make(map[uint64]struct{})
		for f, err := range p.Frames(a.Stack) {
			if err != nil {
				return nil, err
			}
			if _, again := met[f.Function]; again {
				continue
			}
			t := function(f.Function)
			if t.TotalBytes += size; len(met) == 0 {
				t.Bytes += size
				t.Allocations += a.Block[memprof.AllocCount]
				if a.Block.Temperature() == memprof.Cold {
					t.ColdBytes += size
				}
			}
			met[f.Function] = struct{}{}
		}
	}
	return facts, nil
}

// sort orders functions by what --sort says; own is the default.
func (t *topFacts) sort(order string, names map[uint64]string) {
	slices.SortFunc(t.Functions, func(a, b topFunction) int {
		byName := cmp.Or(cmp.Compare(names[uint64(a.GUID)], names[uint64(b.GUID)]), cmp.Compare(a.GUID, b.GUID))
		switch order {
		case "total":
			return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), byName)
		case "name":
			return byName
		case "head":
			return cmp.Or(cmp.Compare(b.Allocations, a.Allocations), byName)
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.TotalBytes, a.TotalBytes), byName)
	})
}

func (t *topFacts) print(w io.Writer) error {
	list := table.List{Numbers: table.Table{Columns: "rrrrr"}, Heading: "Function", LeftOut: t.LeftOut, Width: t.width}
	list.Numbers.Row("Bytes", "Bytes%", "Cold", "Allocations", "Total")
	for _, f := range t.Functions {
		share := 0.0
		if t.Bytes > 0 {
			share = float64(f.Bytes) / float64(t.Bytes)
		}
		list.Numbers.Row(human.Number(f.Bytes), human.Percent(share), human.Number(f.ColdBytes), human.Number(f.Allocations), human.Number(f.TotalBytes))
	}
	list.Spare = []int{3, 2}
	list.About = func(i int) (iter.Seq[string], string) { return t.Functions[i].names(), "" }
	return list.Write(w, 0)
}

// names returns what people read of a function's name, and shorter forms of it.
func (f *topFunction) names() iter.Seq[string] {
	switch {
	case f.symbol != "":
		return demangled.InForms(func(form func(string) string) string { return human.Name(form(f.symbol)) })
	case f.Name != "":
		return slices.Values([]string{human.Name(f.Name)})
	}
	return slices.Values([]string{nameOf(nil, uint64(f.GUID))})
}

// Drawing returns a profile whose samples are bytes that were allocated.
func (k *Kind) Drawing(e *cli.Env, f *input.File) (*kind.Drawing, error) {
	l, err := load(f)
	if err != nil {
		return nil, err
	}
	p, names, err := k.named(e, l)
	if err != nil {
		return nil, err
	}
	q, err := asBodies(p, names)
	if err != nil {
		return nil, err
	}
	return &kind.Drawing{
		Profile: q,
		Format:  l.format,
		Note:    "Samples are bytes that were allocated. What is inlined in a function here is what it calls, inlined or not, and how often a function was entered is how often it began a call stack that allocates.",
		Size:    l.size,
	}, nil
}

// asBodies makes each call stack bodies that are nested, from the outermost function in.
func asBodies(p *memprof.Profile, names map[uint64]string) (*profile.Profile, error) {
	q := profile.New()
	roots := make(map[profile.SymbolRef]*outermost)
	symbol := func(f memprof.Frame) profile.SymbolRef {
		return q.AddSymbol(profile.UnknownUnit, nameOf(names, f.Function))
	}
	var stack []memprof.Frame
	for a := range p.Allocs() {
		stack = stack[:0]
		for f, err := range p.Frames(a.Stack) {
			if err != nil {
				return nil, err
			}
			stack = append(stack, f)
		}
		if len(stack) == 0 {
			continue
		}
		slices.Reverse(stack)
		root := symbol(stack[0])
		if roots[root] == nil {
			roots[root] = new(outermost)
		}
		roots[root].add(stack, &a.Block, symbol)
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		r := roots[root]
		q.AddFunction(root, profile.Function{HeadCount: r.calls, Records: r.body.Records()})
	}
	return q, nil
}

// An outermost function is where call stacks begin.
type outermost struct {
	body  profile.Body
	calls uint64
	added int // frames since what is the same was merged
	kept  int // records then
}

// add adds a call stack, the outermost frame first.
func (o *outermost) add(stack []memprof.Frame, b *memprof.Block, symbol func(memprof.Frame) profile.SymbolRef) {
	o.calls = saturating.Add(o.calls, b[memprof.AllocCount])
	for i, f := range stack[1:] {
		o.body.Enter(stack[i].LineOffset, stack[i].Column, symbol(f))
	}
	last := stack[len(stack)-1]
	o.body.Count(last.LineOffset, last.Column, b[memprof.TotalSize])
	for range stack[1:] {
		o.body.Leave()
	}
	if o.added += len(stack); o.added > 1<<16+o.kept { // stacks have most frames in common
		o.added, o.kept = 0, len(o.body.Records())
	}
}

// heapTypes are the values of a stack. pprof knows the first and the last from Go's heap profiles.
var heapTypes = []pprofile.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "lifetime", Unit: "milliseconds"}, {Name: "alloc_space", Unit: "bytes"}}

// Pprof writes allocation stacks as a heap profile.
func (k *Kind) Pprof(e *cli.Env, f *input.File, o *kind.PprofOptions) error {
	p, names, err := k.profile(e, f)
	if err != nil {
		return err
	}
	options := pprofile.Options{Source: filepath.Base(f.Name), Comments: []string{
		fmt.Sprintf("Made by afdo pprof of %s, a memory profile of LLVM.", human.Name(filepath.Base(f.Name))),
		"Line numbers are offsets from the first line of the function.",
		"lifetime adds up how long each allocation lived.",
	}}
	if o.Demangle {
		options.Name = demangled.Bounded
	}
	return output.Write(e.Out, o.Path, func(w io.Writer) error {
		return pprofile.WriteStacks(w, options, heapTypes, stacksOf(p, names))
	})
}

func stacksOf(p *memprof.Profile, names map[uint64]string) iter.Seq2[pprofile.Stack, error] {
	return func(yield func(pprofile.Stack, error) bool) {
		var s pprofile.Stack
		for a := range p.Allocs() {
			s.Values = append(s.Values[:0], a.Block[memprof.AllocCount], a.Block[memprof.TotalLifetime], a.Block[memprof.TotalSize])
			s.Places = s.Places[:0]
			for f, err := range p.Frames(a.Stack) {
				if err != nil {
					yield(s, err)
					return
				}
				s.Places = append(s.Places, pprofile.Place{Function: nameOf(names, f.Function), Line: f.LineOffset, Inlined: f.Inlined})
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}
