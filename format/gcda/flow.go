package gcda

import (
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// instrumented returns the number of arcs that have a counter.
func (f *Function) instrumented() int {
	n := 0
	for _, a := range f.Arcs {
		if a.Flags&Tree == 0 {
			n++
		}
	}
	return n
}

// Reduce returns the counters of a function, given the counts of all its arcs: those of the arcs
// that are not on the spanning tree.
func (f *Function) Reduce(arcs []int64) []int64 {
	counters := make([]int64, 0, f.instrumented())
	for i, a := range f.Arcs {
		if a.Flags&Tree == 0 {
			counters = append(counters, arcs[i])
		}
	}
	return counters
}

// Expand returns the counts of all arcs of a function, given its counters: the flow into each block
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
		return nil, f.errorf(ErrGraph, "the arcs without counters are not a spanning tree")
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

// flow computes the counts of the arcs on the spanning tree, from the leaves of the tree inward.
type flow struct {
	arcs    []Arc
	counts  []int64
	unknown int
	blocks  []flowBlock
}

// flowBlock is the state of a block.
type flowBlock struct {
	surplus int64 // known flow into the block minus known flow out of it
	degree  int   // number of ends of unknown arcs
	unknown int   // exclusive or of the indexes of these arcs: the index itself if there is one
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

// settle takes note of the count of an arc.
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

// leaves computes the counts from block b on: the only unknown arc of a block takes its surplus.
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

// Counts are the counts of all arcs of a function, in the order of its arcs.
type Counts struct {
	Function *Function
	Arcs     []int64
}

// Counts yields the functions of notes that have counters in c, which has to be of the same
// compile. An error is about one function and matches [ErrOtherCompile] or afdo.ErrMalformed.
func (n *Notes) Counts(c *Counters) iter.Seq2[Counts, error] {
	return func(yield func(Counts, error) bool) {
		byIdent := c.byIdent()
		for i := range n.Functions {
			f := &n.Functions[i]
			counted, ok := byIdent[f.Ident]
			if !ok {
				continue
			}
			arcs, err := f.counts(&c.Functions[counted])
			if (arcs != nil || err != nil) && !yield(Counts{f, arcs}, err) {
				return
			}
		}
	}
}

// byIdent returns the indexes of the functions that are not absent.
func (c *Counters) byIdent() map[uint32]int {
	m := map[uint32]int{}
	for i := range c.Functions {
		if f := &c.Functions[i]; !f.Absent {
			m[f.Ident] = i
		}
	}
	return m
}

// counts returns the counts of all arcs, or nil if there are no counters of arcs.
func (f *Function) counts(c *FunctionCounters) ([]int64, error) {
	if c.ID != f.ID {
		return nil, f.errorf(ErrOtherCompile, "the checksums are %#x and %#x, but %#x and %#x in the notes",
			c.LineChecksum, c.CFGChecksum, f.LineChecksum, f.CFGChecksum)
	}
	for i := range c.Counters {
		l := &c.Counters[i]
		if l.Kind != Arcs {
			continue
		}
		n := f.instrumented()
		switch {
		case l.Len() != n:
			return nil, f.errorf(ErrOtherCompile, "%d counters for %d arcs", l.Len(), n)
		case l.Zeros > 0:
			return f.Expand(make([]int64, n))
		}
		return f.Expand(l.Values)
	}
	return nil, nil
}

// Check yields everything that is wrong with counters, given the notes of the same compile:
// functions that the notes describe otherwise or lack. Negative counts, which the threads of a
// program cause, are a remark.
func Check(c *Counters, n *Notes) iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		for counts, err := range n.Counts(c) {
			if err == nil {
				err = counts.negative()
			}
			_, remark := err.(negativeError)
			if err != nil && !yield(fault.Problem{Err: err, Remark: remark}) {
				return
			}
		}
		known := map[uint32]bool{}
		for i := range n.Functions {
			known[n.Functions[i].Ident] = true
		}
		for i := range c.Functions {
			if f := &c.Functions[i]; !f.Absent && !known[f.Ident] &&
				!yield(fault.Problem{Err: fmt.Errorf("gcda: %w: the notes have no function %#x", ErrOtherCompile, f.Ident)}) {
				return
			}
		}
	}
}

type negativeError string

func (e negativeError) Error() string { return string(e) }

// negative returns an error if a count is negative.
func (c *Counts) negative() error {
	n := 0
	for _, count := range c.Arcs {
		if count < 0 {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return negativeError(fmt.Sprintf("gcda: function %q: %d of %d arcs have negative counts", c.Function.Name, n, len(c.Arcs)))
}
