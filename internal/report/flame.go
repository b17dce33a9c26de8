package report

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// frames are those of the flame graph: the functions and, below each, what is
// inlined in it, in pre-order. What is inlined in one body at several locations is one frame.
type frames struct {
	Depth  counts `json:"depth"`
	Symbol counts `json:"symbol"` // row of symbols
	Own    counts `json:"own"`
	Total  counts `json:"total"` // own and what is inlined
	Left   count  `json:"left"`  // frames that have samples and are not drawn
}

// maxDepth is how deep frames are drawn. What is nested deeper counts as own samples there.
const maxDepth = 100

// frames draws the frames with the most samples.
func (c *collector) frames() {
	f := &c.Frames
	for _, n := range c.frameNodes() {
		f.Depth = append(f.Depth, uint64(n.depth))
		f.Symbol = append(f.Symbol, c.symbol(n.symbol))
		f.Own = append(f.Own, n.own)
		f.Total = append(f.Total, n.total)
	}
}

// frameNodes chooses the frames with the most samples. A frame has no fewer than
// those below it and comes before them, so none is chosen without the one above it.
func (c *collector) frameNodes() []node {
	b := flameBuilder{limit: c.options.Frames}
	for s, f := range c.profile.Functions() {
		b.function(s, f)
	}
	b.prune()
	c.Frames.Left = count(b.left)
	return b.nodes
}

// A node is a frame.
type node struct {
	own, total uint64
	order      int // among all nodes, in pre-order
	symbol     profile.SymbolRef
	depth      int32
}

// A flameBuilder keeps the nodes with the most samples.
type flameBuilder struct {
	limit int
	nodes []node // in pre-order
	met   int
	left  int // nodes with samples that are not kept
	body  profile.Body
	open  []int // in nodes, outermost first
}

// function adds the nodes of a function.
func (b *flameBuilder) function(s profile.SymbolRef, f *profile.Function) {
	b.merge(f.Records)
	b.open = b.open[:0]
	b.enter(s)
	for w := profile.Walk(b.body.Records()); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
		b.leave(depth + 1)
		switch r.Kind {
		case profile.KindCount:
			n := &b.nodes[b.open[depth]]
			n.own = saturating.Add(n.own, r.Count)
		case profile.KindInlined:
			b.enter(r.Callee)
		}
	}
	b.leave(0)
	if len(b.nodes) > 4*b.limit {
		b.prune()
	}
}

// merge puts what a body has at its several locations together at one.
func (b *flameBuilder) merge(records []profile.Record) {
	b.body.Reset()
	open := 0
	for w := profile.Walk(records); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
		for ; open > depth; open-- {
			b.body.Leave()
		}
		switch {
		case r.Kind == profile.KindCount && r.Count > 0:
			b.body.Count(0, 0, r.Count)
		case r.Kind == profile.KindInlined && open < maxDepth:
			b.body.Enter(0, 0, r.Callee)
			open++
		}
	}
	for ; open > 0; open-- {
		b.body.Leave()
	}
}

func (b *flameBuilder) enter(s profile.SymbolRef) {
	b.nodes = append(b.nodes, node{symbol: s, depth: int32(len(b.open)), order: b.met})
	b.met++
	b.open = append(b.open, len(b.nodes)-1)
}

// leave closes all but the outermost nodes.
func (b *flameBuilder) leave(but int) {
	for len(b.open) > but {
		last := len(b.open) - 1
		n := &b.nodes[b.open[last]]
		n.total = saturating.Add(n.total, n.own)
		if last > 0 {
			outer := &b.nodes[b.open[last-1]]
			outer.total = saturating.Add(outer.total, n.total)
		}
		b.open = b.open[:last]
	}
}

// prune keeps the nodes with the most samples, the first ones of the same number.
func (b *flameBuilder) prune() {
	slices.SortFunc(b.nodes, func(x, y node) int {
		return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.order, y.order))
	})
	sampled, _ := slices.BinarySearchFunc(b.nodes, 0, func(n node, _ int) int {
		if n.total > 0 {
			return -1
		}
		return 1
	})
	kept := min(sampled, b.limit)
	b.left += sampled - kept
	b.nodes = b.nodes[:kept]
	slices.SortFunc(b.nodes, func(x, y node) int { return cmp.Compare(x.order, y.order) })
}
