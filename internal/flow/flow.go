// Package flow finds circulations of minimum cost in a graph: an amount of flow for each arc, such
// that as much flow enters every node as leaves it.
//
// The solver is a network simplex that uses only integers, so a problem has the same result on
// every machine. Its state is a valid circulation after any number of steps, so a limit of steps
// bounds its time.
package flow

import "math"

// Unlimited is the capacity of an arc without a limit. The cost of a cycle of such arcs must not be
// negative.
const Unlimited = math.MaxInt64

// A Network is a graph with capacities and costs. The zero value is empty.
type Network struct {
	from, to       []int32
	capacity, cost []int64
	nodes          int32
}

// AddArc adds an arc and returns its number. Nodes are numbered from 0. The sum of the absolute
// costs on a simple path, and the sum of the finite capacities, must fit in 62 bits.
func (n *Network) AddArc(from, to int32, capacity, cost int64) int {
	n.from, n.to = append(n.from, from), append(n.to, to)
	n.capacity, n.cost = append(n.capacity, capacity), append(n.cost, cost)
	n.nodes = max(n.nodes, from+1, to+1)
	return len(n.from) - 1
}

// none is used in place of the number of a node or arc if there is none.
const none = -1

// Circulate returns the flow on each arc in a circulation of minimum cost. It stops after the given
// number of operations, each on one arc or node. optimal reports whether it found the minimum
// before.
func (n *Network) Circulate(operations int) (flows []int64, optimal bool) {
	s := newSimplex(n)
	s.left = operations
	for s.left > 0 {
		e := s.entering()
		if e == none {
			return s.flow[:len(n.from)], true
		}
		s.pivot(e)
	}
	return s.flow[:len(n.from)], false
}

// A simplex is the state of the network simplex algorithm: a spanning tree of the nodes, and a flow
// on each arc. The flow on an arc outside of the tree is 0 or the capacity of the arc. The tree is
// strongly feasible: more flow can be sent from every node along the tree to the root. This
// prevents endless loops (W. H. Cunningham, "A network simplex method", 1976).
type simplex struct {
	*Network
	root      int32
	flow      []int64
	state     []int8 // of each arc: in the tree, or with flow 0, or with flow at its capacity
	potential []int64
	parent    []int32
	arc       []int32 // arc between a node and its parent; from len(from) on, arcs to the root
	up        []bool  // the arc leads to the parent
	depth     []int32
	child     []int32 // first child
	next      []int32 // next and previous child of the same parent
	previous  []int32
	scan      int // the next arc to look at
	block     int // number of arcs to look at before one is chosen
	stack     []int32
	left      int // number of operations that are still allowed
}

const (
	inTree     = 0
	atZero     = 1
	atCapacity = -1
)

// newSimplex returns the initial state for a network: no flow, and a tree in which each node is
// connected to the root by an arc of its own.
func newSimplex(n *Network) *simplex {
	count := int(n.nodes) + 1
	ints := make([]int32, 6*count)
	part := func(i int) []int32 { return ints[i*count : (i+1)*count : (i+1)*count] }
	s := &simplex{
		Network: n, root: n.nodes,
		flow: make([]int64, len(n.from)+count), state: make([]int8, len(n.from)),
		potential: make([]int64, count), up: make([]bool, count),
		parent: part(0), arc: part(1), depth: part(2), child: part(3), next: part(4), previous: part(5),
		block: max(10, int(math.Sqrt(float64(len(n.from))))),
	}
	for i := range s.state {
		s.state[i] = atZero
	}
	for v := int32(0); v < s.root; v++ {
		s.child[v], s.up[v], s.arc[v], s.depth[v] = none, true, int32(len(n.from))+v, 1
	}
	s.child[s.root], s.parent[s.root] = none, none
	for v := s.root - 1; v >= 0; v-- {
		s.attach(v, s.root)
	}
	return s
}

// attach makes node v a child of node parent in the tree.
func (s *simplex) attach(v, parent int32) {
	first := s.child[parent]
	s.parent[v], s.next[v], s.previous[v] = parent, first, none
	if first != none {
		s.previous[first] = v
	}
	s.child[parent] = v
}

// detach removes node v from the list of children of its parent.
func (s *simplex) detach(v int32) {
	next, previous := s.next[v], s.previous[v]
	if next != none {
		s.previous[next] = previous
	}
	if previous != none {
		s.next[previous] = next
	} else {
		s.child[s.parent[v]] = next
	}
}

// entering returns an arc outside of the tree on which more or less flow lowers the total cost. It
// searches the arcs in blocks, and returns the best arc of the first block that has any.
func (s *simplex) entering() int {
	best, lowest := none, int64(0)
	left := s.block
	for range s.from {
		e := s.scan
		s.left--
		if s.scan++; s.scan == len(s.from) {
			s.scan = 0
		}
		if c := int64(s.state[e]) * (s.cost[e] + s.potential[s.from[e]] - s.potential[s.to[e]]); c < lowest {
			best, lowest = e, c
		}
		if left--; left == 0 {
			if best != none {
				return best
			}
			left = s.block
		}
	}
	return best
}

// pivot adds arc e to the tree. The arc and the tree then contain a cycle. pivot sends as much flow
// as possible around that cycle, and removes the arc that allows no more flow from the tree.
func (s *simplex) pivot(e int) {
	first, second := s.from[e], s.to[e]
	if s.state[e] == atCapacity {
		first, second = second, first
	}
	join := s.join(first, second)
	// Flow goes down the tree from join to first, along e, and up from second to join.
	amount, leaving, below := s.capacity[e], int32(none), false
	for v := first; v != join; v = s.parent[v] {
		if room := s.room(v, !s.up[v]); room < amount {
			amount, leaving, below = room, v, true
		}
	}
	for v := second; v != join; v = s.parent[v] {
		if room := s.room(v, s.up[v]); room <= amount {
			amount, leaving, below = room, v, false
		}
	}
	s.push(e, first, second, join, amount)
	if leaving == none {
		s.state[e] = -s.state[e]
		return
	}
	old := s.arc[leaving]
	if int(old) < len(s.state) {
		s.state[old] = atZero
		if s.flow[old] > 0 {
			s.state[old] = atCapacity
		}
	}
	s.state[e] = inTree
	if below {
		s.hang(int32(e), first, second, leaving)
	} else {
		s.hang(int32(e), second, first, leaving)
	}
}

// join returns the last common node of the paths from the root to the nodes u and v.
func (s *simplex) join(u, v int32) int32 {
	for u != v {
		s.left -= 3
		if s.depth[u] >= s.depth[v] {
			u = s.parent[u]
		} else {
			v = s.parent[v]
		}
	}
	return u
}

// room returns by how much the flow on the arc between node v and its parent can grow, if along is
// true, or shrink, if along is false.
func (s *simplex) room(v int32, along bool) int64 {
	a := s.arc[v]
	switch {
	case !along:
		return s.flow[a]
	case int(a) >= len(s.capacity) || s.capacity[a] == Unlimited:
		return Unlimited
	}
	return s.capacity[a] - s.flow[a]
}

// push sends an amount of flow around the cycle that arc e closes in the tree: from node join down
// to first, along e, and from second up to join.
func (s *simplex) push(e int, first, second, join int32, amount int64) {
	if amount == 0 {
		return
	}
	s.flow[e] += int64(s.state[e]) * amount
	change := func(v int32, along bool) {
		if along {
			s.flow[s.arc[v]] += amount
		} else {
			s.flow[s.arc[v]] -= amount
		}
	}
	for v := first; v != join; v = s.parent[v] {
		change(v, !s.up[v])
	}
	for v := second; v != join; v = s.parent[v] {
		change(v, s.up[v])
	}
}

// hang moves a subtree to another place in the tree. First it removes the arc between node leaving
// and its parent, which separates the subtree below leaving from the tree. Then it connects node v,
// which is in the subtree, to node parent by arc e.
func (s *simplex) hang(e, v, parent, leaving int32) {
	top := v
	arc, up := e, s.from[e] == v
	for {
		old, oldArc, oldUp := s.parent[v], s.arc[v], s.up[v]
		s.detach(v)
		s.attach(v, parent)
		s.arc[v], s.up[v] = arc, up
		if v == leaving {
			break
		}
		parent, v, arc, up = v, old, oldArc, !oldUp
	}
	change := s.cost[e]
	if s.up[top] {
		change = -change
	}
	s.lift(top, s.potential[s.parent[top]]+change-s.potential[top])
}

// lift adds change to the potential of each node in the subtree of top, and sets the depths of
// these nodes. The potential of a node is the sum of the costs of the arcs from the root along the
// tree to the node.
func (s *simplex) lift(top int32, change int64) {
	s.stack = append(s.stack[:0], top)
	for len(s.stack) > 0 {
		v := s.stack[len(s.stack)-1]
		s.left--
		s.stack = s.stack[:len(s.stack)-1]
		s.potential[v] += change
		s.depth[v] = s.depth[s.parent[v]] + 1
		for c := s.child[v]; c != none; c = s.next[c] {
			s.stack = append(s.stack, c)
		}
	}
}
