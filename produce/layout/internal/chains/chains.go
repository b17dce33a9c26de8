// Package chains orders blocks or functions by merging chains of them. A chain is a sequence of
// blocks or functions that are adjacent in memory. All edges between two chains are a link. Of all
// merges of two linked chains, the package applies the one with the highest gain first, until no
// merge has a gain.
package chains

import (
	"cmp"
	"container/heap"
	"slices"
)

// A Set contains the chains of blocks or functions that have not been merged into other chains. E
// is the type of an edge between two blocks or functions. The zero value is empty.
type Set[E any] struct {
	chains []*Chain[E] // by ID; nil if merged into another
	queue  queue[E]
}

// A Chain is a sequence of adjacent items, which are blocks or functions.
type Chain[E any] struct {
	ID    int   // number of chains that were added before it
	Items []int // items in the order of their addresses
	Size  uint64
	Count uint64 // sum of the counts of the items
	links map[*Chain[E]]*Link[E]
}

// Add adds an empty chain to the set and returns it.
func (s *Set[E]) Add() *Chain[E] {
	c := &Chain[E]{ID: len(s.chains), links: make(map[*Chain[E]]*Link[E])}
	s.chains = append(s.chains, c)
	return c
}

// Append adds a block or function to the end of the chain. item is its index, size its size in
// bytes, and count how often it was executed.
func (c *Chain[E]) Append(item int, size, count uint64) {
	c.Items = append(c.Items, item)
	c.Size += size
	c.Count += count
}

// Density returns the number of executions of the chain's blocks or functions, divided by the size
// of the chain in bytes.
func (c *Chain[E]) Density() float64 { return float64(c.Count) / float64(c.Size) }

// A Link contains all edges between two chains, in both directions.
type Link[E any] struct {
	A, B  *Chain[E]
	Edges []E
	stamp int // stamp of its latest entry in the queue
}

// InOrder returns the two chains in the order of their IDs.
func (l *Link[E]) InOrder() (lower, higher *Chain[E]) {
	if l.A.ID > l.B.ID {
		return l.B, l.A
	}
	return l.A, l.B
}

// Connect adds an edge between two different chains to the link of these chains. It creates the
// link at the first edge.
func (s *Set[E]) Connect(a, b *Chain[E], edge E) {
	l := a.links[b]
	if l == nil {
		l = &Link[E]{A: a, B: b}
		a.links[b], b.links[a] = l, l
	}
	l.Edges = append(l.Edges, edge)
}

// A Merge describes how two chains can be merged into one, and the gain of this. The items of
// Second come after those of First, unless Parts contains another order.
type Merge[E any] struct {
	First, Second *Chain[E]
	Gain          float64
	Parts         [3][]int // the order of all items, if it is not First followed by Second
}

// epsilon is the smallest gain for which a merge is applied. Smaller gains are rounding errors.
const epsilon = 1e-8

// MergeAll merges pairs of linked chains until no merge has a gain. It always applies the merge
// with the highest gain. best returns the best merge of the two chains of a link. join moves the
// items of m.Second to m.First; MergeAll then moves the links of m.Second.
func (s *Set[E]) MergeAll(best func(l *Link[E]) Merge[E], join func(m Merge[E], l *Link[E])) {
	enqueue := func(l *Link[E]) {
		l.stamp++
		if m := best(l); m.Gain > epsilon {
			heap.Push(&s.queue, entry[E]{m, l, l.stamp})
		}
	}
	for _, c := range s.chains {
		for _, l := range c.links {
			if l.A == c {
				enqueue(l)
			}
		}
	}
	for s.queue.Len() > 0 {
		e := heap.Pop(&s.queue).(entry[E])
		if e.stamp != e.link.stamp {
			continue
		}
		join(e.Merge, e.link)
		s.moveLinks(e)
		for _, l := range e.First.links {
			enqueue(l)
		}
	}
}

// moveLinks moves the links of chain e.Second, which was merged into chain e.First, to that chain.
func (s *Set[E]) moveLinks(e entry[E]) {
	into, from := e.First, e.Second
	e.link.stamp++
	delete(into.links, from)
	delete(from.links, into)
	for other, l := range from.links {
		delete(other.links, from)
		if kept := into.links[other]; kept != nil {
			kept.Edges = append(kept.Edges, l.Edges...)
			l.stamp++
			continue
		}
		if l.A == from {
			l.A = into
		} else {
			l.B = into
		}
		into.links[other], other.links[into] = l, l
	}
	from.links, s.chains[from.ID] = nil, nil
}

// Concatenate returns the items of all chains in one list. The chain that starts with item first
// comes first, and the others follow by descending density. If first is -1, all chains are ordered
// by density. The set must not be used afterwards.
func (s *Set[E]) Concatenate(first int) []int {
	rest := slices.DeleteFunc(s.chains, func(c *Chain[E]) bool { return c == nil })
	slices.SortFunc(rest, func(a, b *Chain[E]) int {
		switch {
		case a.Items[0] == first:
			return -1
		case b.Items[0] == first:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Density(), a.Density()), cmp.Compare(a.ID, b.ID))
	})
	var order []int
	for _, c := range rest {
		order = append(order, c.Items...)
	}
	return order
}

// An entry is a possible merge in the queue. The stamp of a link changes whenever its merge has to
// be computed again. An entry with an older stamp is outdated and ignored.
type entry[E any] struct {
	Merge[E]
	link  *Link[E]
	stamp int
}

// A queue is a heap of possible merges, with the highest gain on top.
type queue[E any] []entry[E]

func (q queue[E]) Len() int      { return len(q) }
func (q queue[E]) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue[E]) Push(e any)   { *q = append(*q, e.(entry[E])) }
func (q *queue[E]) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q queue[E]) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	if a.Gain != b.Gain {
		return a.Gain > b.Gain
	}
	return cmp.Or(cmp.Compare(a.First.ID, b.First.ID), cmp.Compare(a.Second.ID, b.Second.ID)) < 0
}
