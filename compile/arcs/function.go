package arcs

import (
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
)

// exitBlock is the number of the exit of a graph.
const exitBlock = 1

// A function is the graph of a function, and what the evidence shows of it.
type function struct {
	*gcda.Function
	*body
	arcs      map[[2]uint32]int32 // by the blocks that they connect
	where     map[key][]uint32    // blocks with a statement at a position
	between   map[key][]int32     // arcs with a step at a position, if no block has a statement there
	follows   []uint32            // the block that a block always follows, 0 if there is none
	sightings []sighting
	limits    map[key]int64    // of how often calls that were inlined without a sighting ran
	copies    map[int32]uint64 // how often each copy ran
	copiesSum uint64
	branches  []branch
	jumps     []jump
	decided   []bool    // blocks whose condition a jump decides
	into      [][]int32 // arcs into each block
	entry     uint64    // executions of the first blocks of its own symbols
	called    bool      // entry is known
	first     uint32    // block after the entry, if nothing else precedes it
	heat      uint64    // the largest count that the function had, if it was left out of the profile; else 0
	inlined   bool      // into other functions, so entry does not count all calls
}

// A sighting is machine code at a position.
type sighting struct {
	place
	copy  int32 // of the function: one symbol and chain of calls
	block int32 // of the machine
	count uint64
}

// newFunction relates the notes and the dump of a function. It returns nil if they differ.
func newFunction(notes *gcda.Function, b *body) *function {
	if b == nil || len(b.blocks) != int(notes.Blocks) || len(b.blocks) < 2 {
		return nil
	}
	f := &function{Function: notes, body: b, arcs: make(map[[2]uint32]int32), where: make(map[key][]uint32), between: make(map[key][]int32), into: make([][]int32, notes.Blocks), limits: make(map[key]int64)}
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
		f.arcs[[2]uint32{a.From, a.To}] = int32(i)
		f.into[a.To] = append(f.into[a.To], int32(i))
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

// onlySuccessor reports whether a single jump leads on from a block, beside calls that do not
// return.
func (f *function) onlySuccessor(b uint32) bool {
	n := 0
	for _, s := range f.body.blocks[b].successors {
		if s.block != exitBlock {
			n++
		}
	}
	return n == 1
}

func (f *function) contains(k key) bool { return len(f.where[k]) > 0 || len(f.between[k]) > 0 }

// beginsAt reports whether only the first block has a position, and runs once in each call.
func (f *function) beginsAt(k key) bool {
	at := f.where[k]
	return len(at) == 1 && at[0] == f.first
}

// conditional reports whether a block ends with a condition. A call that may not return has a
// second successor, too: the exit.
func (f *function) conditional(b uint32) bool {
	s := f.body.blocks[b].successors
	return len(s) == 2 && s[0].block != exitBlock && s[1].block != exitBlock
}
