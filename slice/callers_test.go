package slice

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestCallersNaively has few functions that are inlined in many others, often in the same way, and
// compares slices with what the slow way gives.
func TestCallersNaively(t *testing.T) {
	text := textOf("int f() {} int g() {} int h() {}")
	for seed := range uint64(testenv.Rounds(100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 8))
		p := profile.New()
		var own, others []profile.SymbolRef
		for _, name := range []string{"f", "g", "h"} {
			own = append(own, p.AddSymbol(p.AddFile("a.c"), name))
			others = append(others, p.AddSymbol(p.AddFile("b.c"), "other_"+name))
		}
		for i := range 2 + r.IntN(6) {
			var body profile.Body
			for line := range uint32(r.IntN(5)) {
				outer := r.IntN(2) == 0
				if outer {
					body.Enter(line, 0, others[r.IntN(len(others))])
				}
				addBody(&body, r, own)
				if outer {
					body.Leave()
				}
			}
			name := fmt.Sprintf("far%d", i)
			if r.IntN(8) == 0 {
				name = "far0.part.0"
			}
			symbol := p.AddSymbol(p.AddFile("b.c"), name)
			p.AddFunction(symbol, profile.Function{HeadCount: 7, Timestamp: r.Uint64N(4), Records: body.Records()})
		}
		q := Request{Text: text, Target: Version3}
		got, err := FromProfile(p).Select(q)
		require.NoError(t, err)
		require.NoError(t, profile.Compare(selectNaively(p, q).profile(), got), "seed %d", seed)
	}
}

// addBody adds a function that has others inlined.
func addBody(to *profile.Body, r *rand.Rand, own []profile.SymbolRef) {
	to.Enter(7, 0, own[r.IntN(2)])
	to.Count(1+r.Uint32N(3), 0, r.Uint64N(4))
	for range r.IntN(3) {
		to.Enter(2, r.Uint32N(2), own[2])
		to.Count(1, 0, r.Uint64N(3))
		if r.IntN(8) == 0 {
			addBody(to, r, own)
		}
		to.Leave()
	}
	to.Leave()
}

// TestAlikeBodies has a function inlined in two others, and says whether the bodies are added up.
func TestAlikeBodies(t *testing.T) {
	type add = func(b *profile.Body, inner profile.SymbolRef)
	count := func(n uint64) add { return func(b *profile.Body, _ profile.SymbolRef) { b.Count(1, 0, n) } }
	inlined := func(line uint32, n uint64) add {
		return func(b *profile.Body, inner profile.SymbolRef) {
			b.Count(1, 0, 5)
			b.Enter(line, 0, inner)
			b.Count(1, 0, n)
			b.Leave()
		}
	}
	deeper := func(b *profile.Body, inner profile.SymbolRef) {
		b.Count(1, 0, 5)
		b.Enter(2, 0, inner)
		inlined(2, 3)(b, inner)
		b.Leave()
	}
	for name, c := range map[string]struct {
		a, b  add
		alike bool
	}{
		"counts alone":                {count(1), count(2), true},
		"no samples in one":           {count(1), count(0), false},
		"more than sums can hold":     {count(1), count(maxTotal), false},
		"something inlined":           {inlined(2, 3), inlined(2, 4), true},
		"inlined at another line":     {inlined(2, 3), inlined(3, 3), false},
		"nothing inlined in one":      {inlined(2, 3), count(1), false},
		"no samples in what is there": {inlined(2, 3), inlined(2, 0), false},
		"something in that":           {deeper, deeper, false},
	} {
		p := profile.New()
		f, inner := p.AddSymbol(p.AddFile("a.c"), "f"), p.AddSymbol(p.AddFile("a.c"), "inner")
		for i, add := range []add{c.a, c.b} {
			var body profile.Body
			body.Enter(3, 0, f)
			add(&body, inner)
			body.Leave()
			symbol := p.AddSymbol(p.AddFile("b.c"), fmt.Sprintf("caller%d", i))
			p.AddFunction(symbol, profile.Function{HeadCount: 9, Timestamp: uint64(8 - i), Records: body.Records()})
		}
		s, err := FromProfile(p).Select(Request{Text: textOf("int f() {}"), Target: Version3})
		require.NoError(t, err)
		callers := 0
		for symbol, function := range s.Functions() {
			callers++
			assert.Zero(t, function.HeadCount, name)
			if c.alike {
				assert.Equal(t, "caller1", s.SymbolName(symbol), "%s: its timestamp is earlier", name)
			}
		}
		assert.Equal(t, c.alike, callers == 1, name)
	}
}
