package gcda

import (
	"fmt"
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
)

// Counts are the counts of all arcs of a function, in the order of its arcs.
type Counts struct {
	Function *Function
	Arcs     []int64
}

// Counts yields the counts of all arcs for each function of the notes that has counters in c. Both
// must come from the same compile. An error is about one function: either the files are of
// different compiles, or the error matches afdo.ErrMalformed.
func (n *Notes) Counts(c *Counters) iter.Seq2[Counts, error] {
	return func(yield func(Counts, error) bool) {
		byIdent := c.byIdent()
		for i := range n.Functions {
			f := &n.Functions[i]
			if counted, ok := byIdent[f.Ident]; ok {
				arcs, err := f.counts(&c.Functions[counted])
				if (arcs != nil || err != nil) && !yield(Counts{f, arcs}, err) {
					return
				}
			}
		}
	}
}

// byIdent returns the index in c.Functions of each function, by the identifier of the function. It
// leaves out functions that are absent.
func (c *Counters) byIdent() map[uint32]int {
	m := map[uint32]int{}
	for i := range c.Functions {
		if f := &c.Functions[i]; !f.Absent {
			m[f.Ident] = i
		}
	}
	return m
}

// counts returns the counts of all arcs of f, computed from the function's counters in c. It
// returns nil if c has no counters of arcs. It is an error if c has other checksums than f.
func (f *Function) counts(c *FunctionCounters) ([]int64, error) {
	if c.ID != f.ID {
		return nil, f.errorf(errOtherCompile, "the checksums are %#x and %#x, but %#x and %#x in the notes",
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
			return nil, f.errorf(errOtherCompile, "%d counters for %d arcs", l.Len(), n)
		case l.Zeros > 0:
			return f.Expand(make([]int64, n))
		}
		return f.Expand(l.Values)
	}
	return nil, nil
}

// Check yields a problem for each function of the counters that does not match the function in the
// notes, or that the notes do not have. Both must be of the same compile. Negative counts, which
// the threads of a program cause, are a remark.
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
				!yield(fault.Problem{Err: fmt.Errorf("gcda: %w: the notes have no function %#x", errOtherCompile, f.Ident)}) {
				return
			}
		}
	}
}

type negativeError string

func (e negativeError) Error() string { return string(e) }

// negative returns an error if the count of an arc is negative, and otherwise nil.
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
