package layout

import (
	"maps"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A spot is a recorded address, with the function of the program that contains it.
type spot struct {
	address  uint64
	function *function // nil if the program has no function with the address
	entry    bool      // the address is the start of the function
}

// spotOf returns the spot for a file offset: its address and the function that contains the
// address. It keeps the first error in p.err, and then returns empty spots.
func (p *program) spotOf(offset uint64) spot {
	address, ok := p.file.Address(offset)
	if !ok || p.err != nil {
		return spot{}
	}
	r := p.find(address)
	if r == nil {
		return spot{address: address}
	}
	f, err := p.function(r)
	if err != nil {
		p.err = err
		return spot{}
	}
	return spot{address, f, r.entry && r.low == address}
}

// count computes how often the program's basic blocks, and the edges between them, were executed,
// from a recording.
func (p *program) count(set *samples.Set) error {
	p.branches(set)
	p.entries(set)
	switch {
	case set.Ranges.Len() > 0:
		p.fallThroughs(set)
	case set.Exact && p.report.Edges > 0:
		p.report.Counted = CountedExact
		p.executions(set)
	default:
		p.report.Counted = CountedEstimates
		p.estimates(set)
	}
	if p.err != nil {
		return p.err
	}
	for _, f := range p.hot {
		if f.finish() {
			p.report.Hot++
		}
	}
	return nil
}

// branches adds the branches of a recording to the counts of the program's edges and calls, and to
// the numbers in the report.
func (p *program) branches(set *samples.Set) {
	for b, n := range set.Branches.All() {
		p.report.Branches = saturating.Add(p.report.Branches, n)
		kind := p.branch(p.spotOf(b.From), p.spotOf(b.To), n)
		*kind = saturating.Add(*kind, n)
	}
}

// branch counts a branch that was taken n times, and returns the field of the report for its kind:
//   - An edge: both ends are in blocks of one function.
//   - A call: the target is the start of a function. It is a jump instead if the source is in a
//     block of the same function that makes no calls (see jumpsBack).
//   - A return: the source is in a block that returns, or in another function than the target (see
//     arrive).
func (p *program) branch(from, to spot, n uint64) *uint64 {
	r := p.report
	if from.function == nil && to.function == nil {
		return &r.Unmapped
	}
	source := int32(-1)
	if from.function != nil {
		source = from.function.source(from.address)
	}
	if to.entry && !jumpsBack(from, to, source) {
		to.function.entries = saturating.Add(to.function.entries, n)
		if source >= 0 {
			key := call{source, to.function.index}
			from.function.calls[key] = saturating.Add(from.function.calls[key], n)
		}
		return &r.Calls
	}
	if to.function == nil {
		return &r.Unmapped
	}
	target, begins := to.function.target(to.address)
	switch {
	case p.blocks == nil && from.function == to.function: // functions are not divided
		return &r.Edges
	case target < 0 || from.function != nil && source < 0:
		return &r.Unmapped
	case from.function == nil || from.function.blocks[source].flags&bbmap.HasReturn != 0 && (from.function != to.function || !begins):
		to.function.arrive(target, begins, n)
		return &r.Returns
	case from.function != to.function && begins:
		to.function.arrive(target, begins, n)
		return &r.Returns
	case !begins:
		return &r.Middle
	}
	from.function.addEdge(source, target, n)
	return &r.Edges
}

// jumpsBack reports whether a branch to the start of a function is a loop within the function, not
// a recursive call. source is the block of the branch.
func jumpsBack(from, to spot, source int32) bool {
	if from.function != to.function || source < 0 {
		return false
	}
	b := &from.function.blocks[source]
	return !b.calls && b.flags&bbmap.HasTailCall == 0
}

// arrive counts n arrivals at block target of a function: returns from a call, or starts of an
// exception handler. begins says whether they lead to the start of the block. Then the call was at
// the end of the block before it, and arrive counts the edge between these two blocks.
func (f *function) arrive(target int32, begins bool, n uint64) {
	if !begins {
		return
	}
	if from := f.fallsInto(target); from >= 0 && f.blocks[target].flags&bbmap.IsLandingPad == 0 {
		f.addEdge(from, target, n)
		return
	}
	b := &f.blocks[target]
	b.count = saturating.Add(b.count, n)
}

// entries counts branches from other binaries. They are calls of functions, or returns.
func (p *program) entries(set *samples.Set) {
	for offset, n := range set.Entries.All() {
		switch to := p.spotOf(offset); {
		case to.function == nil:
		case to.entry:
			to.function.entries = saturating.Add(to.function.entries, n)
		default:
			if target, begins := to.function.target(to.address); target >= 0 {
				to.function.arrive(target, begins, n)
			}
		}
	}
}

// fallThroughs counts the edges from block to block within the ranges of code between two branches.
func (p *program) fallThroughs(set *samples.Set) {
	for r, n := range set.Ranges.All() {
		begin, end := p.spotOf(r.Begin), p.spotOf(r.End)
		p.report.FallThroughs = saturating.Add(p.report.FallThroughs, n)
		if f := begin.function; f != nil && (f != end.function || !f.fallThrough(begin.address, end.address, n)) {
			p.report.Crossing = saturating.Add(p.report.Crossing, n)
		}
	}
}

// fallThrough counts the edges from block to block within the code from begin to end, which ran n
// times between two branches. It returns false if a block in between never continues with the next
// block, because the code cannot have run in a straight line then.
func (f *function) fallThrough(begin, end, n uint64) bool {
	first, begins := f.target(begin)
	last := f.source(end)
	if first < 0 || last < first {
		return false
	}
	for i := first; i < last; i++ {
		if f.blocks[i].ends || f.blocks[i].flags&bbmap.CanFallThrough == 0 {
			return false
		}
	}
	for i := first; i < last; i++ {
		f.addEdge(i, i+1, n)
	}
	if b := &f.blocks[first]; begins && b.count == 0 {
		b.count = n // it ran, even if no branch to it was seen
	}
	if b := &f.blocks[last]; b.count == 0 {
		b.count = 1
	}
	return true
}

// executions adds the fall-through edges to the counts of edges. It is for recordings with exact
// counts of instructions and jumps. The fall-throughs into a block are its executions minus the
// jumps to it.
func (p *program) executions(set *samples.Set) {
	p.eachBlock(set, func(_ *function, b *block, address, n uint64) {
		if b.address == address { // the first instruction
			b.count = n
		}
	})
	for _, f := range p.hot {
		jumps := make([]uint64, len(f.blocks))
		for _, key := range slices.SortedFunc(maps.Keys(f.edges), compareEdges) {
			jumps[key[1]] = saturating.Add(jumps[key[1]], f.edges[key])
		}
		for i := len(f.blocks) - 1; i > 0; i-- {
			b := &f.blocks[i]
			if b.size == 0 && !b.ends {
				b.count = f.blocks[i+1].count
			}
			if from := f.fallsInto(int32(i)); from >= 0 && b.count > jumps[i] && b.flags&bbmap.IsLandingPad == 0 {
				f.addEdge(from, int32(i), b.count-jumps[i])
			}
		}
	}
}

// eachBlock calls add for each sampled address in a block of the program, with the function, the
// block, and the number of samples.
func (p *program) eachBlock(set *samples.Set, add func(f *function, b *block, address, n uint64)) {
	for offset, n := range set.Addresses.All() {
		at := p.spotOf(offset)
		if at.function == nil {
			continue
		}
		if i := at.function.source(at.address); i >= 0 {
			add(at.function, &at.function.blocks[i], at.address, n)
		}
	}
}

// compareEdges orders two edges by the index of their source block and then by that of their target
// block.
func compareEdges(a, b [2]int32) int { return slices.Compare(a[:], b[:]) }

// finish raises the count of each block of the function to the sum of the counts of its incoming
// edges, and to that of its outgoing edges. It reports whether the function ran.
func (f *function) finish() bool {
	in, out := make([]uint64, len(f.blocks)), make([]uint64, len(f.blocks))
	for key, n := range f.edges {
		out[key[0]] = saturating.Add(out[key[0]], n)
		in[key[1]] = saturating.Add(in[key[1]], n)
	}
	for c, n := range f.calls {
		out[c.from] = max(out[c.from], n)
	}
	ran := f.entries > 0
	for i := range f.blocks {
		f.blocks[i].count = max(f.blocks[i].count, in[i], out[i])
		ran = ran || f.blocks[i].count > 0
	}
	f.blocks[0].count = max(f.blocks[0].count, f.entries)
	if ran {
		f.blocks[0].count = max(f.blocks[0].count, 1)
	}
	return ran
}
