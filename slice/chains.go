package slice

// Chains say what is inlined in what. Symbols that are inlined in each other are one link: a
// strongly connected component. Links are in chains, in each of which every link is inlined in the
// next one. So a slice that has a link has all that come before it in its chain.
type chains struct {
	linkOf  []int32 // by symbol; those of a chain follow one another, the innermost first
	chainOf []int32 // by link
	starts  []int32 // where the links of a chain begin
	members []int32 // symbols, by link
	ends    []int32 // where the symbols of a link end there
}

// newChains takes what is inlined in each symbol.
func newChains(inlined [][]int32) *chains {
	c := &chains{}
	var links int
	c.linkOf, links = components(inlined)
	c.sortMembers(links)
	c.order(c.join(c.callers(inlined)))
	c.sortMembers(links)
	return c
}

// sortMembers sorts symbols by their links.
func (c *chains) sortMembers(links int) {
	next := make([]int32, links+1)
	for _, link := range c.linkOf {
		next[link+1]++
	}
	for link := range links {
		next[link+1] += next[link]
	}
	c.members = make([]int32, len(c.linkOf))
	for i, link := range c.linkOf {
		c.members[next[link]] = int32(i)
		next[link]++
	}
	c.ends = next[:links]
}

// membersOf returns the symbols of a link.
func (c *chains) membersOf(link int32) []int32 {
	from := int32(0)
	if link > 0 {
		from = c.ends[link-1]
	}
	return c.members[from:c.ends[link]]
}

// callers returns for each link one in which it is inlined, or -1: the one that is inlined in most
// others itself. So the way inwards from any link leads through few chains.
func (c *chains) callers(inlined [][]int32) []int32 {
	weights := make([]float64, len(c.ends))
	callers := make([]int32, len(c.ends))
	for link := len(c.ends) - 1; link >= 0; link-- { // components are numbered from the innermost
		weights[link]++
		for _, i := range c.membersOf(int32(link)) {
			for _, callee := range inlined[i] {
				if inner := c.linkOf[callee]; int(inner) != link {
					weights[inner] += weights[link]
				}
			}
		}
	}
	for link := range callers {
		callers[link] = -1
	}
	for link := range callers {
		for _, i := range c.membersOf(int32(link)) {
			for _, callee := range inlined[i] {
				inner := c.linkOf[callee]
				if int(inner) != link && (callers[inner] < 0 || weights[link] > weights[callers[inner]]) {
					callers[inner] = int32(link)
				}
			}
		}
	}
	return callers
}

// join puts links in chains, and returns where in its chain each is.
func (c *chains) join(callers []int32) (places []int32) {
	c.chainOf, places = make([]int32, len(callers)), make([]int32, len(callers))
	for link := range c.chainOf {
		c.chainOf[link] = -1
	}
	for link, caller := range callers {
		if c.chainOf[link] < 0 {
			c.chainOf[link] = int32(len(c.starts))
			c.starts = append(c.starts, 0)
		}
		if caller >= 0 && places[link] >= places[caller] { // the longest chain gets it
			c.chainOf[caller], places[caller] = c.chainOf[link], places[link]+1
		}
	}
	return places
}

// order numbers links by their chains.
func (c *chains) order(places []int32) {
	for link, chain := range c.chainOf {
		c.starts[chain] = max(c.starts[chain], places[link]+1)
	}
	next := int32(0)
	for chain, length := range c.starts {
		c.starts[chain] = next
		next += length
	}
	sorted := make([]int32, len(places))
	for i, link := range c.linkOf {
		c.linkOf[i] = c.starts[c.chainOf[link]] + places[link]
	}
	for link, chain := range c.chainOf {
		sorted[c.starts[chain]+places[link]] = chain
	}
	c.chainOf = sorted
}

// components numbers the strongly connected components, each after those that are inlined in it,
// with Tarjan's algorithm.
func components(inlined [][]int32) (numbers []int32, n int) {
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
