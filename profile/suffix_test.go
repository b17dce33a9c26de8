package profile

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestStripSuffixesAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	suffixes := []string{"", ".isra.0", ".part.1.cold", ".cold"}
	joined := 0
	for range testenv.Rounds(60, 600) {
		p := randomProfile(rng)
		// The same profile with suffixes, and what it must be without them.
		suffixed, want := New(), New()
		symbols, plain := make([]SymbolRef, p.NumSymbols()), make([]SymbolRef, p.NumSymbols())
		renamed := 0
		for s := range p.NumSymbols() {
			path, name := p.UnitPath(p.SymbolUnit(SymbolRef(s))), string(rune('f'+rng.IntN(2)))
			suffix := suffixes[rng.IntN(len(suffixes))]
			symbols[s] = suffixed.AddSymbol(suffixed.AddUnit(path), name+suffix)
			plain[s] = want.AddSymbol(want.AddUnit(path), name)
		}
		for s := range suffixed.NumSymbols() {
			if symname.Strip(suffixed.SymbolName(SymbolRef(s))) != suffixed.SymbolName(SymbolRef(s)) {
				renamed++
			}
		}
		var b Body
		for s, f := range p.Functions() {
			suffixed.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, b.Renumber(f.Records, symbols)})
			// By hand: a naive body with other callees.
			body := naiveOf(f.Records).renamed(plain)
			want.AddFunction(plain[s], Function{f.HeadCount, f.Timestamp, body.records()})
		}
		q, gotRenamed, merged := suffixed.StripSuffixes()
		require.Equal(t, spell(want), spell(q))
		require.Equal(t, renamed, gotRenamed)
		require.Equal(t, suffixed.NumSymbols()-want.NumSymbols(), merged)
		require.Nil(t, q.Summary)
		joined += merged
	}
	assert.Greater(t, joined, testenv.Rounds(30, 300))
}

// renamed returns a body with other callees.
func (n *naiveBody) renamed(symbols []SymbolRef) *naiveBody {
	m := newNaiveBody()
	for k, count := range n.counts {
		if k.kind == KindCall {
			k.callee = symbols[k.callee]
		}
		m.merge(&naiveBody{counts: map[naiveKey]*big.Int{k: count}})
	}
	for k, nested := range n.nested {
		k.callee = symbols[k.callee]
		m.enter(k).merge(nested.renamed(symbols))
	}
	return m
}
