package profile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A naiveProfile is a slow model of a profile that uses names instead of numbers.
type naiveProfile map[string]*naiveFunction

type naiveFunction struct {
	head      Function // without records
	functions bool
	body      namedBody
}

// A namedBody contains the counts of a function, by a readable path to each record.
type namedBody map[string]uint64

// spell converts a profile to a naive one.
func spell(p *Profile) naiveProfile {
	n := naiveProfile{}
	for s := range p.NumSymbols() {
		n[qualified(p, SymbolRef(s))] = &naiveFunction{body: namedBody{}}
	}
	for s, f := range p.Functions() {
		o := n[qualified(p, s)]
		o.functions = true
		o.head = Function{HeadCount: f.HeadCount, Timestamp: f.Timestamp}
		o.body.addAll(p, "", f.Records)
	}
	return n
}

func qualified(p *Profile, s SymbolRef) string {
	return fmt.Sprintf("%q/%q", p.UnitPath(p.SymbolUnit(s)), p.SymbolName(s))
}

func (n namedBody) addAll(p *Profile, path string, records []Record) {
	for i := 0; i < len(records); i++ {
		r := records[i]
		key := fmt.Sprintf("%s %d.%d", path, r.Line, r.Discriminator)
		switch r.Kind {
		case KindCount:
			n.add(key+" count", r.Count)
		case KindCall:
			n.add(key+" call "+qualified(p, r.Callee), r.Count)
		case KindInlined:
			key += " inlined " + qualified(p, r.Callee)
			n.add(key, 0)
			n.addAll(p, key, records[i+1:i+1+int(r.Count)])
			i += int(r.Count)
		}
	}
}

func (n namedBody) add(key string, count uint64) {
	if n[key]+count < count {
		n[key] = 1<<64 - 1
		return
	}
	n[key] += count
}

// merge adds o to n.
func (n naiveProfile) merge(o naiveProfile) {
	for name, f := range o {
		g := n[name]
		if g == nil {
			g = &naiveFunction{body: namedBody{}}
			n[name] = g
		}
		g.functions = g.functions || f.functions
		g.head.HeadCount = saturating.Add(g.head.HeadCount, f.head.HeadCount)
		if g.head.Timestamp == 0 || f.head.Timestamp > 0 && f.head.Timestamp < g.head.Timestamp {
			g.head.Timestamp = f.head.Timestamp
		}
		for key, count := range f.body {
			g.body.add(key, count)
		}
	}
}

// randomProfile returns a random profile, whose units and symbols are numbered in random order.
func randomProfile(rng *rand.Rand) *Profile {
	p := New()
	for _, f := range rng.Perm(3) {
		p.AddUnit([]string{"a.c", "b.c", "only sometimes there"}[f])
	}
	for range 1 + rng.IntN(8) {
		p.AddSymbol(UnitRef(rng.IntN(p.NumUnits())), string(rune('a'+rng.IntN(4))))
	}
	kinds := []shape{
		{lines: 3, discriminators: 2, callees: uint32(p.NumSymbols()), siblings: 4, depth: 4},
		{lines: 40, discriminators: 1, callees: uint32(p.NumSymbols()), siblings: 20, depth: 1},
	}
	var b Body
	for s := range p.NumSymbols() {
		if rng.IntN(3) == 0 {
			continue
		}
		b.Reset()
		kinds[rng.IntN(len(kinds))].fill(rng, &b, newNaiveBody(), 0)
		p.AddFunction(SymbolRef(s), Function{HeadCount: randomCount(rng), Timestamp: rng.Uint64N(3), Records: b.Records()})
	}
	return p
}

// merged returns the sum of profiles without changing them.
func merged(ps ...*Profile) *Profile {
	sum := New()
	for _, p := range ps {
		sum.Merge(p)
	}
	return sum
}

func TestMergeAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range testenv.Rounds(80, 800) {
		p, q := randomProfile(rng), randomProfile(rng)
		want := spell(p)
		before := spell(q)
		want.merge(before)
		p.Summary = &afdo.Summary{}
		p.Merge(q)
		require.Equal(t, want, spell(p))
		require.Equal(t, before, spell(q))
		require.Nil(t, p.Summary)
		for _, f := range p.Functions() {
			requireCanonical(t, f.Records)
		}
	}
}

func TestMergeCommutesAndAssociates(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range testenv.Rounds(40, 400) {
		p, q, r := randomProfile(rng), randomProfile(rng), randomProfile(rng)
		require.NoError(t, Compare(merged(p, q), merged(q, p)))
		require.NoError(t, Compare(merged(merged(p, q), r), merged(p, merged(q, r))))
		require.NoError(t, Compare(merged(p), p))
	}
}

func TestMergeWithItself(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range testenv.Rounds(30, 300) {
		p := randomProfile(rng)
		twice := merged(p, p)
		p.Merge(p)
		require.NoError(t, Compare(twice, p))
	}
}

// TestMergeKeepsUnits checks that a merge adds all units in order, including those without symbols.
func TestMergeKeepsUnits(t *testing.T) {
	p, q := New(), New()
	p.AddUnit("b")
	q.AddUnit("c")
	q.AddUnit("b")
	q.AddUnit("a")
	p.Merge(q)
	var paths []string
	for f := range p.NumUnits() {
		paths = append(paths, p.UnitPath(UnitRef(f)))
	}
	assert.Equal(t, []string{"", "b", "c", "a"}, paths)
}

func TestMergeDeep(t *testing.T) {
	chainOf := func(line uint32) *Profile {
		p := New()
		s := p.AddSymbol(UnknownUnit, "f")
		var b Body
		for range deep / 4 {
			b.Enter(2, 0, s)
			b.Count(line, 0, 1)
		}
		for range deep / 4 {
			b.Leave()
		}
		p.AddFunction(s, Function{Records: b.Records()})
		return p
	}
	p := chainOf(1)
	p.Merge(chainOf(3))
	p.Merge(chainOf(3))
	// The body of the outermost is the function itself, without counts.
	records := p.Function(0).Records
	require.Len(t, records, 3*(deep/4))
	counts := map[uint32]uint64{}
	for _, r := range records {
		if r.Kind == KindCount {
			counts[r.Line] += r.Count
		}
	}
	assert.Equal(t, map[uint32]uint64{1: uint64(deep / 4), 3: uint64(2 * (deep / 4))}, counts)
	w := Walk(records)
	last := 0
	for _, depth, ok := w.Next(); ok; _, depth, ok = w.Next() {
		last = depth
	}
	assert.Equal(t, 1, last)
}
