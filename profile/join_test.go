package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// bodies are the shapes of random bodies: with few locations, so that two bodies have many in
// common; with many locations; and deep.
var bodies = []shape{
	{lines: 2, discriminators: 2, callees: 3, siblings: 8, depth: 4},
	{lines: 50, discriminators: 1, callees: 2, siblings: 20, depth: 2},
	{lines: 1, discriminators: 1, callees: 1, siblings: 3, depth: 40},
}

// TestJoinAgainstNaive merges two canonical bodies.
func TestJoinAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	var j joiner
	var first, second Body
	for range testenv.Rounds(100, 10_000) {
		s := bodies[rng.IntN(len(bodies))]
		first.Reset()
		second.Reset()
		n, m := newNaiveBody(), newNaiveBody()
		s.fill(rng, &first, n, 0)
		s.fill(rng, &second, m, 0)
		got := j.join(nil, first.Records(), second.Records())
		n.merge(m)
		require.Equal(t, n.records(), got)
		require.True(t, j.outer.Empty())
	}
}

// TestJoinDeep merges bodies with a million levels, one of which has more levels than the other.
func TestJoinDeep(t *testing.T) {
	depth := testenv.Rounds(30_000, 1_000_000)
	var first, second Body
	for i := range depth {
		first.Enter(1, 0, 2)
		second.Enter(1, 0, 2)
		if i == depth/2 {
			second.Count(0, 0, 5)
		}
	}
	for range depth {
		first.Leave()
		second.Leave()
	}
	got := new(joiner).join(nil, first.Records(), second.Records())
	require.Len(t, got, depth+1)
	require.Equal(t, uint64(depth), got[0].Count)
	require.Equal(t, Record{Count: 5}, got[depth/2+1])
	require.Equal(t, uint64(0), got[depth].Count)
}

// TestRenumberAgainstNaive replaces callees by others, so that their order changes or several
// become the same.
func TestRenumberAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	var body, other Body
	for range testenv.Rounds(100, 10_000) {
		s := bodies[rng.IntN(len(bodies))]
		body.Reset()
		s.fill(rng, &body, newNaiveBody(), 0)
		records := body.Records()
		symbols := make([]SymbolRef, s.callees)
		for i := range symbols {
			symbols[i] = SymbolRef(rng.Uint32N(2 * s.callees))
		}
		want := newNaiveBody()
		want.merge(naiveOf(records).renamed(symbols))
		require.Equal(t, want.records(), append([]Record(nil), other.Renumber(records, symbols)...))
	}
}
