package arcs

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
)

// A grower builds a random graph of loops, conditions and sequences, with counts of its arcs.
type grower struct {
	random *rand.Rand
	notes  gcda.Function
	counts []int64
	left   int
}

func (g *grower) block() uint32 {
	g.notes.Blocks++
	g.left--
	return g.notes.Blocks - 1
}

func (g *grower) arc(from, to uint32, n int64) {
	g.notes.Arcs = append(g.notes.Arcs, gcda.Arc{From: from, To: to})
	g.counts = append(g.counts, n)
}

// region adds blocks after the block from, which runs n times, and returns the last block.
func (g *grower) region(from uint32, n int64, depth int) uint32 {
	for g.left > 0 && g.random.IntN(8) > 0 {
		switch kind := g.random.IntN(3); {
		case kind == 0 || depth > 12:
			to := g.block()
			g.arc(from, to, n)
			from = to
		case kind == 1:
			taken := int64(float64(n) * g.random.Float64())
			first, join := g.block(), g.block()
			g.arc(from, first, taken)
			g.arc(from, join, n-taken)
			g.arc(g.region(first, taken, depth+1), join, taken)
			from = join
		default:
			again := min(n*g.random.Int64N(20), 1<<40)
			head, body, exit := g.block(), g.block(), g.block()
			g.arc(from, head, n)
			g.arc(head, body, again)
			g.arc(head, exit, n)
			g.arc(g.region(body, again, depth+1), head, again)
			from = exit
		}
	}
	return from
}

// grow returns a function with at least n blocks, and the true counts of its arcs.
func grow(n int, seed uint64) (*function, []int64) {
	g := grower{random: rand.New(rand.NewPCG(seed, 2)), left: n}
	g.notes.Blocks = 2
	last := g.block()
	g.arc(0, last, 1000)
	for g.left > 0 {
		last = g.region(last, 1000, 0)
	}
	g.arc(last, 1, 1000)
	b := &body{blocks: make([]block, g.notes.Blocks)}
	for _, a := range g.notes.Arcs {
		b.blocks[a.From].successors = append(b.blocks[a.From].successors, successor{block: a.To, guess: uint64(1 + g.random.IntN(100))})
	}
	for i := range b.blocks {
		b.blocks[i].places = []place{{key: key{1, uint32(i / 2), 1}}, {key: key{1, uint32(i), 2}}}
	}
	return newFunction(&g.notes, b), g.counts
}

// evident adds evidence to a function: the true counts of some source positions, with random
// errors.
func evident(f *function, counts []int64, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 3))
	for b, n := range f.BlockCounts(counts) {
		for _, p := range f.body.blocks[b].places {
			if random.IntN(3) > 0 {
				f.sightings = append(f.sightings, sighting{p, 0, int32(b), uint64(float64(n) * (0.8 + 0.4*random.Float64()))})
			}
		}
	}
}

func overlap(inferred, real []int64) (overlap float64) {
	var a, b float64
	for i := range real {
		a, b = a+float64(inferred[i]), b+float64(real[i])
	}
	for i := range real {
		overlap += min(float64(inferred[i])/a, float64(real[i])/b)
	}
	return overlap
}

// TestLargeFunction infers the counts of 5,000 blocks.
func TestLargeFunction(t *testing.T) {
	f, counts := grow(5000, 1)
	evident(f, counts, 1)
	p := newProblem(f)
	flows := p.infer()
	require.Greater(t, overlap(flows, counts), 0.85)
	balance := make([]int64, f.Blocks)
	for i, a := range f.Arcs {
		balance[a.From] -= flows[i]
		balance[a.To] += flows[i]
	}
	for _, n := range balance[2:] {
		require.Zero(t, n)
	}
}

func BenchmarkInfer5000(b *testing.B) {
	f, counts := grow(5000, 1)
	evident(f, counts, 1)
	for b.Loop() {
		newProblem(f).infer()
	}
}
