package arcs

import "slices"

// A callee is a direct call: the block that calls, and the name of the called function as the dump
// prints it.
type callee struct {
	block uint32
	name  string
}

// maxChain limits how often addMerged starts again because merged functions call other merged
// functions.
const maxChain = 4

// addMerged gives counts to functions that GCC has merged with an equal function. The machine has
// one copy of the code, with the name of one of them. The others are called by the graphs of their
// callers, and have no evidence. Each gets its part of the evidence for the one.
func (u *unit) addMerged(problems []*problem) {
	seen := make(map[[2]int][]*problem) // those with evidence by the size of the graph
	for _, p := range problems {
		if len(p.items) > 0 {
			seen[p.size()] = append(seen[p.size()], p)
		}
	}
	for range maxChain {
		calls, found := u.countCalls(problems), false
		for _, p := range problems {
			if n := calls[p.function]; p.result == nil && n > 0 {
				found = p.inferMerged(n, calls, seen[p.size()]) || found
			}
		}
		if !found {
			return
		}
	}
}

// countCalls returns how often each function was called by the functions of the unit.
func (u *unit) countCalls(problems []*problem) map[*function]int64 {
	calls := make(map[*function]int64)
	for _, p := range problems {
		if p.result == nil {
			continue
		}
		blocks := p.BlockCounts(p.result)
		for _, c := range p.callees {
			if to := u.functions[u.names[c.name]]; to != nil {
				calls[to] += blocks[c.block]
			}
		}
	}
	return calls
}

// inferMerged infers the counts of the function of p, which is called n times and has no code of
// its own, from the evidence of an equal function in seen. If several are equal, it uses the one
// that ran most often. It reports whether there is one.
func (p *problem) inferMerged(n int64, calls map[*function]int64, seen []*problem) bool {
	var equal *problem
	for _, other := range seen {
		if p.equals(other.function) && (equal == nil || other.executed() > equal.executed()) {
			equal = other
		}
	}
	if equal == nil {
		return false
	}
	part := equal.take(n, calls[equal.function])
	p.items = append(equal.part(part), item{blocks: []uint32{0}, low: n, high: n, fixed: true})
	p.weigh()
	p.result = p.infer()
	return true
}

// executed returns the sum of the counts of the arcs.
func (p *problem) executed() (sum int64) {
	for _, n := range p.result {
		sum += n
	}
	return sum
}

// take divides the counts of p, the function whose name the merged code has, after the code was
// merged with a function that is called n times. p keeps what is left, and take returns the share
// of that function. own is how often functions of this unit call p by its own name.
func (p *problem) take(n, own int64) (share float64) {
	own = max(own, p.BlockCounts(p.result)[0]-n)
	share = float64(n) / float64(n+own)
	for i, v := range p.result {
		p.result[i] = int64(float64(float64(v)*(1-share)) + 0.5)
	}
	return share
}

// part returns the evidence of p with all its counts multiplied by share.
func (p *problem) part(share float64) []item {
	items := slices.Clone(p.items)
	for i := range items {
		items[i].low = int64(float64(items[i].low) * share)
		if items[i].high < unlimited {
			items[i].high = int64(float64(items[i].high) * share)
		}
	}
	return items
}

// equals reports whether two functions have the same graph, and statements at the same places:
// columns, and lines counted from the declaration of each.
func (f *function) equals(other *function) bool {
	if !slices.Equal(f.Arcs, other.Arcs) || len(f.blocks) != len(other.blocks) {
		return false
	}
	for i := range f.blocks {
		a, b := f.blocks[i].places, other.blocks[i].places
		if len(a) != len(b) {
			return false
		}
		for j := range a {
			if a[j].column != b[j].column || f.distance(a[j].line) != other.distance(b[j].line) {
				return false
			}
		}
	}
	return true
}

// distance returns by how many lines a line is after the declaration of the function. It returns 0
// for lines outside of the function, which are of inlined code.
func (f *function) distance(line uint32) uint32 {
	if line < f.Start.Line || line > f.End.Line {
		return 0
	}
	return line - f.Start.Line
}

// size returns the numbers of arcs and blocks of the graph.
func (f *function) size() [2]int { return [2]int{len(f.Arcs), len(f.blocks)} }
