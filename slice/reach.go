package slice

import "iter"

// A reach finds what a slice of a unit has for its own, and sums up its meanings. It looks at each
// chain once for a unit, and at what shares names with a symbol all at once.
type reach struct {
	*meanings
	*chains
	units   []int32 // where the symbols of a unit begin, by unit
	unknown uint64  // the sum of the crowds of symbols without a file
	always  []bool  // those crowds

	// What a link and those before it in its chain bring, by link: the sum of the crowds that no
	// other chain has, and where the lists of the others, and of links of other chains, end.
	sums     []uint64
	crowds   []int32
	exits    []int32
	crowdEnd []int32
	exitEnd  []int32

	round   uint32
	entered []uint32 // the round in which a chain was entered
	reached []int32  // behind the last link of the chain that was reached then
	added   []uint32 // the round in which a crowd was added
	queue   []int32
}

func newReach(m *meanings) *reach {
	crowds := len(m.groups) + len(m.classes)
	r := &reach{
		meanings: m,
		chains:   newChains(m.inlined),
		units:    make([]int32, m.source.numUnits()+1),
		always:   make([]bool, crowds),
		added:    make([]uint32, crowds),
	}
	for _, sym := range m.symbols {
		r.units[sym.unit+1]++
	}
	for unit := range m.source.numUnits() {
		r.units[unit+1] += r.units[unit]
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
	r.entered, r.reached = make([]uint32, len(r.starts)), make([]int32, len(r.starts))
	r.addCrowds()
	r.addExits()
	return r
}

// newCrowds calls yield for what links bring, chain by chain, a crowd once for each chain, and
// linkDone after each link.
func (r *reach) newCrowds(yield func(crowd int, whole uint64), linkDone func()) {
	latest := make([]int32, len(r.always)) // the latest chain of a crowd, from 1
	for link, chain := range r.chainOf {
		for _, i := range r.membersOf(int32(link)) {
			for crowd, whole := range r.crowdsOf(i) {
				if !r.always[crowd] && latest[crowd] != chain+1 {
					latest[crowd] = chain + 1
					yield(crowd, whole)
				}
			}
		}
		linkDone()
	}
}

func (r *reach) addCrowds() {
	shared := make([]int32, len(r.always)) // how many chains have a crowd
	r.newCrowds(func(crowd int, _ uint64) { shared[crowd]++ }, func() {})
	r.sums, r.crowdEnd = make([]uint64, 0, len(r.chainOf)), make([]int32, 0, len(r.chainOf))
	sum := uint64(0)
	r.newCrowds(func(crowd int, whole uint64) {
		if shared[crowd] == 1 {
			sum += whole
			return
		}
		r.crowds = append(r.crowds, int32(crowd))
	}, func() {
		r.sums = append(r.sums, sum)
		r.crowdEnd = append(r.crowdEnd, int32(len(r.crowds)))
	})
}

// addExits lists the links of other chains that are inlined, those left out that come with one
// before.
func (r *reach) addExits() {
	r.exitEnd = make([]int32, 0, len(r.chainOf))
	latest := make([]int32, len(r.starts)) // the latest chain that leads to one, from 1
	behind := make([]int32, len(r.starts)) // the last of its links that comes
	for link, chain := range r.chainOf {
		for _, i := range r.membersOf(int32(link)) {
			for _, callee := range r.inlined[i] {
				to := r.linkOf[callee]
				other := r.chainOf[to]
				if other == chain || latest[other] == chain+1 && behind[other] >= to {
					continue
				}
				latest[other], behind[other] = chain+1, to
				r.exits = append(r.exits, to)
			}
		}
		r.exitEnd = append(r.exitEnd, int32(len(r.exits)))
	}
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

// total returns the sum of what a slice of units has. It takes time by the chains, and by what
// these share, not by the symbols.
func (r *reach) total(units []int) uint64 {
	r.round++
	sum := r.unknown
	for _, unit := range units {
		for i := r.units[unit]; i < r.units[unit+1]; i++ {
			r.queue = append(r.queue, r.linkOf[i])
			for len(r.queue) > 0 {
				link := r.queue[len(r.queue)-1]
				r.queue = r.queue[:len(r.queue)-1]
				sum += r.enter(link)
			}
		}
	}
	return sum
}

// enter returns the sum of what a link and those before it in its chain bring that has not been
// added yet, and queues the links of other chains.
func (r *reach) enter(link int32) (sum uint64) {
	chain := r.chainOf[link]
	from := r.starts[chain]
	if r.entered[chain] == r.round {
		from = r.reached[chain]
	}
	if link < from {
		return 0
	}
	r.entered[chain], r.reached[chain] = r.round, link+1
	sum = r.sums[link]
	crowds, exits := r.crowds[:r.crowdEnd[link]], r.exits[:r.exitEnd[link]]
	if from > 0 {
		sum -= r.sums[from-1]
		crowds, exits = crowds[r.crowdEnd[from-1]:], exits[r.exitEnd[from-1]:]
	}
	for _, crowd := range crowds {
		if r.added[crowd] != r.round {
			r.added[crowd] = r.round
			sum += r.wholeOf(crowd)
		}
	}
	r.queue = append(r.queue, exits...)
	return sum
}

// wholeOf returns the sum of a crowd, a group or a class.
func (r *reach) wholeOf(crowd int32) uint64 {
	if groups := int32(len(r.groups)); crowd >= groups {
		return r.classes[crowd-groups].whole
	}
	return r.groups[crowd].whole
}
