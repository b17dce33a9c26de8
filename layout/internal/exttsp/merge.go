package exttsp

import (
	"cmp"
	"container/heap"
)

// A chain is blocks that lie one after another.
type chain struct {
	id          int
	blocks      []int
	size, count uint64
	own         []*jump // between its blocks
	score       float64 // of own
	links       map[*chain]*link
}

func (c *chain) hasEntry() bool   { return c.blocks[0] == 0 }
func (c *chain) density() float64 { return float64(c.count) / float64(c.size) }

func (c *chain) add(p *problem, block int) {
	n := &p.nodes[block]
	n.chain, n.position = c, len(c.blocks)
	c.blocks = append(c.blocks, block)
	c.size += n.size
	c.count += n.count
}

// A link is the jumps between two chains in both directions.
type link struct {
	a, b  *chain
	jumps []*jump
	stamp int // of its latest entry in the queue
}

// A merge is an order of the parts of two chains, and the score that it gains.
type merge struct {
	gain  float64
	parts [3][]int
}

// An entry is a merge in the queue. It is outdated once the link has another stamp.
type entry struct {
	merge
	link  *link
	stamp int
}

// A queue has the merge with the highest gain first.
type queue []entry

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)   { *q = append(*q, e.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q queue) Less(i, j int) bool {
	if q[i].gain != q[j].gain {
		return q[i].gain > q[j].gain
	}
	a, b := q[i].link, q[j].link
	return cmp.Or(cmp.Compare(min(a.a.id, a.b.id), min(b.a.id, b.b.id)),
		cmp.Compare(max(a.a.id, a.b.id), max(b.a.id, b.b.id))) < 0
}

// mergeAll merges chains as long as that gains something.
func (p *problem) mergeAll() {
	for _, c := range p.chains {
		for _, l := range c.links {
			if l.a == c {
				p.enqueue(l)
			}
		}
	}
	for p.queue.Len() > 0 {
		if best := heap.Pop(&p.queue).(entry); best.stamp == best.link.stamp {
			p.apply(best)
		}
	}
}

// enqueue adds the best merge of two chains to the queue, and outdates the last one.
func (p *problem) enqueue(l *link) {
	l.stamp++
	if best := p.bestMerge(l); best.gain > epsilon {
		heap.Push(&p.queue, entry{best, l, l.stamp})
	}
}

// apply merges two chains and looks anew for the best merges of the result.
func (p *problem) apply(e entry) {
	into, from := e.link.a, e.link.b
	if into.id > from.id {
		into, from = from, into
	}
	// The parts refer to into.blocks, so the merged chain gets blocks of its own.
	merged := make([]int, 0, len(into.blocks)+len(from.blocks))
	for _, part := range e.parts {
		merged = append(merged, part...)
	}
	into.blocks, into.size, into.count = nil, 0, 0
	for _, block := range merged {
		into.add(p, block)
	}
	into.own = append(append(into.own, from.own...), e.link.jumps...)
	e.link.stamp++
	delete(into.links, from)
	delete(from.links, into)
	for other, l := range from.links {
		delete(other.links, from)
		if kept := into.links[other]; kept != nil {
			kept.jumps = append(kept.jumps, l.jumps...)
			l.stamp++
			continue
		}
		if l.a == from {
			l.a = into
		} else {
			l.b = into
		}
		into.links[other], other.links[into] = l, l
	}
	from.links, p.chains[from.id] = nil, nil
	into.score = p.score([3][]int{into.blocks}, into.own)
	for _, l := range into.links {
		p.enqueue(l)
	}
}

// bestMerge returns the best way to merge two chains.
func (p *problem) bestMerge(l *link) (best merge) {
	if len(l.a.blocks)+len(l.b.blocks) > maxChain {
		return merge{}
	}
	low, high := l.a.density(), l.b.density()
	if low > high {
		low, high = high, low
	}
	if high > low*maxDensityRatio {
		return merge{}
	}
	first, second := l.a, l.b
	if first.id > second.id {
		first, second = second, first
	}
	for _, pair := range [2][2]*chain{{first, second}, {second, first}} {
		m := merging{problem: p, x: pair[0], y: pair[1], jumps: append(append([]*jump(nil), l.jumps...), pair[0].own...), best: &best}
		m.tryAll()
	}
	return best
}

// A merging is the search for the best way to put a chain y after or into a chain x.
type merging struct {
	*problem
	x, y  *chain
	jumps []*jump // that may change their score
	best  *merge
}

func (m *merging) tryAll() {
	x, y := m.x.blocks, m.y.blocks
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

// follows reports whether a block jumps to another.
func (m *merging) follows(from, to int) bool {
	for _, j := range m.nodes[from].out {
		if j.to == to {
			return true
		}
	}
	return false
}

// split tries orders with x split at a position.
func (m *merging) split(at int, between, before, after bool) {
	x, y := m.x.blocks, m.y.blocks
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

// try keeps an order if it is better than the best. The entry has to stay first.
func (m *merging) try(parts ...[]int) {
	if (m.x.hasEntry() || m.y.hasEntry()) && parts[0][0] != 0 {
		return
	}
	order := [3][]int(parts)
	if gain := m.score(order, m.jumps) - m.x.score; gain > m.best.gain {
		*m.best = merge{gain, order}
	}
}
