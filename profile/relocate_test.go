package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bodyTree is a body as a tree.
type bodyTree struct {
	records []Record
	inner   []*bodyTree // by record, nil unless it is one of an inlined body
}

func treeOf(records []Record) *bodyTree {
	b := new(bodyTree)
	for i := 0; i < len(records); i++ {
		r := records[i]
		b.records = append(b.records, r)
		var inner *bodyTree
		if r.Kind == KindInlined {
			inner = treeOf(records[i+1 : i+1+int(r.Count)])
			i += int(r.Count)
		}
		b.inner = append(b.inner, inner)
	}
	return b
}

// relocate adds the records of a tree to a body, at their new lines.
func (b *bodyTree) relocate(to *Body, of SymbolRef, where []Relocation, symbols []SymbolRef) {
	for i, r := range b.records {
		line, ok := r.Line, true
		if f := where[of].CallLine; f != nil && r.Kind != KindCount {
			line, ok = f(line, r.Callee)
		} else if f := where[of].Line; f != nil {
			line, ok = f(line)
		}
		switch {
		case !ok || r.Kind == KindInlined && where[r.Callee].Drop:
		case r.Kind == KindCount:
			to.Count(line, r.Discriminator, r.Count)
		case r.Kind == KindCall:
			to.Call(line, r.Discriminator, symbols[r.Callee], r.Count)
		default:
			to.Enter(line, r.Discriminator, symbols[r.Callee])
			b.inner[i].relocate(to, r.Callee, where, symbols)
			to.Leave()
		}
	}
}

// TestRelocate compares Relocate with a conversion through trees.
func TestRelocate(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 17))
		p := randomProfile(rng)
		where := make([]Relocation, p.NumSymbols())
		for s := range where {
			r := &where[s]
			r.Path, r.Name = p.UnitPath(p.SymbolUnit(SymbolRef(s))), p.SymbolName(SymbolRef(s))
			switch rng.IntN(5) {
			case 0:
				r.Name, r.Path = r.Name+"_new", "other.c"
			case 1:
				r.Drop = true
			case 2, 3:
				first := rng.Uint32N(10)
				r.Line = func(line uint32) (uint32, bool) { return line ^ first, line%4 != first%4 }
				if first%2 == 0 {
					r.CallLine = func(line uint32, callee SymbolRef) (uint32, bool) { return line ^ uint32(callee), line != first }
				}
			}
		}
		got := p.Relocate(func(s SymbolRef) Relocation { return where[s] })
		want := New()
		symbols := make([]SymbolRef, len(where))
		for s, r := range where {
			symbols[s] = want.AddSymbol(want.AddUnit(r.Path), r.Name)
		}
		for s, f := range p.Functions() {
			if where[s].Drop {
				continue
			}
			var b Body
			treeOf(f.Records).relocate(&b, s, where, symbols)
			want.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, b.Records()})
		}
		require.NoError(t, Compare(want.pruned(), got), "seed %d", seed)
	}
}

// TestRelocateNothing leaves records and their order as they are.
func TestRelocateNothing(t *testing.T) {
	p := randomProfile(rand.New(rand.NewPCG(3, 17)))
	q := p.Relocate(func(s SymbolRef) Relocation {
		return Relocation{Path: p.UnitPath(p.SymbolUnit(s)), Name: p.SymbolName(s)}
	})
	assert.NoError(t, Compare(p, q))
}
