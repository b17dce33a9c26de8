package gcda

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// naiveExpand computes the counts of all arcs, by searching again and again for a block with one
// unknown arc.
func naiveExpand(f *Function, counters []int64) []int64 {
	arcs := append(append([]Arc(nil), f.Arcs...), Arc{From: 1, To: 0, Flags: Tree})
	counts, known := make([]int64, len(arcs)), make([]bool, len(arcs))
	for i, a := range f.Arcs {
		if known[i] = a.Flags&Tree == 0; known[i] {
			counts[i], counters = counters[0], counters[1:]
		}
	}
	for changed := true; changed; {
		changed = false
		for b := range f.Blocks {
			unknown, last, surplus := 0, 0, int64(0)
			for i, a := range arcs {
				if a.From != b && a.To != b {
					continue
				}
				if !known[i] {
					unknown, last = unknown+1, i
				}
				if a.To == b {
					surplus += counts[i]
				}
				if a.From == b {
					surplus -= counts[i]
				}
			}
			if unknown == 1 {
				if arcs[last].To == b {
					surplus = -surplus
				}
				counts[last], known[last], changed = surplus, true, true
			}
		}
	}
	return counts[:len(f.Arcs)]
}

// randomGraph returns a graph with a spanning tree, and the counts of its arcs in random walks.
func randomGraph(r *rand.Rand) (*Function, []int64) {
	f := &Function{Name: "f", Blocks: uint32(3 + r.IntN(30))}
	for b := uint32(2); b < f.Blocks; b++ { // each block can be reached, and reaches the exit
		from, to := uint32(0), uint32(1)
		if b > 2 {
			from = 2 + r.Uint32N(b-2)
		}
		if b+1 < f.Blocks && r.IntN(2) == 0 {
			to = b + 1
		}
		f.Arcs = append(f.Arcs, Arc{From: from, To: b}, Arc{From: b, To: to})
	}
	for range r.IntN(20) {
		f.Arcs = append(f.Arcs, Arc{From: 2 + r.Uint32N(f.Blocks-2), To: 1 + r.Uint32N(f.Blocks-1)})
	}
	r.Shuffle(len(f.Arcs), func(i, j int) { f.Arcs[i], f.Arcs[j] = f.Arcs[j], f.Arcs[i] })
	set := make([]uint32, f.Blocks) // of connected blocks
	for b := range set {
		set[b] = uint32(b)
	}
	set[1] = 0 // by the arc from the exit to the entry
	for i, a := range f.Arcs {
		if from, to := set[a.From], set[a.To]; from != to {
			f.Arcs[i].Flags = Tree
			for b := range set {
				if set[b] == to {
					set[b] = from
				}
			}
		}
	}
	counts := make([]int64, len(f.Arcs))
	for range r.IntN(50) {
		for b, steps := uint32(0), 0; b != 1; steps++ {
			var next []int
			for i, a := range f.Arcs {
				if a.From == b && (steps < 100 || a.To == 1 || a.To > b) {
					next = append(next, i)
				}
			}
			i := next[r.IntN(len(next))]
			counts[i]++
			b = f.Arcs[i].To
		}
	}
	return f, counts
}

// Expand is the inverse of Reduce for counts of a flow, and agrees with naiveExpand for any
// counters.
func TestExpand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f, counts := randomGraph(r)
		counters := f.Reduce(counts)
		require.Len(t, counters, f.instrumented())
		got, err := f.Expand(counters)
		require.NoError(t, err)
		require.Equal(t, counts, got)
		for i := range counters {
			counters[i] = r.Int64N(1000) - 100
		}
		got, err = f.Expand(counters)
		require.NoError(t, err)
		require.Equal(t, naiveExpand(f, counters), got)
	}
}

func TestExpandFaults(t *testing.T) {
	ring := &Function{Name: "ring", Blocks: 4, Arcs: []Arc{{0, 2, Tree}, {2, 3, Tree}, {3, 2, Tree}, {3, 1, 0}}}
	_, err := ring.Expand([]int64{1})
	assert.EqualError(t, err, `gcda: graph: bad graph: function "ring": the arcs without counters are not a spanning tree`)
	assert.ErrorIs(t, err, afdo.ErrMalformed)
	_, err = ring.Expand(nil)
	assert.EqualError(t, err, `gcda: graph: bad count: function "ring": 0 counters for 1 arcs`)
	apart := &Function{Name: "apart", Blocks: 4, Arcs: []Arc{{0, 2, 0}, {2, 3, Tree}, {3, 1, 0}}}
	_, err = apart.Expand([]int64{1, 2})
	assert.ErrorIs(t, err, errGraph)
	self := &Function{Name: "self", Blocks: 3, Arcs: []Arc{{0, 2, 0}, {2, 2, Tree}, {2, 1, 0}}}
	_, err = self.Expand([]int64{1, 1})
	assert.ErrorIs(t, err, errGraph)
}

func TestBlockCounts(t *testing.T) {
	f := &Function{Blocks: 4, Arcs: []Arc{{0, 2, 0}, {2, 3, 0}, {3, 3, 0}, {3, 1, 0}, {2, 1, 0}}}
	assert.Equal(t, []int64{5, 5, 5, 13}, f.BlockCounts([]int64{5, 3, 10, 3, 2}))
}
