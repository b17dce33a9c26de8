package arcs

import "slices"

// A callee is a direct call in a function's body: the block that contains the call, and the name of
// the called function in GCC's dump.
type callee struct {
	block uint32
	name  string
}

// maxChain limits the length of a chain of functions that call each other and that were all merged
// with equal functions. [unit.addMerged] infers the counts of one more function of the chain in
// each round.
const maxChain = 4

// addMerged infers counts for functions that GCC has merged with an equal function (identical code
// folding). The program contains the machine code of equal functions once, under the name of one of
// them. So the profile has evidence for that function only, and it is the sum for all of them.
// addMerged divides the evidence among the equal functions by how often their callers call each of
// them.
func (u *unit) addMerged(problems []*problem) {
	seen := make(map[[2]int][]*problem) // functions with evidence, by the size of their graphs
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

// countCalls returns how often each function of the unit was called by functions of the unit,
// according to the counts inferred so far.
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

// inferMerged infers the counts of a function that has no machine code of its own, because GCC
// merged it with an equal function. seen are the functions with machine code, among which it looks
// for the equal one. If several are equal, it uses the one that ran most often. n is how often the
// function of p is called. calls is how often each function of the unit is called. inferMerged
// returns false if no function of seen is equal.
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
	p.items = append(equal.scaledItems(part), item{numbers: []uint32{0}, low: n, high: n, fixed: true})
	p.weigh()
	p.result = p.infer()
	return true
}

// executed returns the sum of the inferred counts of the function's arcs, as a measure of how much
// the function ran.
func (p *problem) executed() (sum int64) {
	for _, n := range p.result {
		sum += n
	}
	return sum
}

// take divides the counts of a function between the function itself, p, and an equal function that
// GCC merged with it. n is how often the equal function is called, and own is how often functions
// of this unit call p by its own name. take subtracts the share of the equal function from the
// counts of p, and returns this share as a number from 0 to 1.
func (p *problem) take(n, own int64) (share float64) {
	own = max(own, p.BlockCounts(p.result)[0]-n)
	share = float64(n) / float64(n+own)
	for i, v := range p.result {
		p.result[i] = int64(float64(float64(v)*(1-share)) + 0.5)
	}
	return share
}

// scaledItems returns a copy of the evidence for the function of p, with all counts multiplied by
// share, a number from 0 to 1.
func (p *problem) scaledItems(share float64) []item {
	items := slices.Clone(p.items)
	for i := range items {
		items[i].low = int64(float64(items[i].low) * share)
		if items[i].high < unlimited {
			items[i].high = int64(float64(items[i].high) * share)
		}
	}
	return items
}

// equals reports whether two functions have equal control flow graphs, and statements at the same
// places: the same columns, and the same number of lines after the declaration.
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

// distance returns by how many lines a line is after the line in which the function is declared. It
// returns 0 for lines outside of the function, which are lines of inlined code.
func (f *function) distance(line uint32) uint32 {
	if line < f.Start.Line || line > f.End.Line {
		return 0
	}
	return line - f.Start.Line
}

// size returns the number of arcs and the number of blocks of the function's control flow graph.
// Functions of different size are not equal.
func (f *function) size() [2]int { return [2]int{len(f.Arcs), len(f.blocks)} }
