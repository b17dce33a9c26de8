package arcs

import (
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
)

// exitBlock is the number of the exit block in every graph.
const exitBlock = 1

// A function is the control flow graph of a function, with the evidence for how often its blocks
// and arcs ran. In the comments of its fields, a position is a source position.
type function struct {
	*gcda.Function
	*body
	arcs      map[[2]uint32]uint32 // numbers of arcs, by the blocks that they connect
	where     map[key][]uint32     // blocks with a statement at each position
	between   map[key][]uint32     // arcs with a step at each position at which no block has a statement
	follows   []uint32             // for each block b, the block that comes before every execution of b and leads only to b, else 0
	sightings []sighting
	limits    map[key]int64    // upper bounds for inlined calls without a sighting, by the position of the call
	copies    map[int32]uint64 // how often each copy of the machine code ran, by the number from unit.copies
	copiesSum uint64           // sum of copies
	branches  []branch
	jumps     []jump
	decided   []bool     // for each block, whether a recorded jump decides its condition
	into      [][]uint32 // arcs into each block
	entry     uint64     // how often the function's own symbols were entered
	called    bool       // entry is known
	first     uint32     // the block after the entry, 0 if it also has other predecessors
	heat      uint64     // the largest count of its blocks, if it was left out of the profile, see profile.LeftOut; else 0
	inlined   bool       // it was inlined into other functions, so entry does not count all calls
}

// A sighting is the count of one block of machine code, at one of the source positions that the
// block has.
type sighting struct {
	place
	copy  int32 // number from unit.copies: the symbol and chain of inlined calls
	block int32 // number of the block of machine code, see unit.blocks
	count uint64
}

// newFunction combines a function's control flow graph from the .gcno file with its body from GCC's
// dump. It returns nil if the two do not have the same blocks and arcs.
func newFunction(notes *gcda.Function, b *body) *function {
	if b == nil || len(b.blocks) != int(notes.Blocks) || len(b.blocks) < 2 {
		return nil
	}
	f := &function{Function: notes, body: b, arcs: make(map[[2]uint32]uint32), where: make(map[key][]uint32), between: make(map[key][]uint32), into: make([][]uint32, notes.Blocks), limits: make(map[key]int64)}
	dumped := make(map[[2]uint32]bool)
	for from := range b.blocks {
		for _, s := range b.blocks[from].successors {
			dumped[[2]uint32{uint32(from), s.block}] = true
		}
	}
	for i, a := range notes.Arcs {
		if a.From > 1 && !dumped[[2]uint32{a.From, a.To}] {
			return nil
		}
		f.arcs[[2]uint32{a.From, a.To}] = uint32(i)
		f.into[a.To] = append(f.into[a.To], uint32(i))
		if a.From == 0 {
			f.first = a.To
		}
	}
	f.follows = make([]uint32, notes.Blocks)
	for b, arcs := range f.into {
		if len(arcs) == 1 {
			if from := notes.Arcs[arcs[0]].From; f.onlySuccessor(from) {
				f.follows[b] = from
			}
		}
	}
	for _, a := range notes.Arcs {
		if a.From != 0 && a.To == f.first {
			f.first = 0
		}
	}
	for n := range b.blocks {
		for _, p := range b.blocks[n].places {
			if at := f.where[p.key]; len(at) == 0 || at[len(at)-1] != uint32(n) {
				f.where[p.key] = append(at, uint32(n))
			}
		}
	}
	for _, s := range b.steps {
		if arc, ok := f.arcs[[2]uint32{s.from, s.to}]; ok && len(f.where[s.key]) == 0 {
			f.between[s.key] = append(f.between[s.key], arc)
		}
	}
	for k, arcs := range f.between {
		slices.Sort(arcs)
		f.between[k] = slices.Compact(arcs)
	}
	f.addLines()
	return f
}

// onlySuccessor reports whether control always goes from a block to one and the same block. It
// ignores the arc to the exit that blocks with a call have, in case the call does not return.
func (f *function) onlySuccessor(b uint32) bool {
	n := 0
	for _, s := range f.body.blocks[b].successors {
		if s.block != exitBlock {
			n++
		}
	}
	return n == 1
}

// contains reports whether a source position is that of a statement or an arc in the function's
// control flow graph.
func (f *function) contains(k key) bool { return len(f.where[k]) > 0 || len(f.between[k]) > 0 }

// beginsAt reports whether a source position is only in the first block of the function, and that
// block runs once in each call.
func (f *function) beginsAt(k key) bool {
	at := f.where[k]
	return len(at) == 1 && at[0] == f.first
}

// conditional reports whether a block ends with a condition. A block that ends with a call that may
// not return also has two successors, but one of them is the exit.
func (f *function) conditional(b uint32) bool {
	s := f.body.blocks[b].successors
	return len(s) == 2 && s[0].block != exitBlock && s[1].block != exitBlock
}
