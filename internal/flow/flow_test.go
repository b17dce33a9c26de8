package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive finds a circulation of minimum cost in another way than the package: it cancels cycles of
// negative cost, which Bellman and Ford's algorithm finds, until none is left.
func naive(n *Network) []int64 {
	flows := make([]int64, len(n.from))
	type step struct {
		arc  int
		sign int64
	}
	for {
		distance := make([]int64, n.nodes)
		by := make([]step, n.nodes)
		changed := int32(none)
		relax := func(from, to int32, cost int64, s step) {
			if distance[from]+cost < distance[to] {
				distance[to], by[to], changed = distance[from]+cost, s, to
			}
		}
		for range n.nodes {
			changed = none
			for a := range n.from {
				if flows[a] < n.capacity[a] {
					relax(n.from[a], n.to[a], n.cost[a], step{a, 1})
				}
				if flows[a] > 0 {
					relax(n.to[a], n.from[a], -n.cost[a], step{a, -1})
				}
			}
		}
		if changed == none {
			return flows
		}
		tail := func(v int32) int32 {
			if by[v].sign > 0 {
				return n.from[by[v].arc]
			}
			return n.to[by[v].arc]
		}
		v := changed
		for range n.nodes {
			v = tail(v)
		}
		for w, first := v, true; first || w != v; w, first = tail(w), false {
			flows[by[w].arc] += by[w].sign
		}
	}
}

func total(n *Network, flows []int64) (cost int64) {
	for a, f := range flows {
		cost += f * n.cost[a]
	}
	return cost
}

func requireCirculation(t *testing.T, n *Network, flows []int64) {
	t.Helper()
	balance := make([]int64, n.nodes)
	for a, f := range flows {
		require.True(t, f >= 0 && f <= n.capacity[a], "arc %d has flow %d of %d", a, f, n.capacity[a])
		balance[n.from[a]] -= f
		balance[n.to[a]] += f
	}
	for v, b := range balance {
		require.Zero(t, b, "node %d", v)
	}
}

func random(seed uint64, nodes, arcs int) *Network {
	r := rand.New(rand.NewPCG(seed, 1))
	n := new(Network)
	for range arcs {
		from, to, capacity, cost := r.Int32N(int32(nodes)), r.Int32N(int32(nodes)), r.Int64N(6), r.Int64N(21)-10
		if r.IntN(4) == 0 {
			capacity, cost = Unlimited, r.Int64N(5)
		}
		n.AddArc(from, to, capacity, cost)
	}
	return n
}

func TestCirculateFindsTheMinimum(t *testing.T) {
	for seed := range uint64(300) {
		n := random(seed, 1+int(seed%9), int(seed%30))
		flows, optimal := n.Circulate(1_000_000)
		require.True(t, optimal)
		requireCirculation(t, n, flows)
		require.Equal(t, total(n, naive(n)), total(n, flows), "seed %d", seed)
	}
}

func TestCirculateWithALimitIsValid(t *testing.T) {
	n := random(7, 40, 400)
	all, optimal := n.Circulate(1_000_000)
	require.True(t, optimal)
	for _, steps := range []int{0, 1, 500, 2000} {
		flows, optimal := n.Circulate(steps)
		require.False(t, optimal)
		requireCirculation(t, n, flows)
		require.GreaterOrEqual(t, total(n, flows), total(n, all))
	}
}

func FuzzCirculate(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, nodes, arcs uint8) {
		n := random(seed, 1+int(nodes%12), int(arcs%40))
		flows, optimal := n.Circulate(1_000_000)
		require.True(t, optimal)
		requireCirculation(t, n, flows)
		require.Equal(t, total(n, naive(n)), total(n, flows))
	})
}
