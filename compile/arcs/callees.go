package arcs

import "slices"

// A callee is a function that a block calls, by the name that the dump prints.
type callee struct {
	block uint32
	name  string
}

// maxChain is the longest chain of calls of functions without evidence that is followed.
const maxChain = 4

// addUnseen gives functions without evidence that are called their part of the counts of an equal
// function, with which the compiler has merged them.
func (u *unit) addUnseen(functions []*function) {
	seen := make(map[[2]int][]*function) // those with evidence by the size of the graph
	for _, f := range functions {
		if len(f.evidence) > 0 {
			seen[f.size()] = append(seen[f.size()], f)
		}
	}
	for range maxChain {
		calls, found := u.countCalls(functions), false
		for _, f := range functions {
			if n := calls[f]; f.flows == nil && n > 0 {
				f.flows = u.unseen(f, n, calls, seen[f.size()])
				found = found || f.flows != nil
			}
		}
		if !found {
			return
		}
	}
}

// countCalls returns how often each function was called by the others.
func (u *unit) countCalls(functions []*function) map[*function]int64 {
	calls := make(map[*function]int64)
	for _, f := range functions {
		if f.flows == nil {
			continue
		}
		blocks := f.BlockCounts(f.flows)
		for _, c := range f.callees {
			if to := u.functions[u.names[c.name]]; to != nil {
				calls[to] += blocks[c.block]
			}
		}
	}
	return calls
}

// unseen returns the counts of a function that ran n times, inferred from its part of the evidence
// for an equal function. It returns nil if no equal function is in seen.
func (u *unit) unseen(f *function, n int64, calls map[*function]int64, seen []*function) []int64 {
	var equal *function
	for _, other := range seen {
		if f.equals(other) && (equal == nil || other.executed() > equal.executed()) {
			equal = other
		}
	}
	if equal == nil {
		return nil
	}
	p := newProblem(f)
	part := equal.take(n, calls[equal])
	p.items = append(equal.part(part), item{blocks: []uint32{0}, low: n, high: n, fixed: true})
	p.weigh()
	return p.infer()
}

// executed returns the sum of the counts of the arcs.
func (f *function) executed() (sum int64) {
	for _, n := range f.flows {
		sum += n
	}
	return sum
}

// take removes the part of n calls from the counts of a function, which others have called own
// times. It returns the part.
func (f *function) take(n, own int64) (part float64) {
	own = max(own, f.BlockCounts(f.flows)[0]-n)
	part = float64(n) / float64(n+own)
	for i, v := range f.flows {
		f.flows[i] = int64(float64(float64(v)*(1-part)) + 0.5)
	}
	return part
}

// part returns a part of the evidence for a function.
func (f *function) part(part float64) []item {
	items := slices.Clone(f.evidence)
	for i := range items {
		items[i].low = int64(float64(items[i].low) * part)
		if items[i].high < unlimited {
			items[i].high = int64(float64(items[i].high) * part)
		}
	}
	return items
}

// equals reports whether two functions have the same graph and the same columns, and the same lines
// after the declaration.
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

// distance returns how far a line is from the beginning of the function, 0 for inlined code.
func (f *function) distance(line uint32) uint32 {
	if line < f.Start.Line || line > f.End.Line {
		return 0
	}
	return line - f.Start.Line
}

// size returns the numbers of arcs and blocks of the graph.
func (f *function) size() [2]int { return [2]int{len(f.Arcs), len(f.blocks)} }
