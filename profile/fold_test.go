package profile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A naiveFold does the same as FoldInlined, slowly, for one profile.
type naiveFold struct {
	maxDepth int
	folded   int
	heads    map[SymbolRef]*big.Int
	bodies   map[SymbolRef]*naiveBody
}

func (n *naiveFold) add(s SymbolRef, head uint64, b *naiveBody) {
	if n.bodies[s] == nil {
		n.heads[s], n.bodies[s] = new(big.Int), newNaiveBody()
	}
	n.heads[s].Add(n.heads[s], new(big.Int).SetUint64(head))
	n.bodies[s].merge(n.cut(b, 0))
}

// cut returns a body without the bodies that are nested too deep, which it adds to their own
// functions.
func (n *naiveFold) cut(b *naiveBody, depth int) *naiveBody {
	c := newNaiveBody()
	c.merge(&naiveBody{counts: b.counts})
	for k, nested := range b.nested {
		if depth < n.maxDepth {
			c.enter(k).merge(n.cut(nested, depth+1))
			continue
		}
		n.folded++
		entries := naiveEntries(nested)
		c.add(naiveKey{k.line, k.discriminator, KindCall, k.callee}, entries)
		n.add(k.callee, entries, nested)
	}
	return c
}

// naiveEntries estimates how often a body was entered.
func naiveEntries(b *naiveBody) uint64 {
	first := naiveKey{line: math.MaxUint32, discriminator: math.MaxUint32}
	earlier := func(k naiveKey) bool {
		return k.line < first.line || k.line == first.line && k.discriminator < first.discriminator
	}
	anything := false
	for k, count := range b.counts {
		if earlier(k) {
			first = k
		}
		anything = anything || count.Sign() > 0
	}
	for k, nested := range b.nested {
		if earlier(k) {
			first = k
		}
		anything = anything || naiveEntries(nested) > 0
	}
	at := func(k naiveKey) bool { return k.line == first.line && k.discriminator == first.discriminator }
	sum := new(big.Int)
	if count := b.counts[naiveKey{first.line, first.discriminator, KindCount, 0}]; count != nil {
		sum.Set(count)
	} else {
		for k, count := range b.counts {
			if at(k) {
				sum.Add(sum, count)
			}
		}
		for k, nested := range b.nested {
			if at(k) {
				sum.Add(sum, new(big.Int).SetUint64(naiveEntries(nested)))
			}
		}
	}
	if sum.Sign() == 0 && anything {
		return 1
	}
	return saturated(sum)
}

func TestFoldInlinedAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	moved := 0
	for range testenv.Rounds(60, 600) {
		p := randomProfile(rng)
		before := spell(p)
		naive := naiveFold{maxDepth: rng.IntN(5), heads: map[SymbolRef]*big.Int{}, bodies: map[SymbolRef]*naiveBody{}}
		timestamps := map[SymbolRef]uint64{}
		for s, f := range p.Functions() {
			naive.add(s, f.HeadCount, naiveOf(f.Records))
			timestamps[s] = f.Timestamp
		}
		want := p.like()
		for s, body := range naive.bodies {
			want.AddFunction(s, Function{saturated(naive.heads[s]), timestamps[s], body.records()})
		}
		q, folded := p.FoldInlined(naive.maxDepth)
		requireTrimmed(t, q)
		require.Equal(t, functionsOf(spell(want)), functionsOf(spell(q)))
		require.Equal(t, naive.folded, folded)
		require.Equal(t, before, spell(p))
		moved += folded
	}
	assert.Greater(t, moved, testenv.Rounds(50, 500))
}

// TestFoldInlinedKeepsSamples checks that the sum of samples stays the same and that no body is
// nested deeper than allowed.
func TestFoldInlinedKeepsSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 58))
	s := shape{lines: 4, discriminators: 2, callees: 6, siblings: 6, depth: 6}
	for range 100 {
		p := New()
		var b Body
		for i := range 6 {
			p.AddSymbol(p.AddUnit(fmt.Sprint(i%2)), fmt.Sprint(i))
		}
		for i := range 6 {
			b.Reset()
			s.fill(rng, &b, newNaiveBody(), 0)
			records := b.Records()
			for i := range records {
				if records[i].Kind != KindInlined {
					records[i].Count %= 1 << 40
				}
			}
			p.AddFunction(SymbolRef(i), Function{Records: records})
		}
		want := p.Summarize().TotalCount
		for maxDepth := range 8 {
			q, folded := p.FoldInlined(maxDepth)
			require.Equal(t, want, q.Summarize().TotalCount)
			deepest := 0
			for _, f := range q.Functions() {
				w := Walk(f.Records)
				for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
					if r.Kind == KindInlined {
						deepest = max(deepest, depth+1)
					}
				}
			}
			require.LessOrEqual(t, deepest, maxDepth)
			if folded == 0 {
				require.NoError(t, Compare(p.pruned(), q))
			}
			again, none := q.FoldInlined(maxDepth)
			require.NoError(t, Compare(q, again))
			require.Zero(t, none)
		}
	}
}

func TestFoldInlinedExample(t *testing.T) {
	// f inlines g at line 3, and g inlines h at its first line, where it calls k as well.
	p := New()
	a, b := p.AddUnit("a.c"), p.AddUnit("b.h")
	f, g, h, k := p.AddSymbol(a, "f"), p.AddSymbol(b, "g"), p.AddSymbol(b, "h"), p.AddSymbol(UnknownUnit, "k")
	var body Body
	body.Count(1, 0, 10)
	body.Enter(3, 0, g)
	body.Enter(0, 0, h)
	body.Count(1, 0, 7)
	body.Count(2, 0, 700)
	body.Leave()
	body.Call(0, 0, k, 2)
	body.Count(5, 0, 9)
	body.Leave()
	p.AddFunction(f, Function{HeadCount: 10, Timestamp: 4, Records: body.Records()})
	p.AddFunction(h, Function{HeadCount: 5, Timestamp: 6, Records: []Record{{Line: 1, Count: 5}}})

	q, folded := p.FoldInlined(1)
	want := p.like()
	body.Reset()
	body.Count(1, 0, 10)
	body.Enter(3, 0, g)
	body.Call(0, 0, h, 7)
	body.Call(0, 0, k, 2)
	body.Count(5, 0, 9)
	body.Leave()
	want.AddFunction(f, Function{HeadCount: 10, Timestamp: 4, Records: body.Records()})
	want.AddFunction(h, Function{HeadCount: 12, Timestamp: 6, Records: []Record{{Line: 1, Count: 12}, {Line: 2, Count: 700}}})
	assert.NoError(t, Compare(want, q))
	assert.Equal(t, 1, folded)

	q, folded = p.FoldInlined(0)
	want = p.like()
	want.AddFunction(f, Function{HeadCount: 10, Timestamp: 4, Records: []Record{
		{Line: 1, Count: 10}, {Line: 3, Kind: KindCall, Callee: g, Count: 9},
	}})
	want.AddFunction(g, Function{HeadCount: 9, Records: []Record{
		{Kind: KindCall, Callee: h, Count: 7}, {Kind: KindCall, Callee: k, Count: 2}, {Line: 5, Count: 9},
	}})
	want.AddFunction(h, Function{HeadCount: 12, Timestamp: 6, Records: []Record{{Line: 1, Count: 12}, {Line: 2, Count: 700}}})
	assert.NoError(t, Compare(want, q))
	assert.Equal(t, 2, folded)
}

// TestFoldInlinedDeep has a body with so many levels that visiting all levels from each level would
// take hours.
func TestFoldInlinedDeep(t *testing.T) {
	p := New()
	f, g := p.AddSymbol(UnknownUnit, "f"), p.AddSymbol(UnknownUnit, "g")
	var b Body
	for range deep / 4 {
		b.Enter(1, 0, g)
	}
	b.Count(1, 0, 1)
	for range deep / 4 {
		b.Leave()
	}
	p.AddFunction(f, Function{Records: b.Records()})
	q, folded := p.FoldInlined(3)
	assert.Equal(t, (deep/4+2)/4, folded)
	assert.Equal(t, uint64(1), q.Summarize().TotalCount)
	q, folded = p.FoldInlined(0)
	assert.Equal(t, deep/4, folded)
	assert.Equal(t, uint64(1), q.Summarize().TotalCount)
	g, _ = q.FindSymbol(UnknownUnit, "g")
	assert.Equal(t, &Function{
		HeadCount: uint64(deep / 4),
		Records:   []Record{{Line: 1, Count: 1}, {Line: 1, Kind: KindCall, Callee: g, Count: uint64(deep/4 - 1)}},
	}, q.Function(g))
}
