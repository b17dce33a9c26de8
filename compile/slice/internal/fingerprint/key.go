// Package fingerprint makes the keys of slices: hashes of what a slice means to a compiler, for one
// slice or for all units of a program in one pass.
package fingerprint

import (
	"encoding/binary"
	"iter"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/profile"
)

// A Part is what a slice has of a program.
type Part struct {
	Symbols []program.Symbol
	Samples map[program.ID]profile.Function
	Own     *program.IDSet // those that the slice is about
	Units   []int
}

// Of returns the key of a slice.
func Of(p *program.Program, o Options, s Part) (uint64, error) {
	m := newSymbolHashes(p, o, s.Symbols)
	for i, sym := range s.Symbols {
		if err := m.read(i, s.Samples[sym.ID]); err != nil {
			return 0, err
		}
	}
	m.finish()
	total := uint64(0)
	seen := make(map[int32]struct{})
	for i, sym := range s.Symbols {
		n := m.nodeOf[i]
		if _, again := seen[n]; s.Own.Has(sym.ID) && !again {
			seen[n] = struct{}{}
			total += m.nodes[n].whole()
		}
	}
	return m.key(s.Units, total)
}

// OfUnits returns the keys of the slices of each unit alone, by path.
func OfUnits(p *program.Program, o Options) (map[string]uint64, error) {
	m, err := hashProgram(p, o)
	if err != nil {
		return nil, err
	}
	r := newInlineClosure(m)
	keys := make(map[string]uint64, p.Store.NumUnits()+1)
	key := func(path string, from []int) (err error) {
		keys[path], err = m.key(p.ByPath()[path], r.total(from))
		return err
	}
	if err := key("", nil); err != nil {
		return nil, err
	}
	for path, units := range p.ByPath() {
		if path == "" {
			continue
		}
		if err := key(path, units); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// version2 is the version in which files, timestamps and the summary do not count.
const version2 = 2

// Form is hashed first, and changes whenever what follows it does.
const Form = "afdo slice 2"

// key returns the key of a slice of some units. total is the sum of the hashes of the slice's own
// symbols.
func (m *symbolHashes) key(units []int, total uint64) (uint64, error) {
	data := append([]byte(Form), m.Version)
	if m.Version != version2 {
		s, err := m.Summary()
		if err != nil {
			return 0, err
		}
		data = appendSummary(data, quantize.Summary(s, m.Bits))
		seen := make(map[int]struct{}, len(units))
		for _, unit := range units {
			unit = m.firstOf[unit]
			if _, again := seen[unit]; !again {
				seen[unit] = struct{}{}
				total += m.fileHash(unit)
			}
		}
	}
	return xxhash.Sum64(binary.LittleEndian.AppendUint64(data, total)), nil
}

func appendSummary(data []byte, s *afdo.Summary) []byte {
	for _, v := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		data = binary.AppendUvarint(data, v)
	}
	for _, e := range s.Entries {
		data = binary.AppendUvarint(data, uint64(e.Cutoff))
		data = binary.AppendUvarint(data, e.MinCount)
		data = binary.AppendUvarint(data, e.NumCounts)
	}
	return data
}

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

// inlineChains is a graph of the functions that are inlined in each other. Functions that inline
// each other in a cycle form one component. The components are divided into chains, in which each
// is inlined in the next one. So a slice with a component contains all components before it in its
// chain.
type inlineChains struct {
	componentOf []int32 // by symbol; those of a chain follow one another, the innermost first
	chainOf     []int32 // by component
	starts      []int32 // where the components of a chain begin
	members     []int32 // symbols, by component
	ends        []int32 // where the symbols of a component end there
}

// newInlineChains makes the chains from the list of functions inlined in each symbol.
func newInlineChains(inlined [][]int32) *inlineChains {
	c := &inlineChains{}
	var components int
	c.componentOf, components = stronglyConnected(inlined)
	c.sortMembers(components)
	c.order(c.join(c.callers(inlined)))
	c.sortMembers(components)
	return c
}

// sortMembers sorts symbols by their components.
func (c *inlineChains) sortMembers(components int) {
	next := make([]int32, components+1)
	for _, component := range c.componentOf {
		next[component+1]++
	}
	for component := range components {
		next[component+1] += next[component]
	}
	c.members = make([]int32, len(c.componentOf))
	for i, component := range c.componentOf {
		c.members[next[component]] = int32(i)
		next[component]++
	}
	c.ends = next[:components]
}

// membersOf returns the symbols of a component.
func (c *inlineChains) membersOf(component int32) []int32 {
	from := int32(0)
	if component > 0 {
		from = c.ends[component-1]
	}
	return c.members[from:c.ends[component]]
}

// callers returns for each component a component in which it is inlined, or -1. Of several it
// returns the one that is inlined in most others itself. So the way inwards from any component
// leads through few chains.
func (c *inlineChains) callers(inlined [][]int32) []int32 {
	weights := make([]float64, len(c.ends))
	callers := make([]int32, len(c.ends))
	for component := len(c.ends) - 1; component >= 0; component-- { // components are numbered from the innermost
		weights[component]++
		for _, i := range c.membersOf(int32(component)) {
			for _, callee := range inlined[i] {
				if inner := c.componentOf[callee]; int(inner) != component {
					weights[inner] += weights[component]
				}
			}
		}
	}
	for component := range callers {
		callers[component] = -1
	}
	for component := range callers {
		for _, i := range c.membersOf(int32(component)) {
			for _, callee := range inlined[i] {
				inner := c.componentOf[callee]
				if int(inner) != component && (callers[inner] < 0 || weights[component] > weights[callers[inner]]) {
					callers[inner] = int32(component)
				}
			}
		}
	}
	return callers
}

// join puts components in chains, and returns where in its chain each is.
func (c *inlineChains) join(callers []int32) (places []int32) {
	c.chainOf, places = make([]int32, len(callers)), make([]int32, len(callers))
	for component := range c.chainOf {
		c.chainOf[component] = -1
	}
	for component, caller := range callers {
		if c.chainOf[component] < 0 {
			c.chainOf[component] = int32(len(c.starts))
			c.starts = append(c.starts, 0)
		}
		if caller >= 0 && places[component] >= places[caller] { // the longest chain gets it
			c.chainOf[caller], places[caller] = c.chainOf[component], places[component]+1
		}
	}
	return places
}

// order numbers components by their chains.
func (c *inlineChains) order(places []int32) {
	for component, chain := range c.chainOf {
		c.starts[chain] = max(c.starts[chain], places[component]+1)
	}
	next := int32(0)
	for chain, length := range c.starts {
		c.starts[chain] = next
		next += length
	}
	sorted := make([]int32, len(places))
	for i, component := range c.componentOf {
		c.componentOf[i] = c.starts[c.chainOf[component]] + places[component]
	}
	for component, chain := range c.chainOf {
		sorted[c.starts[chain]+places[component]] = chain
	}
	c.chainOf = sorted
}

// stronglyConnected numbers the strongly connected components, each after those that are inlined
// in it, with Tarjan's algorithm.
func stronglyConnected(inlined [][]int32) (numbers []int32, n int) {
	t := tarjan{inlined: inlined, numbers: make([]int32, len(inlined)), low: make([]int32, len(inlined))}
	for i := range inlined {
		if t.low[i] == 0 {
			t.visit(int32(i))
		}
	}
	return t.numbers, t.found
}

type tarjan struct {
	inlined [][]int32
	numbers []int32
	low     []int32 // 0 if not seen yet, else the earliest symbol known to be of the same component
	seen    int32   // how many symbols have been
	found   int
	pending []int32 // symbols whose components are not complete
	way     []step
}

// A step is a symbol on the way.
type step struct {
	symbol  int32
	callees int32 // how many of them have been looked at
	seen    int32 // as which one the symbol was
}

// complete is the low of symbols whose component is complete: later than all others.
const complete = 1<<31 - 1

func (t *tarjan) enter(i int32) {
	t.seen++
	t.low[i] = t.seen
	t.pending = append(t.pending, i)
	t.way = append(t.way, step{symbol: i, seen: t.seen})
}

func (t *tarjan) visit(i int32) {
	for t.enter(i); len(t.way) > 0; {
		top := &t.way[len(t.way)-1]
		if int(top.callees) == len(t.inlined[top.symbol]) {
			t.leave(*top)
			continue
		}
		callee := t.inlined[top.symbol][top.callees]
		top.callees++
		if t.low[callee] == 0 {
			t.enter(callee)
			continue
		}
		t.low[top.symbol] = min(t.low[top.symbol], t.low[callee])
	}
}

// leave completes a component if it began here.
func (t *tarjan) leave(top step) {
	t.way = t.way[:len(t.way)-1]
	low := t.low[top.symbol]
	if low == top.seen {
		for {
			i := t.pending[len(t.pending)-1]
			t.pending = t.pending[:len(t.pending)-1]
			t.numbers[i], t.low[i] = int32(t.found), complete
			if i == top.symbol {
				break
			}
		}
		t.found++
		return
	}
	caller := t.way[len(t.way)-1].symbol
	t.low[caller] = min(t.low[caller], low)
}
