package fingerprint

import "iter"

// An inlineClosure finds what a slice of a unit has for its own, all that its functions inline
// directly and indirectly, and sums up the hashes of that. It looks at each inline chain once for a
// unit, and at the namesakes of a symbol all at once, as one set.
type inlineClosure struct {
	*symbolHashes
	*inlineChains
	units   []int32 // where the symbols of a unit begin, by unit
	unknown uint64  // the sum of the namesakes of symbols without a file
	always  []bool  // those namesakes

	// What a component and those before it in its chain bring, by component: the sum of the
	// namesakes that no other chain has, and where the lists of the shared ones, and of the
	// components of other chains that are inlined, end.
	sums      []uint64
	shared    []int32
	exits     []int32
	sharedEnd []int32
	exitEnd   []int32

	round   uint32
	entered []uint32 // the round in which a chain was entered
	reached []int32  // behind the last component of the chain that was reached then
	added   []uint32 // the round in which a set was added
	queue   []int32
}

func newInlineClosure(m *symbolHashes) *inlineClosure {
	sets := len(m.groups) + len(m.classes)
	r := &inlineClosure{
		symbolHashes: m,
		inlineChains: newInlineChains(m.inlined),
		units:        make([]int32, m.Store.NumUnits()+1),
		always:       make([]bool, sets),
		added:        make([]uint32, sets),
	}
	for _, sym := range m.symbols {
		r.units[sym.Unit+1]++
	}
	for unit := range m.Store.NumUnits() {
		r.units[unit+1] += r.units[unit]
	}
	for i, sym := range m.symbols {
		if m.Store.Path(sym.Unit) == "" {
			for set, whole := range r.namesakesOf(int32(i)) {
				if !r.always[set] {
					r.always[set] = true
					r.unknown += whole
				}
			}
		}
	}
	r.entered, r.reached = make([]uint32, len(r.starts)), make([]int32, len(r.starts))
	r.sumNamesakes()
	r.addExits()
	return r
}

// newNamesakes calls yield for the namesakes that components bring, chain by chain, a set once for
// each chain, and componentDone after each component.
func (r *inlineClosure) newNamesakes(yield func(set int, whole uint64), componentDone func()) {
	latest := make([]int32, len(r.always)) // the latest chain of a set, from 1
	for component, chain := range r.chainOf {
		for _, i := range r.membersOf(int32(component)) {
			for set, whole := range r.namesakesOf(i) {
				if !r.always[set] && latest[set] != chain+1 {
					latest[set] = chain + 1
					yield(set, whole)
				}
			}
		}
		componentDone()
	}
}

func (r *inlineClosure) sumNamesakes() {
	chains := make([]int32, len(r.always)) // how many have a set
	r.newNamesakes(func(set int, _ uint64) { chains[set]++ }, func() {})
	r.sums, r.sharedEnd = make([]uint64, 0, len(r.chainOf)), make([]int32, 0, len(r.chainOf))
	sum := uint64(0)
	r.newNamesakes(func(set int, whole uint64) {
		if chains[set] == 1 {
			sum += whole
			return
		}
		r.shared = append(r.shared, int32(set))
	}, func() {
		r.sums = append(r.sums, sum)
		r.sharedEnd = append(r.sharedEnd, int32(len(r.shared)))
	})
}

// addExits lists the components of other chains that are inlined, those left out that come with one
// before.
func (r *inlineClosure) addExits() {
	r.exitEnd = make([]int32, 0, len(r.chainOf))
	latest := make([]int32, len(r.starts)) // the latest chain that leads to one, from 1
	behind := make([]int32, len(r.starts)) // the last of its components that comes
	for component, chain := range r.chainOf {
		for _, i := range r.membersOf(int32(component)) {
			for _, callee := range r.inlined[i] {
				to := r.componentOf[callee]
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

// namesakesOf returns which namesakes come with a symbol, and their sums.
//
// What is found by an unqualified name is so both ways: a name that is not mangled, and those
// that several units may have for themselves. A mangled name of another kind finds them, but
// is not found.
func (r *inlineClosure) namesakesOf(i int32) iter.Seq2[int, uint64] {
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
func (r *inlineClosure) total(units []int) uint64 {
	r.round++
	sum := r.unknown
	for _, unit := range units {
		for i := r.units[unit]; i < r.units[unit+1]; i++ {
			r.queue = append(r.queue, r.componentOf[i])
			for len(r.queue) > 0 {
				component := r.queue[len(r.queue)-1]
				r.queue = r.queue[:len(r.queue)-1]
				sum += r.enter(component)
			}
		}
	}
	return sum
}

// enter returns the sum of what a component and those before it in its chain bring that has not
// been added yet, and queues the components of other chains.
func (r *inlineClosure) enter(component int32) (sum uint64) {
	chain := r.chainOf[component]
	from := r.starts[chain]
	if r.entered[chain] == r.round {
		from = r.reached[chain]
	}
	if component < from {
		return 0
	}
	r.entered[chain], r.reached[chain] = r.round, component+1
	sum = r.sums[component]
	shared, exits := r.shared[:r.sharedEnd[component]], r.exits[:r.exitEnd[component]]
	if from > 0 {
		sum -= r.sums[from-1]
		shared, exits = shared[r.sharedEnd[from-1]:], exits[r.exitEnd[from-1]:]
	}
	for _, set := range shared {
		if r.added[set] != r.round {
			r.added[set] = r.round
			sum += r.wholeOf(set)
		}
	}
	r.queue = append(r.queue, exits...)
	return sum
}

// wholeOf returns the sum of a set, a group or a class.
func (r *inlineClosure) wholeOf(set int32) uint64 {
	if groups := int32(len(r.groups)); set >= groups {
		return r.classes[set-groups].whole
	}
	return r.groups[set].whole
}
