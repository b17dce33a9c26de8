package rank

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A slow ranking adds up the same samples by recursion over maps, with a stack of the bodies around
// the current record.
type slow struct {
	total   uint64
	symbols map[naive.Key]*Symbol
	units   map[string]*Unit
	calls   map[slowSite]uint64
	lines   map[slowLine]uint64
}

type slowLine struct {
	symbol naive.Key
	line   uint32
}

type slowSite struct {
	caller, callee naive.Key
	at             naive.Place
}

func newSlow(p *naive.Profile) *slow {
	s := &slow{symbols: map[naive.Key]*Symbol{}, units: map[string]*Unit{"": {}}, calls: map[slowSite]uint64{}, lines: map[slowLine]uint64{}}
	for k := range p.Symbols {
		s.symbols[k] = &Symbol{}
		if s.units[k.Path] == nil {
			s.units[k.Path] = &Unit{}
		}
		s.units[k.Path].Symbols++
	}
	for k, f := range p.Functions {
		s.symbols[k].Head = f.Head
		s.units[k.Path].Functions++
		s.body(f.Body, []naive.Key{k})
	}
	return s
}

func (s *slow) body(b *naive.Body, open []naive.Key) {
	outermost, innermost := open[0], open[len(open)-1]
	for at, n := range b.Counts {
		if line := (slowLine{innermost, at.Line}); n > 0 {
			s.lines[line] = saturating.Add(s.lines[line], n)
		}
		s.total = saturating.Add(s.total, n)
		s.symbols[innermost].Own = saturating.Add(s.symbols[innermost].Own, n)
		s.units[innermost.Path].Own = saturating.Add(s.units[innermost.Path].Own, n)
		s.symbols[outermost].Body = saturating.Add(s.symbols[outermost].Body, n)
		s.units[outermost.Path].Body = saturating.Add(s.units[outermost.Path].Body, n)
		for i, k := range open {
			if !slices.Contains(open[:i], k) {
				s.symbols[k].Total = saturating.Add(s.symbols[k].Total, n)
			}
		}
	}
	for at, calls := range b.Calls {
		for callee, n := range calls {
			site := slowSite{innermost, callee, at}
			s.calls[site] = saturating.Add(s.calls[site], n)
		}
	}
	for _, inlined := range b.Inlined {
		for callee, nested := range inlined {
			s.symbols[callee].Places++
			s.body(nested, append(slices.Clone(open), callee))
		}
	}
}

func requireSame(t *testing.T, want *slow, p *profile.Profile) {
	t.Helper()
	key := func(s profile.SymbolRef) naive.Key {
		return naive.Key{Path: p.UnitPath(p.SymbolUnit(s)), Name: p.SymbolName(s)}
	}
	r := New(p)
	require.Equal(t, want.total, r.Total)
	require.Len(t, r.Symbols, len(want.symbols))
	for i, s := range r.Symbols {
		k := key(profile.SymbolRef(i))
		require.Equal(t, *want.symbols[k], s, "%q", k)
	}
	for i, u := range r.Units {
		if slowUnit := want.units[p.UnitPath(profile.UnitRef(i))]; slowUnit != nil {
			require.Equal(t, *slowUnit, u)
		} else {
			require.Equal(t, Unit{}, u, "a unit without symbols")
		}
	}
	lines := Lines(p)
	require.Len(t, lines, len(want.lines))
	for i, l := range lines {
		require.Equal(t, want.lines[slowLine{key(l.Symbol), l.Line.Line}], l.Count)
		if i > 0 {
			require.GreaterOrEqual(t, lines[i-1].Count, l.Count)
		}
	}
	calls := Calls(p)
	require.Len(t, calls, len(want.calls))
	for i, c := range calls {
		at := naive.Place{Line: c.Line, Disc: c.Discriminator}
		require.Equal(t, want.calls[slowSite{key(c.Caller), key(c.Callee), at}], c.Count)
		if i > 0 {
			require.GreaterOrEqual(t, calls[i-1].Count, c.Count)
		}
	}
}

func TestRandom(t *testing.T) {
	recursive := 0
	for seed := range uint64(300) {
		o := gen.All()
		o.LongNames = false
		o.Symbols, o.Units = 3, 2 // few, so that some are inlined in themselves
		data, truth := gen.Random(rand.New(rand.NewPCG(seed, 7)), o)
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		p, err := profile.Read(r)
		require.NoError(t, err)
		canonical, err := truth.Canonical()
		require.NoError(t, err)
		want := newSlow(canonical)
		requireSame(t, want, p)
		for _, s := range want.symbols {
			if s.Places > 0 && s.Body > 0 && s.Total < math.MaxUint64 && s.Total > s.Body {
				recursive++
			}
		}
	}
	assert.NotZero(t, recursive, "no symbol was both a function and inlined")
}

func TestCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	for _, name := range []string{"keystore2.v3", "libgui.v3"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(testenv.Corpus(t, name))
			require.NoError(t, err)
			truth, err := naive.DecodeV3(data)
			require.NoError(t, err)
			canonical, err := truth.Canonical()
			require.NoError(t, err)
			p, err := gcov.ParseBytes(testenv.CorpusData(t, name))
			require.NoError(t, err)
			requireSame(t, newSlow(canonical), p)
		})
	}
}

// recursion returns a profile with a function f of a.c that is inlined in itself, directly and
// through g of b.c.
func recursion() (p *profile.Profile, f, g profile.SymbolRef) {
	p = profile.New()
	a, b := p.AddUnit("a.c"), p.AddUnit("b.c")
	f, g = p.AddSymbol(a, "f"), p.AddSymbol(b, "g")
	var body profile.Body
	body.Count(1, 0, 1)
	body.Call(1, 0, g, 7)
	body.Enter(2, 0, f)
	body.Count(1, 0, 10)
	body.Call(1, 0, g, 70)
	body.Leave()
	body.Enter(3, 0, g)
	body.Count(1, 0, 100)
	body.Enter(4, 0, f)
	body.Count(1, 0, 1000)
	body.Leave()
	body.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 5, Records: body.Records()})
	body.Reset()
	body.Enter(3, 0, f)
	body.Count(1, 0, 10000)
	body.Leave()
	p.AddFunction(g, profile.Function{Records: body.Records()})
	return p, f, g
}

func TestRecursionCountsOnce(t *testing.T) {
	p, f, g := recursion()
	r := New(p)
	assert.Equal(t, uint64(11111), r.Total)
	assert.Equal(t, Symbol{Own: 11011, Total: 11111, Body: 1111, Head: 5, Places: 3}, r.Symbols[f])
	assert.Equal(t, Symbol{Own: 100, Total: 11100, Body: 10000, Places: 1}, r.Symbols[g])
	assert.Equal(t, []Unit{{}, {Own: 11011, Body: 1111, Symbols: 1, Functions: 1}, {Own: 100, Body: 10000, Symbols: 1, Functions: 1}}, r.Units)
	assert.Equal(t, []Call{{Site{f, 1, 0, g}, 77}}, Calls(p))
}

func TestSaturates(t *testing.T) {
	p := profile.New()
	f, g := p.AddSymbol(profile.UnknownUnit, "f"), p.AddSymbol(profile.UnknownUnit, "g")
	var body profile.Body
	body.Count(1, 0, math.MaxUint64-1)
	body.Call(1, 0, f, math.MaxUint64-1)
	body.Enter(2, 0, f)
	body.Count(1, 0, 2)
	body.Call(1, 0, f, 2)
	body.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 1, Records: body.Records()})
	p.AddFunction(g, profile.Function{HeadCount: 1, Records: body.Records()})
	r := New(p)
	assert.Equal(t, uint64(math.MaxUint64), r.Total)
	assert.Equal(t, Symbol{Own: math.MaxUint64, Total: math.MaxUint64, Body: math.MaxUint64, Head: 1, Places: 2}, r.Symbols[f])
	assert.Equal(t, Symbol{Own: math.MaxUint64 - 1, Total: math.MaxUint64, Body: math.MaxUint64, Head: 1}, r.Symbols[g])
	assert.Equal(t, Unit{Own: math.MaxUint64, Body: math.MaxUint64, Symbols: 2, Functions: 2}, r.Units[profile.UnknownUnit])
	assert.Equal(t, []Call{{Site{f, 1, 0, f}, math.MaxUint64}, {Site{g, 1, 0, f}, math.MaxUint64 - 1}}, Calls(p))
}

// TestDeep ranks a function that is inlined in itself a million times over.
func TestDeep(t *testing.T) {
	const depth = 200_000
	p := profile.New()
	f := p.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	for range depth {
		body.Count(0, 0, 1)
		body.Call(0, 0, f, 2)
		body.Enter(1, 0, f)
	}
	for range depth {
		body.Leave()
	}
	p.AddFunction(f, profile.Function{Records: body.Records()})
	assert.Equal(t, Symbol{Own: depth, Total: depth, Body: depth, Places: depth}, New(p).Symbols[f])
	assert.Equal(t, []Call{{Site{f, 0, 0, f}, 2 * depth}}, Calls(p))
}

func TestEmpty(t *testing.T) {
	r := New(profile.New())
	assert.Zero(t, r.Total)
	assert.Empty(t, r.Symbols)
	assert.Equal(t, []Unit{{}}, r.Units)
	assert.Empty(t, Calls(profile.New()))
}
