package memprofkind

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
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
