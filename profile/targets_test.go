package profile

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// limitTargets removes targets from a body and the bodies inlined into it, and returns the calls of
// the removed targets.
func (n *naiveBody) limitTargets(p *Profile, limit int) (removed []*big.Int) {
	sites := map[naiveKey][]naiveKey{}
	for k := range n.counts {
		if k.kind == KindCall {
			site := naiveKey{line: k.line, discriminator: k.discriminator}
			sites[site] = append(sites[site], k)
		}
	}
	for _, targets := range sites {
		slices.SortFunc(targets, func(a, b naiveKey) int {
			return cmp.Or(n.counts[b].Cmp(n.counts[a]), cmp.Compare(qualified(p, a.callee), qualified(p, b.callee)))
		})
		for _, k := range targets[min(limit, len(targets)):] {
			removed = append(removed, n.counts[k])
			delete(n.counts, k)
		}
	}
	for _, nested := range n.nested {
		removed = append(removed, nested.limitTargets(p, limit)...)
	}
	return removed
}

func TestLimitTargetsAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 60))
	n := 0
	for range testenv.Rounds(80, 800) {
		p := randomProfile(rng)
		before := spell(p)
		limit := rng.IntN(3)
		want := p.like()
		var lost []*big.Int
		for s, f := range p.Functions() {
			body := naiveOf(f.Records)
			lost = append(lost, body.limitTargets(p, limit)...)
			want.AddFunction(s, Function{f.HeadCount, f.Timestamp, body.records()})
		}
		calls := new(big.Int)
		for _, count := range lost {
			calls.Add(calls, count)
		}
		q, removed, removedCalls := p.LimitTargets(limit)
		requireTrimmed(t, q)
		require.Equal(t, functionsOf(spell(want)), functionsOf(spell(q)))
		require.Equal(t, len(lost), removed)
		require.Equal(t, saturated(calls), removedCalls)
		require.Equal(t, before, spell(p))
		n += removed
	}
	assert.Greater(t, n, testenv.Rounds(100, 1000))
}

// TestLimitTargetsBetweenBodies has consecutive targets at the same line that belong to different
// bodies.
func TestLimitTargetsBetweenBodies(t *testing.T) {
	p := New()
	f, g, h := p.AddSymbol(UnknownUnit, "f"), p.AddSymbol(UnknownUnit, "g"), p.AddSymbol(UnknownUnit, "h")
	var b Body
	b.Enter(1, 0, g)
	b.Enter(1, 0, g)
	b.Call(5, 0, g, 1)
	b.Leave()
	b.Call(5, 0, g, 1)
	b.Leave()
	b.Call(5, 0, h, 2)
	p.AddFunction(f, Function{Records: b.Records()})
	q, removed, _ := p.LimitTargets(1)
	assert.Zero(t, removed)
	assert.NoError(t, Compare(p, q))
	q, removed, calls := p.LimitTargets(0)
	assert.Equal(t, 3, removed)
	assert.Equal(t, uint64(4), calls)
	_, found := q.FindSymbol(UnknownUnit, "h")
	assert.False(t, found)
}
