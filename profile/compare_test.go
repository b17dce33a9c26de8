package profile

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// shuffled returns an equal profile whose units and symbols have other numbers.
func shuffled(rng *rand.Rand, p *Profile) *Profile {
	q := New()
	files := map[UnitRef]UnitRef{}
	for _, f := range rng.Perm(p.NumUnits()) {
		files[UnitRef(f)] = q.AddUnit(p.UnitPath(UnitRef(f)))
	}
	symbols := make([]SymbolRef, p.NumSymbols())
	for _, s := range rng.Perm(p.NumSymbols()) {
		symbols[s] = q.AddSymbol(files[p.SymbolUnit(SymbolRef(s))], p.SymbolName(SymbolRef(s)))
	}
	var b Body
	for s, f := range p.Functions() {
		q.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, b.Renumber(f.Records, symbols)})
	}
	return q
}

func TestCompareIgnoresNumbersAndSummaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range testenv.Rounds(100, 1000) {
		p := randomProfile(rng)
		q := shuffled(rng, p)
		q.AddUnit("empty")
		q.Summary = &afdo.Summary{TotalCount: 1}
		require.NoError(t, Compare(p, q))
		require.NoError(t, Compare(q, p))
	}
}

// TestCompareAgainstNaive checks that Compare returns an error if and only if the naive profiles
// differ.
func TestCompareAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	differences := 0
	for range testenv.Rounds(150, 1500) {
		p := randomProfile(rng)
		q := shuffled(rng, p)
		for range rng.IntN(3) {
			change(rng, q)
		}
		same := reflect.DeepEqual(spell(p), spell(q))
		if !same {
			differences++
		}
		for _, err := range []error{Compare(p, q), Compare(q, p)} {
			require.Equal(t, same, err == nil, "%v", err)
		}
	}
	assert.Greater(t, differences, testenv.Rounds(50, 500))
}

// change makes a small random change, which may leave the profile equal.
func change(rng *rand.Rand, p *Profile) {
	s := SymbolRef(rng.IntN(p.NumSymbols()))
	switch rng.IntN(6) {
	case 0:
		p.AddUnit("z.c")
	case 1:
		p.AddSymbol(UnknownUnit, string(rune('a'+rng.IntN(6))))
	case 2:
		p.AddFunction(s, Function{HeadCount: rng.Uint64N(2)})
	case 3:
		p.AddFunction(s, Function{Timestamp: rng.Uint64N(2)})
	case 4:
		p.AddFunction(s, Function{Records: []Record{{Line: rng.Uint32N(3), Count: rng.Uint64N(2)}}})
	case 5:
		var b Body
		b.Enter(rng.Uint32N(3), 0, s)
		b.Enter(rng.Uint32N(3), 0, s)
		b.Leave()
		b.Leave()
		p.AddFunction(s, Function{Records: b.Records()})
	}
}

func TestCompareSaysWhere(t *testing.T) {
	// Each case begins with the same units and symbols: f and g of a.c, h of b.c, k of the unknown
	// unit.
	const f, g, h, k = SymbolRef(0), SymbolRef(1), SymbolRef(2), SymbolRef(3)
	build := func(change func(p *Profile, b *Body)) *Profile {
		p := New()
		a, b := p.AddUnit("a.c"), p.AddUnit("b.c")
		p.AddSymbol(a, "f")
		p.AddSymbol(a, "g")
		p.AddSymbol(b, "h")
		p.AddSymbol(UnknownUnit, "k")
		var body Body
		body.Count(1, 0, 5)
		if change != nil {
			change(p, &body)
		}
		p.AddFunction(f, Function{Records: body.Records()})
		return p
	}
	in := func(depth int, inner func(b *Body)) func(*Profile, *Body) {
		return func(_ *Profile, b *Body) {
			for i := range depth {
				b.Enter(3, uint32(i%2), []SymbolRef{h, k}[i%2])
			}
			inner(b)
			for range depth {
				b.Leave()
			}
		}
	}
	tests := []struct {
		name          string
		first, second func(p *Profile, b *Body)
		want          string // empty if they are the same
		back          string // the other way round
	}{
		{
			name: "same",
		},
		{
			name:  "symbol in a unit that the other has",
			first: func(p *Profile, _ *Body) { p.AddSymbol(1, "x") },
			want:  `symbol "x" of unit "a.c" is only in the first profile`,
			back:  `symbol "x" of unit "a.c" is only in the second profile`,
		},
		{
			name:  "symbol in a unit that the other has not",
			first: func(p *Profile, _ *Body) { p.AddSymbol(p.AddUnit("c.c"), "f") },
			want:  `symbol "f" of unit "c.c" is only in the first profile`,
			back:  `symbol "f" of unit "c.c" is only in the second profile`,
		},
		{
			name:   "as many symbols, but others",
			first:  func(p *Profile, _ *Body) { p.AddSymbol(UnknownUnit, "x") },
			second: func(p *Profile, _ *Body) { p.AddSymbol(UnknownUnit, "y") },
			want:   `symbol "x" is only in the first profile`,
			back:   `symbol "y" is only in the first profile`,
		},
		{
			name:  "function",
			first: func(p *Profile, _ *Body) { p.AddFunction(k, Function{HeadCount: 1}) },
			want:  `symbol "k": has samples only in the first profile`,
			back:  `symbol "k": has samples only in the second profile`,
		},
		{
			name:   "head count",
			first:  func(p *Profile, _ *Body) { p.AddFunction(g, Function{HeadCount: 1, Timestamp: 2}) },
			second: func(p *Profile, _ *Body) { p.AddFunction(g, Function{HeadCount: 7, Timestamp: 2}) },
			want:   `symbol "g" of unit "a.c": head count: 1 in the first profile, 7 in the second`,
			back:   `symbol "g" of unit "a.c": head count: 7 in the first profile, 1 in the second`,
		},
		{
			name:   "timestamp",
			first:  func(p *Profile, _ *Body) { p.AddFunction(g, Function{HeadCount: 1, Timestamp: 2}) },
			second: func(p *Profile, _ *Body) { p.AddFunction(g, Function{HeadCount: 1}) },
			want:   `symbol "g" of unit "a.c": timestamp: 2 in the first profile, 0 in the second`,
			back:   `symbol "g" of unit "a.c": timestamp: 0 in the first profile, 2 in the second`,
		},
		{
			name:  "count",
			first: func(_ *Profile, b *Body) { b.Count(1, 0, 1) },
			want:  `symbol "f" of unit "a.c": count at 1: 6 in the first profile, 5 in the second`,
			back:  `symbol "f" of unit "a.c": count at 1: 5 in the first profile, 6 in the second`,
		},
		{
			name:  "record at the end",
			first: func(_ *Profile, b *Body) { b.Count(9, 4, 1) },
			want:  `symbol "f" of unit "a.c": count at 9.4 only in the first profile`,
			back:  `symbol "f" of unit "a.c": count at 9.4 only in the second profile`,
		},
		{
			name:  "record at the beginning",
			first: func(_ *Profile, b *Body) { b.Call(0, 4, g, 1) },
			want:  `symbol "f" of unit "a.c": calls of "g" of unit "a.c" at 0.4 only in the first profile`,
			back:  `symbol "f" of unit "a.c": calls of "g" of unit "a.c" at 0.4 only in the second profile`,
		},
		{
			name:   "calls",
			first:  func(_ *Profile, b *Body) { b.Call(3, 0, k, 1) },
			second: func(_ *Profile, b *Body) { b.Call(3, 0, k, 2) },
			want:   `symbol "f" of unit "a.c": calls of "k" at 3: 1 in the first profile, 2 in the second`,
			back:   `symbol "f" of unit "a.c": calls of "k" at 3: 2 in the first profile, 1 in the second`,
		},
		{
			name:   "record of an inlined body",
			first:  in(2, func(b *Body) { b.Count(8, 0, 1) }),
			second: in(2, func(b *Body) {}),
			want:   `symbol "f" of unit "a.c": inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: count at 8 only in the first profile`,
			back:   `symbol "f" of unit "a.c": inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: count at 8 only in the second profile`,
		},
		{
			name:   "inlined body before one more record",
			first:  func(p *Profile, b *Body) { in(2, func(b *Body) {})(p, b); b.Count(9, 0, 1) },
			second: func(p *Profile, b *Body) { in(1, func(b *Body) {})(p, b); b.Count(9, 0, 1) },
			want:   `symbol "f" of unit "a.c": inlined "h" of unit "b.c" at 3: inlined "k" at 3.1 only in the first profile`,
			back:   `symbol "f" of unit "a.c": inlined "h" of unit "b.c" at 3: inlined "k" at 3.1 only in the second profile`,
		},
		{
			name: "second inlined body",
			first: func(p *Profile, b *Body) {
				in(3, func(b *Body) {})(p, b)
				b.Enter(4, 0, g)
				b.Count(1, 0, 1)
				b.Leave()
			},
			second: func(p *Profile, b *Body) {
				in(3, func(b *Body) {})(p, b)
				b.Enter(4, 0, g)
				b.Count(2, 0, 1)
				b.Leave()
			},
			want: `symbol "f" of unit "a.c": inlined "g" of unit "a.c" at 4: count at 1 only in the first profile`,
			back: `symbol "f" of unit "a.c": inlined "g" of unit "a.c" at 4: count at 1 only in the second profile`,
		},
		{
			name:   "deep",
			first:  in(1000, func(b *Body) { b.Count(8, 0, 1) }),
			second: in(1000, func(b *Body) { b.Count(8, 0, 2) }),
			want: `symbol "f" of unit "a.c": ` +
				`inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: ` +
				`992 more: ` +
				`inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: inlined "h" of unit "b.c" at 3: inlined "k" at 3.1: ` +
				`count at 8: 1 in the first profile, 2 in the second`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			first, second := build(test.first), build(test.second)
			if test.want == "" {
				assert.NoError(t, Compare(first, second))
				return
			}
			assert.EqualError(t, Compare(first, second), test.want)
			if test.back != "" {
				assert.EqualError(t, Compare(second, first), test.back)
			}
		})
	}
}

// TestCompareFindsEveryChange changes one record of a random function at a time.
func TestCompareFindsEveryChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	s := shape{lines: 5, discriminators: 2, callees: 4, siblings: 5, depth: 4}
	for range 100 {
		var b Body
		s.fill(rng, &b, newNaiveBody(), 0)
		records := b.Records()
		build := func(records []Record) *Profile {
			p := New()
			for i := range 5 {
				p.AddSymbol(UnknownUnit, fmt.Sprint(i))
			}
			p.AddFunction(4, Function{HeadCount: 1, Records: records})
			return p
		}
		p := build(records)
		for i, r := range records {
			if r.Kind == KindInlined {
				continue
			}
			other := append([]Record(nil), records...)
			other[i].Count ^= 1
			err := Compare(p, build(other))
			require.ErrorContains(t, err, fmt.Sprintf("at %s: %d in the first profile, %d in the second", location(r), r.Count, r.Count^1))
		}
	}
}

func location(r Record) string {
	if r.Discriminator == 0 {
		return fmt.Sprint(r.Line)
	}
	return fmt.Sprintf("%d.%d", r.Line, r.Discriminator)
}
