package fingerprint

import "slices"

// inlineChains is the graph of which functions are inlined in which. Functions that inline each
// other in a cycle form one component. The components are divided into chains. In a chain, each
// component is inlined in the next one, so the slice of a profile that contains a component
// contains all components before it in its chain.
type inlineChains struct {
	componentOf []int32 // component of each symbol; the components of a chain have consecutive numbers, the innermost first
	chainOf     []int32 // chain of each component
	starts      []int32 // first component of each chain
	members     []int32 // symbols, ordered by component
	ends        []int32 // for each component, where its symbols end in members
}

// newInlineChains divides the functions of a program into chains. inlined has, for each symbol, the
// functions that are inlined in it.
func newInlineChains(inlined [][]int32) *inlineChains {
	c := &inlineChains{}
	var components int
	c.componentOf, components = stronglyConnected(inlined)
	c.sortMembers(components)
	c.order(c.join(c.callers(inlined)))
	c.sortMembers(components)
	return c
}

// sortMembers computes the fields members and ends: the symbols, ordered by component.
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

// membersOf returns the symbols of a component, which are functions that inline each other.
func (c *inlineChains) membersOf(component int32) []int32 {
	from := int32(0)
	if component > 0 {
		from = c.ends[component-1]
	}
	return c.members[from:c.ends[component]]
}

// callers returns, for each component, a component into which it was inlined, or -1 if it was not
// inlined. If it was inlined into several, callers chooses the component that has the most paths of
// inlining above it, so that few chains are needed.
func (c *inlineChains) callers(inlined [][]int32) []int32 {
	weights := make([]float64, len(c.ends))
	callers := slices.Repeat([]int32{-1}, len(c.ends))
	for component := int32(len(c.ends)) - 1; component >= 0; component-- { // components are numbered from the innermost
		weights[component]++
		for _, i := range c.membersOf(component) {
			for _, callee := range inlined[i] {
				inner := c.componentOf[callee]
				if inner == component {
					continue
				}
				weights[inner] += weights[component]
				if callers[inner] < 0 || weights[component] >= weights[callers[inner]] {
					callers[inner] = component
				}
			}
		}
	}
	return callers
}

// join divides the components into chains. callers has, for each component, a component into which
// it is inlined. join returns the position of each component in its chain.
func (c *inlineChains) join(callers []int32) (places []int32) {
	c.chainOf, places = slices.Repeat([]int32{-1}, len(callers)), make([]int32, len(callers))
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

// order renumbers the components so that those of a chain have consecutive numbers. places has the
// position of each component in its chain.
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

// stronglyConnected divides functions that inline each other into strongly connected components, by
// Tarjan's algorithm. It returns the number of the component of each symbol, and the number of
// components n. The components that are inlined in a component have smaller numbers than the
// component.
func stronglyConnected(inlined [][]int32) (numbers []int32, n int) {
	t := tarjan{inlined: inlined, numbers: make([]int32, len(inlined)), low: make([]int32, len(inlined))}
	for i := range inlined {
		if t.low[i] == 0 {
			t.visit(int32(i))
		}
	}
	return t.numbers, t.found
}

// A tarjan is the state of Tarjan's algorithm for strongly connected components.
type tarjan struct {
	inlined [][]int32 // functions inlined in each symbol
	numbers []int32   // component of each symbol
	low     []int32   // for each symbol, 0 if it was not visited, else the earliest visited symbol known to be of the same component
	seen    int32     // number of symbols that were visited
	found   int       // number of components that are complete
	pending []int32   // visited symbols whose components are not complete
	way     []step    // symbols from the first one to the one that is being visited
}

// A step is a symbol whose visit by Tarjan's algorithm is not complete: some functions that are
// inlined in it have not been visited. The steps lead from the symbol where the search began to the
// symbol that is being visited.
type step struct {
	symbol  int32
	callees int32 // number of callees that were visited
	seen    int32 // value of tarjan.seen when the symbol was visited
}

// complete is the value of tarjan.low for a symbol whose component is complete. It is larger than
// all others.
const complete = 1<<31 - 1

// enter begins the visit of a symbol in Tarjan's algorithm.
func (t *tarjan) enter(i int32) {
	t.seen++
	t.low[i] = t.seen
	t.pending = append(t.pending, i)
	t.way = append(t.way, step{symbol: i, seen: t.seen})
}

// visit visits a symbol, and all functions that are inlined in it directly and indirectly.
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

// leave ends the visit of a symbol. If the symbol was the first of its component, the component is
// complete.
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
