package profile

import (
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A naiveOverlap computes the figures of a Diff slowly, from readable names of locations and with
// exact fractions.
type naiveOverlap struct{ first, second naiveProfile }

// locations returns the counts of all locations in the functions for which in returns true.
func (n naiveProfile) locations(in func(function string) bool) map[string]*big.Int {
	all := map[string]*big.Int{}
	for name, f := range n {
		if f.functions && in(name) {
			for key, count := range f.body {
				if strings.HasSuffix(key, " count") {
					all[name+key] = new(big.Int).SetUint64(count)
				}
			}
		}
	}
	return all
}

func sumOf(counts map[string]*big.Int) *big.Int {
	sum := new(big.Int)
	for _, count := range counts {
		sum.Add(sum, count)
	}
	return sum
}

// overlap returns the sum, over all keys, of the smaller of the two shares.
func overlap(first, second map[string]*big.Int) *big.Rat {
	a, b := sumOf(first), sumOf(second)
	switch {
	case a.Sign() == 0 && b.Sign() == 0:
		return big.NewRat(1, 1)
	case a.Sign() == 0 || b.Sign() == 0:
		return new(big.Rat)
	}
	sum := new(big.Rat)
	for key, x := range first {
		if y := second[key]; y != nil {
			p, q := new(big.Rat).SetFrac(x, a), new(big.Rat).SetFrac(y, b)
			if p.Cmp(q) > 0 {
				p = q
			}
			sum.Add(sum, p)
		}
	}
	return sum
}

func everything(string) bool { return true }

// share returns a function's share of all samples.
func (n naiveProfile) share(function string) *big.Rat {
	all := sumOf(n.locations(everything))
	if all.Sign() == 0 {
		return new(big.Rat)
	}
	of := n.locations(func(name string) bool { return name == function })
	return new(big.Rat).SetFrac(sumOf(of), all)
}

// functions returns the names of the functions that at least one of the profiles has.
func (n naiveOverlap) functions() []string {
	set := map[string]bool{}
	for _, side := range []naiveProfile{n.first, n.second} {
		for name := range functionsOf(side) {
			set[name] = true
		}
	}
	names := []string{}
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (n naiveOverlap) both(function string) bool {
	f, g := n.first[function], n.second[function]
	return f != nil && f.functions && g != nil && g.functions
}

func (n naiveOverlap) function(name string) *big.Rat {
	if !n.both(name) {
		return new(big.Rat)
	}
	in := func(other string) bool { return other == name }
	return overlap(n.first.locations(in), n.second.locations(in))
}

func (n naiveOverlap) similarity() *big.Rat {
	sum, weights := new(big.Rat), new(big.Rat)
	for _, name := range n.functions() {
		p, q := n.first.share(name), n.second.share(name)
		distance := new(big.Rat).Sub(p, q)
		alike := new(big.Rat).Sub(big.NewRat(1, 1), distance.Abs(distance))
		weight := new(big.Rat).Add(p, q)
		weights.Add(weights, weight.Quo(weight, big.NewRat(2, 1)))
		sum.Add(sum, alike.Mul(alike, n.function(name)).Mul(alike, weight))
	}
	if weights.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return sum.Quo(sum, weights)
}

// functionOverlap returns the overlap of the profiles if each function were a single location.
func (n naiveOverlap) functionOverlap() *big.Rat {
	totals := func(p naiveProfile) map[string]*big.Int {
		m := map[string]*big.Int{}
		for name, f := range functionsOf(p) {
			m[name] = f.body.samples()
		}
		return m
	}
	return overlap(totals(n.first), totals(n.second))
}

// counts returns the sum of the smaller counts divided by the sum of the larger ones.
func (n naiveOverlap) counts() *big.Rat {
	first, second := n.first.locations(everything), n.second.locations(everything)
	lesser, greater := new(big.Int), new(big.Int)
	for key := range merge(first, second) {
		x, y := orZero(first[key]), orZero(second[key])
		if x.Cmp(y) > 0 {
			x, y = y, x
		}
		lesser.Add(lesser, x)
		greater.Add(greater, y)
	}
	if greater.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(lesser, greater)
}

func merge(first, second map[string]*big.Int) map[string]bool {
	keys := map[string]bool{}
	for key := range first {
		keys[key] = true
	}
	for key := range second {
		keys[key] = true
	}
	return keys
}

func orZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// only returns the share of samples at locations that the other profile does not have.
func only(of, other naiveProfile) *big.Rat {
	locations, others := of.locations(everything), other.locations(everything)
	all, lone := sumOf(locations), new(big.Int)
	if all.Sign() == 0 {
		return new(big.Rat)
	}
	for key, count := range locations {
		if others[key] == nil {
			lone.Add(lone, count)
		}
	}
	return new(big.Rat).SetFrac(lone, all)
}

func requireRat(t *testing.T, want *big.Rat, got float64, what string) {
	t.Helper()
	f, _ := want.Float64()
	require.InDelta(t, f, got, 1e-12, what)
	require.Equal(t, want.Sign() == 0, got == 0, what)
}

// countable returns a random profile whose sums of counts do not saturate.
func countable(rng *rand.Rand) *Profile {
	p := randomProfile(rng)
	for _, f := range p.Functions() {
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == KindCount {
				r.Count %= 1 << 40
			}
		}
	}
	return p
}

func TestDiffAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	inBoth := 0
	for range testenv.Rounds(50, 500) {
		p, q := countable(rng), countable(rng)
		if rng.IntN(2) == 0 { // something like p
			q = shuffled(rng, p)
			for range rng.IntN(4) {
				change(rng, q)
			}
		}
		n := naiveOverlap{spell(p), spell(q)}
		d := NewDiff(p, q)
		require.Equal(t, n, naiveOverlap{spell(p), spell(q)})
		requireRat(t, n.similarity(), d.Overlap.Similarity, "similarity")
		requireRat(t, n.functionOverlap(), d.Overlap.Functions, "functions")
		requireRat(t, overlap(n.first.locations(everything), n.second.locations(everything)), d.Overlap.Locations, "locations")
		requireRat(t, n.counts(), d.Overlap.Counts, "counts")
		requireRat(t, only(n.first, n.second), d.Overlap.OnlyFirst, "only first")
		requireRat(t, only(n.second, n.first), d.Overlap.OnlySecond, "only second")
		require.Equal(t, p.NumFunctions(), d.First.Functions)
		require.Equal(t, q.NumFunctions(), d.Second.Functions)
		require.Equal(t, p.Summarize().TotalCount, d.First.Samples)
		require.Equal(t, q.Summarize().TotalCount, d.Second.Samples)
		inBoth += requireFunctionDiffs(t, n, d)
		requireUnitDiffs(t, n, d)
	}
	assert.Greater(t, inBoth, testenv.Rounds(50, 500))
}

// requireFunctionDiffs checks the functions of a Diff, and returns how many are in both profiles.
func requireFunctionDiffs(t *testing.T, n naiveOverlap, d *Diff) (inBoth int) {
	t.Helper()
	var names []string
	for i, f := range d.Functions {
		name := strings.Join([]string{`"` + f.Path + `"`, `"` + f.Name + `"`}, "/")
		names = append(names, name)
		requireRat(t, n.function(name), f.Overlap, name)
		requirePortion(t, n.first, name, f.First)
		requirePortion(t, n.second, name, f.Second)
		require.Equal(t, n.both(name), f.First.Functions+f.Second.Functions == 2)
		if n.both(name) {
			inBoth++
		}
		if i > 0 {
			require.True(t, ordered(d.Functions[i-1].Change(), f.Change()))
		}
	}
	sort.Strings(names)
	require.Equal(t, n.functions(), append([]string{}, names...))
	return inBoth
}

func ordered(change, next float64) bool { return change*change >= next*next }

func requirePortion(t *testing.T, n naiveProfile, name string, p Portion) {
	t.Helper()
	f := n[name]
	if f == nil || !f.functions {
		require.Zero(t, p)
		return
	}
	require.Equal(t, 1, p.Functions)
	require.Equal(t, saturated(f.body.samples()), p.Samples)
	requireRat(t, n.share(name), p.Share, name)
}

func requireUnitDiffs(t *testing.T, n naiveOverlap, d *Diff) {
	t.Helper()
	units := map[string]int{}
	for i, u := range d.Units {
		of := func(name string) bool { return strings.HasPrefix(name, `"`+u.Path+`"/`) }
		first, second := n.first.locations(of), n.second.locations(of)
		want, gained, lost, both := overlap(first, second), 0, 0, 0
		for _, name := range n.functions() {
			switch f := n.first[name]; {
			case !of(name):
			case n.both(name):
				both++
			case f != nil && f.functions:
				lost++
			default:
				gained++
			}
		}
		if both+gained == 0 || both+lost == 0 {
			want = new(big.Rat)
		}
		requireRat(t, want, u.Overlap, u.Path)
		require.Equal(t, gained, u.Gained)
		require.Equal(t, lost, u.Lost)
		require.Equal(t, both+lost, u.First.Functions)
		require.Equal(t, both+gained, u.Second.Functions)
		require.Equal(t, saturated(sumOf(first)), u.First.Samples)
		require.Equal(t, saturated(sumOf(second)), u.Second.Samples)
		units[u.Path] = both + gained + lost
		if i > 0 {
			require.True(t, ordered(d.Units[i-1].Change(), u.Change()))
		}
	}
	require.Len(t, units, len(d.Units))
	for _, count := range units {
		require.NotZero(t, count)
	}
}

// TestOverlapExactly checks that the overlap is exactly 1 for equal profiles, also if one is scaled
// or renumbered, and exactly 0 for profiles without a common location.
func TestOverlapExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	same := Overlap{Similarity: 1, Functions: 1, Locations: 1, Counts: 1}
	for range testenv.Rounds(30, 300) {
		p := countable(rng)
		require.Equal(t, same, NewDiff(p, p).Overlap)
		require.Equal(t, same, NewDiff(p, shuffled(rng, p)).Overlap)
		for _, f := range NewDiff(p, p).Functions {
			require.Equal(t, 1.0, f.Overlap)
			require.Zero(t, f.Change())
		}
		small := New()
		small.MergeScaled(p, Ratio{1, 1 << 40})
		thrice := New()
		thrice.MergeScaled(small, Ratio{3, 1})
		d := NewDiff(small, thrice)
		o := d.Overlap
		require.Equal(t, []float64{1, 1, 1}, []float64{o.Similarity, o.Functions, o.Locations})
		for _, f := range d.Functions {
			require.Zero(t, f.Change())
		}
		if small.Summarize().TotalCount > 0 {
			require.InDelta(t, 1.0/3, o.Counts, 1e-12)
		}

		other := New() // the same in other units
		for s, f := range p.Functions() {
			g := other.AddSymbol(other.AddUnit("other "+p.UnitPath(p.SymbolUnit(s))), p.SymbolName(s))
			other.AddFunction(g, Function{Records: []Record{{Line: 1, Count: f.HeadCount}}})
		}
		a, b := p.Summarize().TotalCount, other.Summarize().TotalCount
		if a > 0 && b > 0 {
			require.Equal(t, Overlap{OnlyFirst: 1, OnlySecond: 1}, NewDiff(p, other).Overlap)
		}
	}
}

func TestOverlapOfNothing(t *testing.T) {
	empty, silent, loud := New(), New(), New()
	silent.AddFunction(silent.AddSymbol(UnknownUnit, "f"), Function{HeadCount: 5, Records: []Record{{Line: 1}}})
	loud.AddFunction(loud.AddSymbol(UnknownUnit, "f"), Function{Records: []Record{{Line: 1, Count: 1}}})
	same := Overlap{Similarity: 1, Functions: 1, Locations: 1, Counts: 1}
	assert.Equal(t, same, NewDiff(empty, empty).Overlap)
	assert.Equal(t, same, NewDiff(silent, silent).Overlap)
	assert.Equal(t, same, NewDiff(empty, silent).Overlap)
	assert.Equal(t, Overlap{OnlySecond: 1}, NewDiff(empty, loud).Overlap)
	assert.Equal(t, Overlap{OnlyFirst: 1}, NewDiff(loud, empty).Overlap)
	assert.Equal(t, Overlap{}, NewDiff(silent, loud).Overlap) // the location is in both
}
