package fingerprint

import "iter"

// An inlineClosure computes, for each unit, the sum of the hashes of all symbols in the unit's
// slice of the profile. Such a slice contains three kinds of symbols: the symbols of the unit, all
// functions that are inlined in them directly and indirectly, and the namesakes, which are symbols
// that the compiler may confuse with one of the others. To compute the sum for one unit, it visits
// each chain of inlineChains once, and each set of namesakes once.
//
// In the comments, a component is a set of functions that inline each other, see inlineChains.
type inlineClosure struct {
	*symbolHashes
	*inlineChains
	units   []int32 // index of the first symbol of each unit
	unknown uint64  // sum of the hashes of the namesakes of symbols whose file is unknown, which all slices contain
	always  []bool  // which sets of namesakes unknown includes

	// These are by component. They describe the namesakes of the component and of the components
	// before it in its chain: sums are sums of the hashes of the namesakes that no other chain has.
	// shared lists the sets of namesakes that other chains have as well, and sharedEnd is where the
	// component's part of this list ends. exits lists the components of other chains that are
	// inlined, and exitEnd is where the component's part of it ends.
	sums      []uint64
	shared    []int32
	exits     []int32
	sharedEnd []int32
	exitEnd   []int32

	round   uint32   // number of the current call of total
	entered []uint32 // the latest round in which each chain was entered
	reached []int32  // the component after the last one that was visited in that round, by chain
	added   []uint32 // the latest round in which each set of namesakes was added
	queue   []int32  // components to visit
}

// newInlineClosure returns an inlineClosure for all units of a program, from the hashes m of the
// program's symbols.
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

// newNamesakes goes through the components, that is, the sets of functions that inline each other,
// in the order of their numbers. For each component, it calls yield for each set of namesakes of
// the component's symbols, with the sum of the hashes in the set. It leaves out a set that an
// earlier component of the same chain has. It calls componentDone after each component.
func (r *inlineClosure) newNamesakes(yield func(set int, whole uint64), componentDone func()) {
	latest := make([]int32, len(r.always)) // for each set, the latest chain that has it, plus one
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

// sumNamesakes computes the fields sums, shared and sharedEnd, which describe the namesakes of each
// component.
func (r *inlineClosure) sumNamesakes() {
	chains := make([]int32, len(r.always)) // for each set, the number of chains that have it
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

// addExits computes the fields exits and exitEnd: for each chain of components, the components of
// other chains that are inlined in it. It leaves out a component if a later component of the same
// chain is already in the list, because a slice that contains the later one contains the earlier
// one as well.
func (r *inlineClosure) addExits() {
	r.exitEnd = make([]int32, 0, len(r.chainOf))
	latest := make([]int32, len(r.starts)) // for each chain, the latest chain that inlines it, plus one
	behind := make([]int32, len(r.starts)) // for each chain, the last of its components that is in the list
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

// namesakesOf returns the sets of symbols that the compiler may confuse with the symbol with index
// i, each with the sum of the hashes in the set. A slice with that symbol contains these sets.
//
// The compiler looks for every symbol by its unqualified name. It finds symbols of that name that
// are not mangled, or that several units may each have. It finds no other mangled symbol in this
// way.
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

// total returns the sum of the hashes of all symbols in the slice of the profile for the given
// units. Its time is proportional to the number of chains that it visits and of the sets of
// namesakes that these share, not to the number of symbols.
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

// enter adds a component, a set of functions that inline each other, to the slice whose hash
// [inlineClosure.total] computes. It returns the sum of the hashes of the symbols that the slice
// contains because of the component: its symbols, those of the components before it in its chain,
// and the namesakes of both. It does not count symbols again that the slice already contains. enter
// adds the inlined components of other chains to the queue, for total to enter next.
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

// wholeOf returns the sum of the hashes of the symbols in a set of namesakes, given the number of
// the set. The sets of symbols with one canonical name have the lower numbers, and the sets of
// symbols with one unqualified name have the numbers after them.
func (r *inlineClosure) wholeOf(set int32) uint64 {
	if groups := int32(len(r.groups)); set >= groups {
		return r.classes[set-groups].whole
	}
	return r.groups[set].whole
}
