package slice

import "iter"

// A reach finds what a slice of a unit has for its own, and sums up its meanings. It
// looks at each symbol once for a unit, and at what shares its name all at once.
type reach struct {
	*meanings
	starts  []int32 // where the symbols of a unit begin, by unit
	unknown uint64  // the sum of the crowds of symbols without a file
	always  []bool  // those crowds

	round   uint32
	visited []uint32 // the round in which a symbol was looked at, by index
	added   []uint32 // the round in which a crowd was added
	queue   []int32
}

func newReach(m *meanings) *reach {
	crowds := len(m.groups) + len(m.classes)
	r := &reach{
		meanings: m,
		starts:   make([]int32, m.source.numUnits()+1),
		always:   make([]bool, crowds),
		visited:  make([]uint32, len(m.symbols)),
		added:    make([]uint32, crowds),
	}
	for _, sym := range m.symbols {
		r.starts[sym.unit+1]++
	}
	for unit := range m.source.numUnits() {
		r.starts[unit+1] += r.starts[unit]
	}
	for i, sym := range m.symbols {
		if m.source.path(sym.unit) == "" {
			for crowd, whole := range r.crowdsOf(int32(i)) {
				if !r.always[crowd] {
					r.always[crowd] = true
					r.unknown += whole
				}
			}
		}
	}
	return r
}

// crowdsOf returns which crowds come with a symbol, and their sums.
//
// What is found by an unqualified name is so both ways: a name that is not mangled, and those
// that several units may have for themselves. A mangled name of another kind finds them, but
// is not found.
func (r *reach) crowdsOf(i int32) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		n := &r.nodes[r.nodeOf[i]]
		byClass := n.class >= 0 && r.classes[n.class].plain
		if byClass && !yield(len(r.groups)+int(n.class), r.classes[n.class].whole) || byClass && n.member {
			return
		}
		yield(int(n.group), r.groups[n.group].whole)
	}
}

// total returns the sum of what a slice of units has.
func (r *reach) total(units []int) uint64 {
	r.round++
	sum := r.unknown
	for _, unit := range units {
		for i := r.starts[unit]; i < r.starts[unit+1]; i++ {
			r.visit(i)
		}
	}
	for len(r.queue) > 0 {
		i := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		for crowd, whole := range r.crowdsOf(i) {
			if !r.always[crowd] && r.added[crowd] != r.round {
				r.added[crowd] = r.round
				sum += whole
			}
		}
		for _, callee := range r.inlined[i] {
			r.visit(callee)
		}
	}
	return sum
}

func (r *reach) visit(i int32) {
	if r.visited[i] != r.round {
		r.visited[i] = r.round
		r.queue = append(r.queue, i)
	}
}
