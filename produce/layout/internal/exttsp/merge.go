package exttsp

import (
	"slices"

	"github.com/go-afdo/afdo/produce/layout/internal/chains"
)

// join merges the two chains of blocks of a link into one chain, with the blocks in the order of
// m.Parts.
func (p *problem) join(m chains.Merge[*jump], l *chains.Link[*jump]) {
	into, from := m.First, m.Second
	// The parts refer to into.Items, so the merged chain gets items of its own.
	into.Items, into.Size, into.Count = make([]int, 0, len(into.Items)+len(from.Items)), 0, 0
	for _, part := range m.Parts {
		for _, block := range part {
			p.put(into, block)
		}
	}
	own := append(append(p.own[into.ID], p.own[from.ID]...), l.Edges...)
	p.own[into.ID], p.own[from.ID] = own, nil
	p.scores[into.ID] = p.score([3][]int{into.Items}, own)
}

// bestMerge returns the merge of the two chains of a link that has the highest gain in score.
func (p *problem) bestMerge(l *chains.Link[*jump]) (best chains.Merge[*jump]) {
	first, second := l.InOrder()
	if len(first.Items)+len(second.Items) > maxChain {
		return best
	}
	low, high := first.Density(), second.Density()
	if low > high {
		low, high = high, low
	}
	if high > low*maxDensityRatio {
		return best
	}
	best.First, best.Second = first, second
	for _, pair := range [2][2]*chain{{first, second}, {second, first}} {
		jumps := append(append([]*jump(nil), l.Edges...), p.own[pair[0].ID]...)
		m := merging{problem: p, x: pair[0], y: pair[1], jumps: jumps, best: &best}
		m.tryAll()
	}
	return best
}

// hasEntry reports whether a chain begins with block 0, the entry of the function.
func hasEntry(c *chain) bool { return c.Items[0] == 0 }

// A merging searches for the best order in which to merge the blocks of chain y into chain x. Chain
// x may be split, so that y comes between its two parts.
type merging struct {
	*problem
	x, y  *chain
	jumps []*jump // jumps within x, and between x and y
	best  *chains.Merge[*jump]
}

// tryAll tries to place chain y after chain x, and between the parts into which x can be split. It
// splits x next to jumps between x and y. If x is short, it splits x at every position.
func (m *merging) tryAll() {
	x, y := m.x.Items, m.y.Items
	m.try(x, y, nil)
	for _, j := range m.nodes[y[0]].in {
		if n := &m.nodes[j.from]; n.chain == m.x {
			m.split(n.position+1, true, false, true)
		}
	}
	for _, j := range m.nodes[y[len(y)-1]].out {
		if n := &m.nodes[j.to]; n.chain == m.x {
			m.split(n.position, true, true, false)
		}
	}
	if len(x) > maxSplitChain {
		return
	}
	for at := 1; at < len(x); at++ {
		if !m.follows(x[at-1], x[at]) {
			m.split(at, true, true, true)
		}
	}
}

// follows reports whether block from has a jump to block to.
func (m *merging) follows(from, to int) bool {
	return slices.ContainsFunc(m.nodes[from].out, func(j *jump) bool { return j.to == to })
}

// split splits chain x before the block with index at, and tries orders of its two parts and of
// chain y. With between, y comes between the two parts. With before and after, the two parts change
// places, and y comes before or after both.
func (m *merging) split(at int, between, before, after bool) {
	x, y := m.x.Items, m.y.Items
	if at == 0 || at == len(x) || m.nodes[x[at-1]].next >= 0 {
		return
	}
	if between {
		m.try(x[:at], y, x[at:])
	}
	if before {
		m.try(y, x[at:], x[:at])
	}
	if after {
		m.try(x[at:], x[:at], y)
	}
}

// try computes the gain of an order of blocks, which parts contains. If the gain is higher than
// that of the best order so far, this order becomes the best. It ignores orders in which the entry
// of the function is not first.
func (m *merging) try(parts ...[]int) {
	if (hasEntry(m.x) || hasEntry(m.y)) && parts[0][0] != 0 {
		return
	}
	order := [3][]int(parts)
	if gain := m.score(order, m.jumps) - m.scores[m.x.ID]; gain > m.best.Gain {
		m.best.Gain, m.best.Parts = gain, order
	}
}
