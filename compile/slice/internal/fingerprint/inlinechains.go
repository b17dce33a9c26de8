package fingerprint

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

// callers returns for each component a component into which it was inlined, or -1 if there is none.
// If there are several, it chooses the one that was itself inlined into most others. So few chains
// lead from all components to their callers.
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
