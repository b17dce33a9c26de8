// Package exttsp orders the basic blocks of a function so that few jumps are taken and jumps are
// short. The objective is the extended travelling salesman problem (Newell and Pupyrev, Improved
// basic block reordering, IEEE Transactions on Computers, 2020) with the weights that LLVM uses.
package exttsp

import "github.com/go-afdo/afdo/produce/layout/internal/chains"

// Weights of jumps in the score, and limits. A jump over more bytes than the distance for its
// direction does not count. The values are those of LLVM's CodeLayout.cpp, where they were tuned on
// large programs.
const (
	fallThroughWeight     = 1.0  // for a block with several successors
	soleFallThroughWeight = 1.05 // for a block with a single successor, which then needs no jump instruction
	jumpWeight            = 0.1
	forwardDistance       = 1024
	backwardDistance      = 640
	maxSplitChain         = 128 // blocks in a chain that bestMerge tries to split at every position, which takes quadratic time
	maxChain              = 512 // maximum number of blocks in a chain, because each merge visits all of them
	maxDensityRatio       = 100 // chains are not merged if their densities differ by a larger factor
)

// A Block is a basic block to be ordered: its size in bytes, and how often it was executed.
type Block struct {
	Size  uint64 // in bytes
	Count uint64 // how often it ran
}

// An Edge is a jump or a fall-through between two blocks, by index.
type Edge struct {
	From, To int
	Count    uint64
}

// Order returns an order of all blocks that has a high score. Block 0, the entry, is first. It
// takes about O(n log n) time for n blocks and edges, and O(n) memory.
func Order(blocks []Block, edges []Edge) []int {
	if len(blocks) == 0 {
		return nil
	}
	p := newProblem(blocks, edges)
	p.forcePairs()
	p.connect()
	p.MergeAll(p.bestMerge, p.join)
	return p.Concatenate(0)
}

// A problem is the state of ordering the blocks of one function: the jumps, and the chains built so
// far.
type problem struct {
	chains.Set[*jump]
	nodes  []node
	jumps  []*jump
	own    [][]*jump // for each chain by ID: the jumps between its blocks
	scores []float64 // for each chain by ID: the score of the jumps in own
}

type chain = chains.Chain[*jump]

// A node is a block with its jumps and its position in a chain, which is a sequence of blocks that
// will be adjacent in memory.
type node struct {
	size, count uint64
	chain       *chain
	position    int // index in the chain's items
	address     uint64
	in, out     []*jump
	next        int // the block that has to come after it, or -1
	previous    int // the block that has to come before it, or -1
}

// A jump is an edge with a count above 0.
type jump struct {
	from, to int
	count    float64
	sole     bool // its source has no other successor
}

// newProblem returns the initial state for ordering the blocks of a function, in which no block is
// in a chain.
func newProblem(blocks []Block, edges []Edge) *problem {
	p := &problem{nodes: make([]node, len(blocks))}
	for i, b := range blocks {
		p.nodes[i] = node{size: max(b.Size, 1), count: b.Count, next: -1, previous: -1}
	}
	degree := make([]int, len(blocks))
	for _, e := range edges {
		degree[e.From]++
	}
	for _, e := range edges {
		if e.From == e.To || e.Count == 0 {
			continue
		}
		j := &jump{e.From, e.To, float64(e.Count), degree[e.From] == 1}
		from, to := &p.nodes[e.From], &p.nodes[e.To]
		from.out, to.in = append(from.out, j), append(to.in, j)
		from.count, to.count = max(from.count, e.Count), max(to.count, e.Count)
		p.jumps = append(p.jumps, j)
	}
	return p
}

// score returns the sum of the scores of jumps for an order of blocks in memory: first the blocks
// of parts[0], then those of parts[1] and of parts[2].
func (p *problem) score(parts [3][]int, jumps []*jump) (sum float64) {
	address := uint64(0)
	for _, part := range parts {
		for _, i := range part {
			p.nodes[i].address = address
			address += p.nodes[i].size
		}
	}
	for _, j := range jumps {
		sum += p.jumpScore(j)
	}
	return sum
}

// jumpScore returns the score of a jump. It is higher for a short jump than for a long one, and
// highest for a fall-through.
func (p *problem) jumpScore(j *jump) float64 {
	end, target := p.nodes[j.from].address+p.nodes[j.from].size, p.nodes[j.to].address
	distance, limit := end-target, uint64(backwardDistance)
	switch {
	case end == target && j.sole:
		return soleFallThroughWeight * j.count
	case end == target:
		return fallThroughWeight * j.count
	case end < target:
		distance, limit = target-end, forwardDistance
	}
	if distance > limit {
		return 0
	}
	return jumpWeight * j.count * (1 - float64(distance)/float64(limit))
}

// forcePairs finds pairs of blocks that are each other's only successor and predecessor. Such pairs
// stay adjacent.
func (p *problem) forcePairs() {
	for i := range p.nodes {
		if n := &p.nodes[i]; len(n.out) == 1 {
			if to := n.out[0].to; to != 0 && len(p.nodes[to].in) == 1 {
				n.next, p.nodes[to].previous = to, i
			}
		}
	}
	// A cycle of blocks that cannot be reached from the entry may begin anywhere.
	for i := range p.nodes {
		at := p.nodes[i].next
		for at >= 0 && at != i {
			at = p.nodes[at].next
			if at >= 0 && p.nodes[at].previous < 0 {
				break
			}
		}
		if at == i {
			p.nodes[p.nodes[i].previous].next = -1
			p.nodes[i].previous = -1
		}
	}
}

// connect creates a chain for each sequence of blocks that must stay adjacent (see forcePairs). It
// links the chains by the jumps between them.
func (p *problem) connect() {
	var all []*chain
	for i := range p.nodes {
		if p.nodes[i].previous >= 0 {
			continue
		}
		c := p.Add()
		for at := i; at >= 0; at = p.nodes[at].next {
			p.put(c, at)
		}
		all = append(all, c)
	}
	p.own, p.scores = make([][]*jump, len(all)), make([]float64, len(all))
	for _, j := range p.jumps {
		if from, to := p.nodes[j.from].chain, p.nodes[j.to].chain; from != to {
			p.Connect(from, to, j)
		} else {
			p.own[from.ID] = append(p.own[from.ID], j)
		}
	}
	for _, c := range all {
		p.scores[c.ID] = p.score([3][]int{c.Items}, p.own[c.ID])
	}
}

// put appends the block with the given index to a chain.
func (p *problem) put(c *chain, block int) {
	n := &p.nodes[block]
	n.chain, n.position = c, len(c.Items)
	c.Append(block, n.size, n.count)
}
