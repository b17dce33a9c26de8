package arcs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/flow"
)

// These are the costs of a solution for each execution by which a count differs from the evidence
// or from GCC's guesses. The inferred counts are a solution of least cost.
const (
	costBelow = 10_000 // a count below the lower bound of an item
	costAbove = 7_000  // a count above the upper bound of an item
	costUnion = 4_000  // a count below the upper bound of an item about several blocks
	costArc   = 5_000  // a count below the lower bound of an item about arcs; 7/10 of it above the upper bound
	costGuess = 200    // a successor's share of its block that is not GCC's guess
	costFake  = 20_000 // taking an arc that is no jump or that an exception takes, if its block has another one
	costFlow  = 1      // taking any arc
)

// A curve says what each possible count of a block or an arc costs. It is piecewise linear and
// convex. slope is the cost of the first execution, and each bend makes the slope larger.
type curve struct {
	slope int64
	bends []bend
}

// A bend is a point of a [curve]: from the count at on, the slope is larger by change.
type bend struct{ at, change int64 }

// between adds to a curve what a count costs that contradicts the evidence. According to the
// evidence, the count is between low and high. A count that is smaller by n than low costs n times
// below. A count that is larger by n than high costs n times above.
func (c *curve) between(low, high, below, above int64) {
	if low > 0 {
		c.slope -= below
		c.bends = append(c.bends, bend{low, below})
	}
	if high < unlimited {
		c.bends = append(c.bends, bend{max(high, 0), above})
	}
}

// A problem is the optimisation problem whose solution is the counts of the arcs of a function's
// control flow graph.
type problem struct {
	*function
	all     []gcda.Arc // the arcs, and the arc from the exit to the entry
	in, out [][]uint32 // numbers of the arcs into and out of each block
	guess   []float64  // GCC's guessed frequency of each arc
	block   []float64  // GCC's guessed frequency of each block
	rare    []bool     // for each arc, whether it costs costFake
	items   []item     // the evidence
	weights []int64    // for each item, the factor of its costs, in thousandths
	flows   []int64    // counts of all arcs, from the last round
	result  []int64    // inferred counts of the arcs, nil if there is no evidence
	counts  []int64    // counts of the blocks, from the last round
	union   int64      // factor of the costs of items about several blocks in this round, in percent
}

// newProblem builds the optimisation problem for the counts of a function's arcs, from the
// function's evidence and GCC's guesses.
func newProblem(f *function) *problem {
	p := &problem{function: f, items: f.items()}
	p.all = append(f.Arcs[:len(f.Arcs):len(f.Arcs)], gcda.Arc{From: 1, To: 0})
	p.in, p.out = make([][]uint32, f.Blocks), make([][]uint32, f.Blocks)
	for i, a := range p.all {
		p.in[a.To] = append(p.in[a.To], uint32(i))
		p.out[a.From] = append(p.out[a.From], uint32(i))
	}
	p.weigh()
	p.guesses()
	return p
}

// weigh sets the weight of each item of evidence. What it costs to contradict an item is multiplied
// by its weight. An item about many blocks gets a smaller weight, and so do several items about the
// same blocks. Items about statements that compilers seldom move get a larger weight.
func (p *problem) weigh() {
	compare := func(a, b item) int {
		switch {
		case a.arcs == b.arcs:
			return slices.Compare(a.numbers, b.numbers)
		case a.arcs:
			return -1
		}
		return 1
	}
	slices.SortStableFunc(p.items, compare)
	p.weights = make([]int64, len(p.items))
	for i := 0; i < len(p.items); {
		n := i + 1
		for n < len(p.items) && compare(p.items[n], p.items[i]) == 0 {
			n++
		}
		w := int64(1000 / math.Sqrt(float64(n-i)))
		for ; i < n; i++ {
			p.weights[i] = max(1, w/int64(max(p.items[i].spread, len(p.items[i].numbers))))
			if p.items[i].fixed {
				p.weights[i] *= 2
			}
		}
	}
}

// guesses sets the frequencies of all arcs and blocks that GCC guesses, as the dump has them.
func (p *problem) guesses() {
	p.guess, p.block, p.rare = make([]float64, len(p.all)), make([]float64, p.Blocks), make([]bool, len(p.all))
	for i, a := range p.all {
		p.rare[i] = a.Flags&gcda.Fake != 0
	}
	for from := range p.blocks {
		for _, s := range p.blocks[from].successors {
			if arc, ok := p.arcs[[2]uint32{uint32(from), s.block}]; ok {
				p.guess[arc] = float64(s.guess)
				p.rare[arc] = p.rare[arc] || s.throws
				p.block[from] += float64(s.guess)
			}
		}
	}
	for b, arcs := range p.in {
		sum := float64(0)
		for _, a := range arcs {
			sum += p.guess[a]
		}
		p.block[b] = max(p.block[b], sum, 1)
	}
	p.block[0] = 0
	for _, a := range p.out[0] {
		if a := p.all[a]; a.To < p.Blocks {
			p.block[0] = max(p.block[0], p.block[a.To])
		}
	}
	for _, a := range p.out[0] {
		p.guess[a] = p.block[0]
	}
	p.guess[len(p.all)-1] = p.block[0]
}

// rounds is how often the optimisation problem is solved. The costs of guesses, and of evidence
// about the sum of several blocks, depend on the solution before. The first round has only an
// estimate in its place.
const rounds = 2

// unionWeights are the weights, in percent, of evidence about the sum of several blocks in each
// round. It weighs less in the first round, in which it is not yet known how to divide the sum
// among the blocks.
var unionWeights = [rounds]int64{50, 100}

// infer solves the problem and returns the counts of the function's arcs.
func (p *problem) infer() []int64 {
	p.counts = p.estimate()
	for round := range rounds {
		p.union = unionWeights[round]
		p.solve()
	}
	return p.flows[:len(p.Arcs)]
}

// estimate returns the counts of blocks with which the first round begins. A block with evidence
// about it alone gets the lower bound of that evidence. The counts of other blocks are estimated
// from their neighbours and from GCC's guessed frequencies.
func (p *problem) estimate() []int64 {
	scale := make([]float64, p.Blocks) // count divided by guessed frequency; negative if unknown
	known := make([]bool, p.Blocks)
	for b := range scale {
		scale[b] = -1
	}
	for _, item := range p.items {
		if !item.arcs && len(item.numbers) == 1 {
			b := item.numbers[0]
			known[b] = true
			scale[b] = max(scale[b], float64(item.low)/p.block[b])
		}
	}
	p.spread(scale, known)
	counts := make([]int64, p.Blocks)
	for b := range counts {
		counts[b] = int64(max(0, float64(scale[b]*p.block[b])))
	}
	return counts
}

// sweeps is how many times [problem.spread] visits all blocks.
const sweeps = 4

// spread estimates the scale of each block for which known is false. The scale of a block is its
// count divided by the frequency that GCC guesses for it. The estimate is the weighted mean of the
// scales of the block's predecessors. If these are unknown, it is that of the scales of the block's
// successors.
func (p *problem) spread(scale []float64, known []bool) {
	mean := func(b int, arcs []uint32, other func(gcda.Arc) uint32) {
		sum, weights := float64(0), float64(0)
		for _, a := range arcs {
			if s := scale[other(p.all[a])]; s >= 0 {
				sum += float64(s * p.guess[a])
				weights += p.guess[a]
			}
		}
		if weights > 0 {
			scale[b] = sum / weights
		}
	}
	for range sweeps {
		for b := range p.in {
			if !known[b] {
				mean(b, p.in[b], func(a gcda.Arc) uint32 { return a.From })
			}
		}
		for b := len(p.out) - 1; b >= 0; b-- {
			if scale[b] < 0 {
				mean(b, p.out[b], func(a gcda.Arc) uint32 { return a.To })
			}
		}
	}
}

// solve computes the counts of all arcs and blocks that have the least cost together, as a
// circulation in a network. If the solver reaches the limit of its operations, the counts are
// consistent, but another solution may cost less.
func (p *problem) solve() {
	arcs, blocks := make([]curve, len(p.all)), make([]curve, p.Blocks)
	for i, item := range p.items {
		p.itemCost(item, p.weights[i], arcs, blocks)
	}
	for b := range p.out {
		p.successorCosts(b, arcs)
	}
	n := new(flow.Network)
	carriers := make([][]int, len(p.all)) // for each arc of the graph, the arcs of the network that make it up
	split := int32(p.Blocks)
	leaves := make([]int32, p.Blocks) // for each block, the node of the network where its outgoing arcs begin
	for b := range blocks {
		leaves[b] = int32(b)
		switch {
		case len(p.in[b]) == 1:
			arcs[p.in[b][0]].add(blocks[b])
		case len(p.out[b]) == 1:
			arcs[p.out[b][0]].add(blocks[b])
		case len(blocks[b].bends) > 0 || blocks[b].slope != 0:
			leaves[b] = split
			blocks[b].build(n, int32(b), split)
			split++
		}
	}
	for i, a := range p.all {
		arcs[i].slope += costFlow
		carriers[i] = arcs[i].build(n, leaves[a.From], int32(a.To))
	}
	flows, _ := n.Circulate(p.operations())
	p.flows, p.counts = make([]int64, len(p.all)), make([]int64, p.Blocks)
	for i, a := range p.all {
		for _, c := range carriers[i] {
			p.flows[i] += flows[c]
		}
		p.counts[a.To] += p.flows[i]
	}
}

// operations returns the limit of the solver's operations, which bounds its time. For a function of
// 5,000 blocks the solver takes 2,000 operations for each arc in a round.
func (p *problem) operations() int { return 10_000_000 + 10_000*len(p.all) }

// itemCost adds the cost of violating an item of evidence to the curves of the blocks or arcs that
// the item is about. If there are several, the bounds of the item are divided among them in
// proportion to the counts of the last round.
func (p *problem) itemCost(item item, weight int64, arcs, blocks []curve) {
	below, above := weight*costBelow/1000, weight*costAbove/1000
	curves := blocks
	if item.arcs {
		below, above = weight*costArc/1000, weight*costArc*7/10/1000
		curves = arcs
	}
	if len(item.numbers) == 1 {
		curves[item.numbers[0]].between(item.low, item.high, below, above)
		return
	}
	below, above, pull := below*p.union/100, above*p.union/100, weight*costUnion/1000*p.union/100
	shares := p.shares(item)
	total := float64(0)
	for _, s := range shares {
		total += s
	}
	for i, n := range item.numbers {
		share := shares[i] / total
		low, high := int64(float64(float64(item.low)*share)+0.5), int64(float64(float64(item.high)*share)+0.5)
		if item.high >= unlimited {
			high = unlimited
		}
		curves[n].between(low, high, below, above)
		if high < unlimited {
			curves[n].between(high, unlimited, pull, 0)
		}
	}
}

// shares returns how to divide evidence about the sum of several blocks or arcs among these blocks
// or arcs. The shares are proportional to their counts in the last round. If all of these counts
// are 0, they are proportional to GCC's guesses.
func (p *problem) shares(item item) []float64 {
	counts, guesses, least := p.counts, p.block, 0.0
	if item.arcs {
		counts, guesses, least = p.flows, p.guess, 1
	}
	shares := make([]float64, len(item.numbers))
	sum := float64(0)
	for i, n := range item.numbers {
		if counts != nil { // arcs have none in the first round
			shares[i] = float64(counts[n])
		}
		sum += shares[i]
	}
	for i, n := range item.numbers {
		if sum == 0 {
			shares[i] = guesses[n] + least
		}
	}
	return shares
}

// successorCosts adds two costs to the curves of the arcs out of block b: for counts that differ
// from the shares that GCC guesses, and for taking a rare arc.
func (p *problem) successorCosts(b int, arcs []curve) {
	total, jumps := float64(0), 0
	for _, a := range p.out[b] {
		if !p.rare[a] {
			total += p.guess[a]
			jumps++
		} else if len(p.out[b]) > 1 {
			arcs[a].slope += costFake
		}
	}
	if jumps < 2 {
		return
	}
	for _, a := range p.out[b] {
		if p.rare[a] {
			continue
		}
		share := 1 / float64(jumps)
		if total > 0 {
			share = p.guess[a] / total
		}
		target := int64(float64(float64(p.counts[b])*share) + 0.5)
		arcs[a].between(target, target, costGuess, costGuess)
	}
}

// add adds the cost of another curve to the curve.
func (c *curve) add(other curve) {
	c.slope += other.slope
	c.bends = append(c.bends, other.bends...)
}

// build adds a curve to a network as arcs between two nodes. It adds one arc for each slope of the
// curve, with the slope as the cost of the arc, so that a flow through these arcs costs what the
// curve has for a count of this size. build returns the numbers of the arcs.
func (c *curve) build(n *flow.Network, from, to int32) (arcs []int) {
	slices.SortFunc(c.bends, func(a, b bend) int { return cmp.Compare(a.at, b.at) })
	at, slope := int64(0), c.slope
	for i := 0; i < len(c.bends); i++ {
		b := c.bends[i]
		if b.at > at {
			arcs = append(arcs, n.AddArc(from, to, b.at-at, slope))
			at = b.at
		}
		slope += b.change
	}
	return append(arcs, n.AddArc(from, to, flow.Unlimited, slope))
}
