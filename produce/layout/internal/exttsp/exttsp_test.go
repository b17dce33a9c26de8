package exttsp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// random returns a function of n blocks with the counts of random walks through it. As in real
// programs, most blocks have one or two successors nearby, and some conditional branches always go
// in the same direction.
func random(seed uint64, n int) (blocks []Block, edges []Edge) {
	r := rand.New(rand.NewPCG(seed, 1))
	blocks = make([]Block, n)
	for i := range blocks {
		blocks[i].Size = 1 + r.Uint64N(60)
	}
	counts := make(map[[2]int]uint64)
	at := 0
	bias := make([]float64, n)
	target := make([]int, n)
	for i := range bias {
		bias[i] = []float64{0, 0.05, 0.5, 0.9, 1}[r.IntN(5)]
		target[i] = min(max(0, i+r.IntN(21)-8), n-1)
		if r.IntN(30) == 0 {
			target[i] = r.IntN(n)
		}
	}
	for range 60 * n {
		blocks[at].Count++
		next := at + 1
		if r.Float64() < bias[at] {
			next = target[at]
		}
		if next >= n || r.IntN(40) == 0 {
			at = r.IntN(n) * r.IntN(2)
			continue
		}
		counts[[2]int{at, next}]++
		at = next
	}
	for i := range n {
		for _, to := range []int{i + 1, target[i]} {
			if c := counts[[2]int{i, to}]; c > 0 {
				edges = append(edges, Edge{i, to, c})
				delete(counts, [2]int{i, to})
			}
		}
	}
	return blocks, edges
}

// best returns the highest score of all orders that begin with block 0. It tries all permutations
// of order from index from on.
func best(blocks []Block, edges []Edge, order []int, from int) (score float64) {
	if from == len(order) {
		return Score(blocks, edges, order)
	}
	for i := from; i < len(order); i++ {
		order[from], order[i] = order[i], order[from]
		score = max(score, best(blocks, edges, order, from+1))
		order[from], order[i] = order[i], order[from]
	}
	return score
}

// For functions with few blocks, the score of the order is close to the highest possible score.
func TestNearBest(t *testing.T) {
	total, most := 0.0, 0.0
	for seed := range uint64(testenv.Rounds(40, 400)) {
		blocks, edges := random(seed, 6)
		order := Order(blocks, edges)
		checkOrder(t, order, len(blocks))
		total += Score(blocks, edges, order)
		most += best(blocks, edges, []int{0, 1, 2, 3, 4, 5}, 1)
	}
	assert.Greater(t, total, 0.99*most)
	assert.LessOrEqual(t, total, most+1e-6)
}

// The order is a permutation that begins with the entry and is always the same. Its score is at
// least that of the original order.
func TestOrder(t *testing.T) {
	for seed := range uint64(testenv.Rounds(20, 200)) {
		n := 1 + int(seed*7)%300
		blocks, edges := random(seed, n)
		order := Order(blocks, edges)
		checkOrder(t, order, n)
		require.Equal(t, order, Order(blocks, edges))
		source := make([]int, n)
		for i := range source {
			source[i] = i
		}
		require.GreaterOrEqual(t, Score(blocks, edges, order), Score(blocks, edges, source))
	}
}

// Blocks that cannot be reached from the entry, and blocks without edges, come after the others.
func TestApart(t *testing.T) {
	blocks := []Block{{10, 5}, {10, 5}, {10, 9}, {10, 9}, {10, 0}}
	order := Order(blocks, []Edge{{0, 1, 5}, {2, 3, 9}, {3, 2, 9}})
	checkOrder(t, order, 5)
	assert.Equal(t, []int{0, 1}, order[:2])
	assert.Equal(t, 4, order[4])
	assert.Empty(t, Order(nil, nil))
}

func TestScore(t *testing.T) {
	blocks := []Block{{10, 1}, {90, 1}, {10, 1}}
	edges := []Edge{{0, 1, 100}, {0, 2, 100}, {2, 0, 100}}
	assert.InDelta(t, 100+100*0.1*(1-90.0/1024)+100*0.1*(1-110.0/640), Score(blocks, edges, []int{0, 1, 2}), 1e-9)
	assert.InDelta(t, 100*0.1*(1-10.0/1024)+100+100*0.1*(1-20.0/640), Score(blocks, edges, []int{0, 2, 1}), 1e-9)
}

func checkOrder(t *testing.T, order []int, n int) {
	require.Zero(t, order[0])
	sorted := slices.Sorted(slices.Values(order))
	require.Len(t, sorted, n)
	for i, block := range sorted {
		require.Equal(t, i, block)
	}
}

// FuzzOrder: for any edges, the order is a permutation that begins with the entry.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		const n = 20
		blocks := make([]Block, n)
		var edges []Edge
		seen := make(map[[2]int]bool)
		for ; len(data) >= 3; data = data[3:] {
			from, to := int(data[0])%n, int(data[1])%n
			if !seen[[2]int{from, to}] {
				seen[[2]int{from, to}] = true
				edges = append(edges, Edge{from, to, uint64(data[2]) << (data[0] % 64)})
			}
			blocks[from].Size = uint64(data[1])
		}
		checkOrder(t, Order(blocks, edges), n)
	})
}

func BenchmarkOrder(b *testing.B) {
	for name, n := range map[string]int{"100": 100, "1000": 1000, "10000": 10000} {
		blocks, edges := random(1, n)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Order(blocks, edges)
			}
		})
	}
}

// Score returns the score of an order of all blocks. A higher score is better.
func Score(blocks []Block, edges []Edge, order []int) float64 {
	p := newProblem(blocks, edges)
	return p.score([3][]int{order}, p.jumps)
}
