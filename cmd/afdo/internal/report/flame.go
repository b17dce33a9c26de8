package report

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// frames are the frames of the flame graph, in pre-order: the functions and, below each, the
// functions inlined in it. A function inlined in one body at several locations is one frame.
type frames struct {
	Depth    counts `json:"depth"`
	Symbol   counts `json:"symbol"` // row of symbols
	Own      counts `json:"own"`
	Total    counts `json:"total"` // own and what is inlined
	WasOwn   counts `json:"own_before,omitempty"`
	WasTotal counts `json:"total_before,omitempty"`
	Left     count  `json:"left"` // frames that have samples and are not drawn
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
		if c.was != nil {
			f.WasOwn = append(f.WasOwn, n.wasOwn)
			f.WasTotal = append(f.WasTotal, n.wasTotal)
		}
	}
}

// frameNodes chooses the frames with the most samples. A frame has no fewer than
// those below it and comes before them, so none is chosen without the one above it.
func (c *collector) frameNodes() []node {
	b := flameBuilder{limit: c.options.Frames, heat: c.heat}
	for own, f := range c.now.profile.Functions() {
		s := c.now.symbols.commonOf(own)
		b.body.Reset()
		b.merge(sideNow, f.Records, c.now)
		if was := c.was.function(s); was != nil {
			b.merge(sideWas, was.Records, c.was)
		}
		b.function(s)
	}
	if c.was != nil {
		for own, f := range c.was.profile.Functions() {
			if s := c.was.symbols.commonOf(own); c.now.function(s) == nil {
				b.body.Reset()
				b.merge(sideWas, f.Records, c.was)
				b.function(s)
			}
		}
	}
	b.prune()
	c.Frames.Left = count(b.left)
	return b.nodes
}

// A node is a frame.
type node struct {
	own, total       uint64
	wasOwn, wasTotal uint64 // in the profile before
	order            int    // among all nodes, in pre-order
	symbol           profile.SymbolRef
	depth            int32
}

// A flameBuilder keeps the nodes with the most samples.
type flameBuilder struct {
	limit int
	heat  func(now, was uint64) float64
	nodes []node // in pre-order
	met   int
	left  int // nodes with samples that are not kept
	body  profile.Body
	open  []int // in nodes, outermost first
}

// The counts of both sides are in one body while frames are gathered, each side's at a line of its
// own.
const (
	sideNow uint32 = iota
	sideWas
)

// function adds the nodes of a function, whose records are in the body.
func (b *flameBuilder) function(s profile.SymbolRef) {
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
			if r.Line == sideNow {
				n.own = saturating.Add(n.own, r.Count)
			} else {
				n.wasOwn = saturating.Add(n.wasOwn, r.Count)
			}
		case profile.KindInlined:
			b.enter(r.Callee)
		}
	}
	b.leave(0)
	if len(b.nodes) > 4*b.limit {
		b.prune()
	}
}

// merge adds what a function of a side has at its several locations to the body, together at one.
func (b *flameBuilder) merge(line uint32, records []profile.Record, s *side) {
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
			b.body.Count(line, 0, r.Count)
		case r.Kind == profile.KindInlined && open < maxDepth:
			b.body.Enter(0, 0, s.symbols.commonOf(r.Callee))
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
		n.wasTotal = saturating.Add(n.wasTotal, n.wasOwn)
		if last > 0 {
			outer := &b.nodes[b.open[last-1]]
			outer.total = saturating.Add(outer.total, n.total)
			outer.wasTotal = saturating.Add(outer.wasTotal, n.wasTotal)
		}
		b.open = b.open[:last]
	}
}

// prune keeps the nodes with the most samples, the first ones of the same number.
func (b *flameBuilder) prune() {
	sampled := slices.DeleteFunc(b.nodes, func(n node) bool { return n.total == 0 && n.wasTotal == 0 })
	slices.SortFunc(sampled, func(x, y node) int {
		return cmp.Or(
			cmp.Compare(b.heat(y.total, y.wasTotal), b.heat(x.total, x.wasTotal)),
			cmp.Compare(y.total, x.total),
			cmp.Compare(x.order, y.order),
		)
	})
	kept := min(len(sampled), b.limit)
	b.left += len(sampled) - kept
	b.nodes = sampled[:kept]
	slices.SortFunc(b.nodes, func(x, y node) int { return cmp.Compare(x.order, y.order) })
}
