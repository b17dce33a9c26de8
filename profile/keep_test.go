package profile

import (
	"cmp"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// samples returns the sum of the counts of a function.
func (n namedBody) samples() *big.Int {
	sum := new(big.Int)
	for key, count := range n {
		if strings.HasSuffix(key, " count") {
			sum.Add(sum, new(big.Int).SetUint64(count))
		}
	}
	return sum
}

func (n naiveProfile) samples() *big.Int {
	sum := new(big.Int)
	for _, f := range n {
		sum.Add(sum, f.body.samples())
	}
	return sum
}

// functionsOf returns the functions of a naive profile, without symbols that have no function.
func functionsOf(n naiveProfile) naiveProfile {
	n = maps.Clone(n)
	maps.DeleteFunc(n, func(_ string, f *naiveFunction) bool { return !f.functions })
	return n
}

// requireTrimmed checks a profile from which functions were removed: it is canonical, and has no
// summary and no unused symbols and units.
func requireTrimmed(t *testing.T, p *Profile) {
	t.Helper()
	require.Nil(t, p.Summary)
	needed := map[SymbolRef]bool{}
	for s, f := range p.Functions() {
		requireCanonical(t, f.Records)
		needed[s] = true
		for _, r := range f.Records {
			if r.Kind != KindCount {
				needed[r.Callee] = true
			}
		}
	}
	require.Len(t, needed, p.NumSymbols())
	files := map[UnitRef]bool{UnknownUnit: true}
	for s := range needed {
		files[p.SymbolUnit(s)] = true
	}
	require.Len(t, files, p.NumUnits())
}

func TestKeepFunctionsAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for range testenv.Rounds(50, 500) {
		p := countable(rng)
		want := functionsOf(spell(p))
		before := spell(p)
		all, lost, n := want.samples(), new(big.Int), 0
		chosen := make([]bool, p.NumSymbols())
		for s := range chosen {
			chosen[s] = rng.IntN(2) == 0
			if f := want[qualified(p, SymbolRef(s))]; !chosen[s] && f != nil {
				lost.Add(lost, f.body.samples())
				delete(want, qualified(p, SymbolRef(s)))
				n++
			}
		}
		q, removed := p.KeepFunctions(func(s SymbolRef) bool { return chosen[s] })
		requireTrimmed(t, q)
		require.Equal(t, want, functionsOf(spell(q)))
		require.Equal(t, before, spell(p))
		require.Equal(t, n, removed.Functions)
		require.Equal(t, saturated(lost), removed.Samples)
		require.InDelta(t, bigShare(lost, all), removed.Share, 1e-12)
	}
}

// bigShare returns part/whole, or 0 if whole is 0.
func bigShare(part, whole *big.Int) float64 {
	if whole.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return share
}

// hottest returns the names of the functions that KeepHottest should keep. It tries every possible
// limit.
func hottest(n naiveProfile, share Ratio) map[string]bool {
	counts := []*big.Int{}
	for _, f := range n {
		if s := f.body.samples(); s.Sign() > 0 {
			counts = append(counts, s)
		}
	}
	slices.SortFunc(counts, func(x, y *big.Int) int { return y.Cmp(x) }) // the highest limit first
	kept := map[string]bool{}
	want := new(big.Rat).SetFrac(new(big.Int).SetUint64(share.Num), new(big.Int).SetUint64(share.Den))
	want.Mul(want, new(big.Rat).SetInt(n.samples()))
	for _, limit := range counts {
		clear(kept)
		sum := new(big.Int)
		for name, f := range n {
			if s := f.body.samples(); s.Cmp(limit) >= 0 {
				kept[name] = true
				sum.Add(sum, s)
			}
		}
		if new(big.Rat).SetInt(sum).Cmp(want) >= 0 {
			break
		}
	}
	return kept
}

func TestKeepHottestAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	trimmed := 0
	for range testenv.Rounds(80, 800) {
		p := countable(rng)
		share := Ratio{1 + rng.Uint64N(10), 10}
		if rng.IntN(3) == 0 {
			share = randomRatio(rng)
		}
		want := functionsOf(spell(p))
		kept := hottest(want, share)
		n := len(want)
		maps.DeleteFunc(want, func(name string, _ *naiveFunction) bool { return !kept[name] })
		q, removed := p.KeepHottest(share)
		requireTrimmed(t, q)
		require.Equal(t, want, functionsOf(spell(q)))
		require.Equal(t, n-len(want), removed.Functions)
		trimmed += removed.Functions
	}
	assert.Greater(t, trimmed, testenv.Rounds(50, 500))
}

func TestKeepHottestExactly(t *testing.T) {
	// Functions with 40, 30, 30, 0 and 0 samples. The second of 30 has them in what is inlined, the
	// last has a head count.
	p := New()
	f := make([]SymbolRef, 5)
	for i := range f {
		f[i] = p.AddSymbol(p.AddUnit("a.c"), string(rune('a'+i)))
	}
	p.AddFunction(f[0], Function{Records: []Record{{Count: 40}}})
	p.AddFunction(f[1], Function{Records: []Record{{Count: 10}, {Line: 1, Count: 20}}})
	p.AddFunction(f[2], Function{Records: []Record{{Kind: KindInlined, Callee: f[4], Count: 1}, {Count: 30}}})
	p.AddFunction(f[3], Function{Records: []Record{{Count: 0}, {Kind: KindCall, Callee: f[0], Count: 100}}})
	p.AddFunction(f[4], Function{HeadCount: 100})
	for _, c := range []struct {
		share Ratio
		kept  string
	}{
		{Ratio{1, 1e18}, "a"},
		{Ratio{4, 10}, "a"},
		{Ratio{4e17 + 1, 1e18}, "abce"}, // the inlined e as a symbol
		{Ratio{7, 10}, "abce"},
		{Ratio{1, 1}, "abce"},
		{Ratio{7, 2}, "abce"},
	} {
		q, _ := p.KeepHottest(c.share)
		var names []string
		for s := range q.NumSymbols() {
			names = append(names, q.SymbolName(SymbolRef(s)))
		}
		slices.SortFunc(names, cmp.Compare)
		assert.Equal(t, c.kept, strings.Join(names, ""), "%v", c.share)
	}
	q, removed := New().KeepHottest(one)
	assert.NoError(t, Compare(New(), q))
	assert.Zero(t, removed)
}
