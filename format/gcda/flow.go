package gcda

import (
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// instrumented returns the number of arcs that have a counter, which are those outside of the
// spanning tree.
func (f *Function) instrumented() int {
	n := 0
	for _, a := range f.Arcs {
		if a.Flags&Tree == 0 {
			n++
		}
	}
	return n
}

// Reduce returns the counters of a function. arcs has the counts of all its arcs. The counters are
// the counts of the arcs that are not on the spanning tree.
func (f *Function) Reduce(arcs []int64) []int64 {
	counters := make([]int64, 0, f.instrumented())
	for i, a := range f.Arcs {
		if a.Flags&Tree == 0 {
			counters = append(counters, arcs[i])
		}
	}
	return counters
}

// Expand returns the counts of all arcs of a function. counters has the counts of the arcs that are
// not on the spanning tree. The other counts follow from them, because the flow into each block
// equals the flow out of it. Counts may be negative if counters were lost, for example because
// threads changed them at the same time. The error matches afdo.ErrMalformed: counters is of
// another length, or the arcs with [Tree] do not form a spanning tree.
func (f *Function) Expand(counters []int64) ([]int64, error) {
	if n := f.instrumented(); n != len(counters) {
		return nil, f.errorf(fault.ErrCount, "%d counters for %d arcs", len(counters), n)
	}
	s := newFlow(f)
	for i, a := range f.Arcs {
		if a.Flags&Tree == 0 {
			s.counts[i], counters = counters[0], counters[1:]
			s.settle(i)
		}
	}
	for b := range f.Blocks {
		s.leaves(b)
	}
	unbalanced := slices.ContainsFunc(s.blocks, func(b flowBlock) bool { return b.surplus != 0 })
	if s.unknown > 0 || unbalanced {
		return nil, f.errorf(errGraph, "the arcs without counters are not a spanning tree")
	}
	return s.counts[:len(f.Arcs)], nil
}

func (f *Function) errorf(class error, format string, args ...any) error {
	detail := fmt.Sprintf("function %q: ", f.Name) + fmt.Sprintf(format, args...)
	return &fault.FormatError{Format: "gcda", Section: fault.HeaderSection, Offset: -1, Part: "graph", Err: class, Detail: detail}
}

// BlockCounts returns the counts of the blocks of a function, given the counts of its arcs.
func (f *Function) BlockCounts(arcs []int64) []int64 {
	blocks := make([]int64, f.Blocks)
	for i, a := range f.Arcs {
		blocks[a.To] += arcs[i]
		if a.From == 0 {
			blocks[0] += arcs[i]
		}
	}
	return blocks
}

// A flow computes the counts of the arcs on the spanning tree of a function. It begins at blocks
// with a single unknown arc, which are the leaves of the tree.
type flow struct {
	arcs    []Arc
	counts  []int64
	unknown int
	blocks  []flowBlock
}

// A flowBlock has what is known about the arcs of a block while a [flow] is computed.
type flowBlock struct {
	surplus int64 // known flow into the block minus known flow out of it
	degree  int   // number of arcs of the block whose count is unknown
	unknown int   // exclusive or of the indexes of these arcs; if there is one, this is its index
}

func newFlow(f *Function) *flow {
	// One more arc, from the exit to the entry, closes the flow. It is on the tree.
	s := &flow{arcs: append(f.Arcs[:len(f.Arcs):len(f.Arcs)], Arc{From: 1, To: 0, Flags: Tree})}
	s.counts = make([]int64, len(s.arcs))
	s.blocks = make([]flowBlock, max(f.Blocks, 2))
	s.unknown = len(s.arcs)
	for i, a := range s.arcs {
		for _, b := range [...]uint32{a.From, a.To} {
			s.blocks[b].degree++
			s.blocks[b].unknown ^= i
		}
	}
	return s
}

// settle records that the count of arc i is known. It updates the two blocks that the arc connects.
func (s *flow) settle(i int) {
	a := s.arcs[i]
	s.unknown--
	s.blocks[a.From].surplus -= s.counts[i]
	s.blocks[a.To].surplus += s.counts[i]
	for _, b := range [...]uint32{a.From, a.To} {
		s.blocks[b].degree--
		s.blocks[b].unknown ^= i
	}
}

// leaves computes the count of the arc of block b that is not known yet. The flow into a block
// equals the flow out of it, so the count is the difference of the known flows. leaves then goes on
// with the block at the arc's other end. It stops at a block in which no arc or more than one arc
// is unknown.
func (s *flow) leaves(b uint32) {
	for s.blocks[b].degree == 1 {
		i := s.blocks[b].unknown
		s.counts[i] = s.blocks[b].surplus
		next := s.arcs[i].To
		if next == b {
			s.counts[i], next = -s.counts[i], s.arcs[i].From
		}
		s.settle(i)
		b = next
	}
}
