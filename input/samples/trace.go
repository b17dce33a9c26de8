package samples

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// A Trace is a sample with both its call stack and its branch stack. Together they show the calls
// in which the code between the branches ran. All numbers are file offsets, or [Elsewhere].
type Trace struct {
	At       uint64   // where the sample was taken
	Calls    []uint64 // the calls on the stack, the outermost first: a byte of each call instruction
	Branches []Branch // the newest first
}

// AddTrace adds n samples that all have the trace t. It copies t.
func (s *Set) AddTrace(t Trace, n uint64) { s.traces.Add(t.key(), n) }

// NumTraces returns the number of different traces.
func (s *Set) NumTraces() int { return s.traces.Len() }

// Traces yields the traces with the number of times that each was seen, always in the same order.
// There are traces only if [Options.Contexts] asked for them. A trace is valid until the next one.
// The text form does not contain traces. Each call sorts them.
func (s *Set) Traces() iter.Seq2[Trace, uint64] {
	return func(yield func(Trace, uint64) bool) {
		var t Trace
		for key, n := range s.traces.All() {
			if t.decode(key); !yield(t, n) {
				return
			}
		}
	}
}

// key encodes a trace so that equal traces have equal keys. It stores differences of offsets, which
// are small because branches are near each other.
func (t *Trace) key() string {
	b := binary.AppendUvarint(make([]byte, 0, 8+4*len(t.Calls)+6*len(t.Branches)), uint64(len(t.Calls)))
	last := uint64(0)
	put := func(offset uint64) {
		b = binary.AppendVarint(b, int64(offset-last))
		last = offset
	}
	for _, c := range t.Calls {
		put(c)
	}
	put(t.At)
	for _, branch := range t.Branches {
		put(branch.From)
		put(branch.To)
	}
	return string(b)
}

// decode sets t to the trace that the method key has encoded as the given key.
func (t *Trace) decode(key string) {
	b := []byte(key)
	calls, n := binary.Uvarint(b)
	b = b[n:]
	last := uint64(0)
	take := func() uint64 {
		step, n := binary.Varint(b)
		b = b[n:]
		last += uint64(step)
		return last
	}
	*t = Trace{Calls: t.Calls[:0], Branches: t.Branches[:0]}
	for range calls {
		t.Calls = append(t.Calls, take())
	}
	t.At = take()
	for len(b) > 0 {
		t.Branches = append(t.Branches, Branch{take(), take()})
	}
}

// trace adds a sample that has both a call chain and a branch stack to the traces of the Set. The
// part of the call chain that belongs to the program follows the last of the marks for kinds of
// code. It begins with the address of the instruction that ran, followed by return addresses.
func (p *perfCollector) trace(s *perfdata.Sample, stack []perfdata.Branch, process *space) {
	t := Trace{At: p.offset(process, s.IP)}
	chain := s.Stack
	for i, address := range chain {
		if address >= maxContext {
			chain = s.Stack[i+1:]
		}
	}
	for i, address := range slices.Backward(chain) {
		if i > 0 {
			t.Calls = append(t.Calls, p.offset(process, address-1))
		} else {
			t.At = p.offset(process, address)
		}
	}
	for _, b := range stack {
		if branch := (Branch{p.offset(process, b.From), p.offset(process, b.To)}); branch != (Branch{Elsewhere, Elsewhere}) {
			t.Branches = append(t.Branches, branch)
		}
	}
	if len(t.Branches) > 0 {
		p.set.AddTrace(t, 1)
	}
}

// offset converts an address of a process to a file offset, or to Elsewhere if it is not in the
// binary.
func (p *perfCollector) offset(process *space, address uint64) uint64 {
	if at := p.ours(process, address); at.inside {
		return at.offset
	}
	return Elsewhere
}
