package arcs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/flow"
)

// Costs of a deviation by one execution.
const (
	costBelow = 10_000 // below the lower bound of an item
	costAbove = 7_000  // above the upper bound
	costUnion = 4_000  // below the upper bound, if the item is about several blocks
	costArc   = 5_000  // below and above the bounds, if the item is about arcs
	costGuess = 200    // from the guessed share of a successor
	costFake  = 20_000 // an arc that is no jump, or that an exception takes, beside another one
	costFlow  = 1      // any execution
)

// A curve is a convex cost that depends on a count: a slope at 0, which grows at some counts.
type curve struct {
	slope int64
	bends []bend
}

type bend struct{ at, change int64 }

// between adds a cost for counts below low and above high.
func (c *curve) between(low, high, below, above int64) {
	if low > 0 {
		c.slope -= below
		c.bends = append(c.bends, bend{low, below})
	}
	if high < unlimited {
		c.bends = append(c.bends, bend{max(high, 0), above})
	}
}

// A problem is the search for counts of the arcs of a function.
type problem struct {
	*function
	all     []gcda.Arc // the arcs, and the arc from the exit to the entry
	in, out [][]int32
	guess   []float64 // GCC's guessed frequency of each arc
	block   []float64 // and of each block
	rare    []bool    // arcs that cost costFake
	items   []item
	weights []int64 // of items: costs are multiplied by these thousandths
	flows   []int64 // of all arcs, in the last round
	result  []int64 // inferred counts of the arcs, nil if there is no evidence
	counts  []int64 // of the blocks
	optimal bool
	union   int64 // weight of items about several blocks in this round, in percent
}

func newProblem(f *function) *problem {
	p := &problem{function: f, items: f.items()}
	p.all = append(f.Arcs[:len(f.Arcs):len(f.Arcs)], gcda.Arc{From: 1, To: 0})
	p.in, p.out = make([][]int32, f.Blocks), make([][]int32, f.Blocks)
	for i, a := range p.all {
		p.in[a.To] = append(p.in[a.To], int32(i))
		p.out[a.From] = append(p.out[a.From], int32(i))
	}
	p.weigh()
	p.guesses()
	return p
}

// weigh gives each item a weight: less for those about many blocks, or about the same blocks as
// others.
func (p *problem) weigh() {
	slices.SortStableFunc(p.items, func(a, b item) int {
		return cmp.Or(slices.Compare(a.blocks, b.blocks), slices.Compare(a.arcs, b.arcs))
	})
	p.weights = make([]int64, len(p.items))
	for i := 0; i < len(p.items); {
		n := i + 1
		for n < len(p.items) && slices.Equal(p.items[n].blocks, p.items[i].blocks) && slices.Equal(p.items[n].arcs, p.items[i].arcs) {
			n++
		}
		w := int64(1000 / math.Sqrt(float64(n-i)))
		for ; i < n; i++ {
			p.weights[i] = max(1, w/int64(max(p.items[i].spread, len(p.items[i].blocks)+len(p.items[i].arcs))))
			if p.items[i].fixed {
				p.weights[i] *= 2
			}
		}
	}
}

// guesses sets the guessed frequencies of arcs and blocks.
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

// rounds is how often the problem is solved. Costs of guesses and of items about several blocks
// depend on the previous solution. Such items have less weight in the first round, because their
// division among the blocks is only a guess then.
const rounds = 2

// unionWeights are the weights of items about several blocks by round, in percent.
var unionWeights = [rounds]int64{50, 100}

// infer returns the counts of the arcs.
func (p *problem) infer() []int64 {
	p.counts = p.estimate()
	for round := range rounds {
		p.union = unionWeights[round]
		p.optimal = p.solve()
	}
	return p.flows[:len(p.Arcs)]
}

// estimate returns the counts of blocks for the first round: those of items about one block. The
// others follow from their neighbours by the guessed frequencies.
func (p *problem) estimate() []int64 {
	scale := make([]float64, p.Blocks) // executions by guessed frequency; negative if unknown
	known := make([]bool, p.Blocks)
	for b := range scale {
		scale[b] = -1
	}
	for _, item := range p.items {
		if len(item.blocks) == 1 {
			b := item.blocks[0]
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

// sweeps is how often scales are passed on from block to block.
const sweeps = 4

// spread sets the scales of unknown blocks to the weighted mean of their predecessors, or else of
// their successors.
func (p *problem) spread(scale []float64, known []bool) {
	mean := func(b int, arcs []int32, other func(gcda.Arc) uint32) {
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

// solve finds the flows of least cost.
func (p *problem) solve() (optimal bool) {
	arcs, blocks := make([]curve, len(p.all)), make([]curve, p.Blocks)
	for i, item := range p.items {
		p.itemCost(item, p.weights[i], arcs, blocks)
	}
	for b := range p.out {
		p.successorCosts(b, arcs)
	}
	n := new(flow.Network)
	carriers := make([][]int, len(p.all)) // the arcs of n for each arc
	split := int32(p.Blocks)
	leaves := make([]int32, p.Blocks) // the node where the arcs of a block begin
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
	flows, optimal := n.Circulate(p.operations())
	p.flows, p.counts = make([]int64, len(p.all)), make([]int64, p.Blocks)
	for i, a := range p.all {
		for _, c := range carriers[i] {
			p.flows[i] += flows[c]
		}
		p.counts[a.To] += p.flows[i]
	}
	return optimal
}

// operations limits the time of the solver. A function of 5,000 blocks takes 2,000 operations for
// each arc and round.
func (p *problem) operations() int { return 10_000_000 + 10_000*len(p.all) }

// itemCost adds the cost of deviating from an item. An item about several blocks is divided among
// them in proportion to the counts of the last round.
func (p *problem) itemCost(item item, weight int64, arcs, blocks []curve) {
	below, above := weight*costBelow/1000, weight*costAbove/1000
	curves, numbers := blocks, item.blocks
	counts := p.counts
	if len(item.arcs) > 0 {
		below, above = weight*costArc/1000, weight*costArc*7/10/1000
		curves, counts = arcs, p.flows
		numbers = make([]uint32, len(item.arcs))
		for i, a := range item.arcs {
			numbers[i] = uint32(a)
		}
	}
	if len(numbers) == 1 {
		curves[numbers[0]].between(item.low, item.high, below, above)
		return
	}
	below, above, pull := below*p.union/100, above*p.union/100, weight*costUnion/1000*p.union/100
	shares := p.shares(numbers, counts, len(item.arcs) > 0)
	total := float64(0)
	for _, s := range shares {
		total += s
	}
	for i, n := range numbers {
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

// shares returns the weights by which an item about several blocks is divided.
func (p *problem) shares(numbers []uint32, counts []int64, arcs bool) []float64 {
	shares := make([]float64, len(numbers))
	sum := float64(0)
	for i, n := range numbers {
		if counts != nil {
			shares[i] = float64(counts[n])
		}
		sum += shares[i]
	}
	for i, n := range numbers {
		switch {
		case sum > 0:
		case arcs:
			shares[i] = p.guess[n] + 1
		default:
			shares[i] = p.block[n]
		}
	}
	return shares
}

// successorCosts adds what it costs if the counts of the arcs out of a block deviate from the
// guessed shares, and what a rare arc costs.
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

func (c *curve) add(other curve) {
	c.slope += other.slope
	c.bends = append(c.bends, other.bends...)
}

// build adds arcs to a network, one for each slope.
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
