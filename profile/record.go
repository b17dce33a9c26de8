package profile

import (
	"cmp"
	"math"
)

// Kind says what a [Record] holds.
type Kind uint8

// The kinds, in the order in which records of one location stand (format note 15).
const (
	KindCount   Kind = iota // samples of a source location
	KindCall                // one call target of a source location
	KindInlined             // a function inlined at a source location
)

// A Record is one entry of a function body. Bodies are flat: the records of an
// inlined body follow their KindInlined record, which counts them, nested ones
// included. That keeps 2.5 million records in 60 MB without a pointer, and
// walking them is a loop, not a recursion.
//
// The records of a body are canonical: siblings ascend strictly by line,
// discriminator, kind and callee, which means that nothing at one place is
// left to be merged (format note 13). [Body] makes canonical records out of any order.
//
// Lines and discriminators are wider here than any format keeps them; a writer
// refuses what does not fit (format note 17).
type Record struct {
	Count         uint64    // KindCount: samples; KindCall: calls; KindInlined: number of records in the nested body
	Callee        SymbolRef // KindCall, KindInlined; 0 otherwise
	Line          uint32    // offset from the line of the function's declaration
	Discriminator uint32
	Kind          Kind
}

// A place orders a record among its siblings; two of one place are merged.
type place struct {
	where uint64 // line, discriminator
	what  uint64 // kind, callee
}

func placeOf(line, discriminator uint32, kind Kind, callee SymbolRef) place {
	return place{
		where: uint64(line)<<32 | uint64(discriminator),
		what:  uint64(kind)<<32 | uint64(callee),
	}
}

func (r *Record) place() place { return placeOf(r.Line, r.Discriminator, r.Kind, r.Callee) }

// end returns where a record that is the i-th of its body ends, with what is inlined there.
func (r *Record) end(i int) int {
	if r.Kind == KindInlined {
		i += int(r.Count)
	}
	return i + 1
}

// record is the inverse of [Record.place].
func (p place) record(count uint64) Record {
	return Record{
		Count:         count,
		Callee:        SymbolRef(p.what),
		Line:          uint32(p.where >> 32),
		Discriminator: uint32(p.where),
		Kind:          p.kind(),
	}
}

func (p place) kind() Kind { return Kind(p.what >> 32) }

func (p place) compare(q place) int {
	if p.where != q.where {
		return cmp.Compare(p.where, q.where)
	}
	return cmp.Compare(p.what, q.what)
}

func (p place) less(q place) bool {
	return p.where < q.where || p.where == q.where && p.what < q.what
}

// Line16 returns the line offset as GCC and LLVM look for it: its lower 16 bits. keep is false for
// a count or call of 0 whose offset has more: it says only that a line did not run.
func (r *Record) Line16() (line uint32, keep bool) {
	return r.Line & math.MaxUint16, r.Line <= math.MaxUint16 || r.Count > 0 || r.Kind == KindInlined
}
