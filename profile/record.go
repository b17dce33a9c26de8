package profile

import (
	"cmp"
	"math"

	"github.com/go-afdo/afdo/internal/stack"
)

// A Kind is the kind of a [Record]: a count, a call or an inlined body.
type Kind uint8

// The kinds, in the order of records at the same location (format note 15).
const (
	KindCount   Kind = iota // samples of a source location
	KindCall                // one call target of a source location
	KindInlined             // a function inlined at a source location
)

// A Record is one entry of a function body. Bodies are flat: the records of an inlined body,
// including nested bodies, follow its KindInlined record, whose Count is their number. So 2.5
// million records take 60 MB without any pointer, and a loop can walk a body without recursion.
//
// The records of a body are canonical: siblings are in strictly ascending order of line,
// discriminator, kind and callee. So no two records can be merged (format note 13). Use [Body] to
// make records canonical.
//
// Lines and discriminators are wider here than in any file format. Writers reject values that do
// not fit (format note 17).
type Record struct {
	Count         uint64    // KindCount: samples; KindCall: calls; KindInlined: number of records in the body
	Callee        SymbolRef // KindCall, KindInlined; 0 otherwise
	Line          uint32    // offset from the line of the function's declaration
	Discriminator uint32
	Kind          Kind
}

// A place contains the fields of a record that determine its order among the records of the same
// body: line, discriminator, kind and callee. Records of a body with the same place are merged.
type place struct {
	where uint64 // line and discriminator
	what  uint64 // kind and callee
}

func placeOf(line, discriminator uint32, kind Kind, callee SymbolRef) place {
	return place{
		where: uint64(line)<<32 | uint64(discriminator),
		what:  uint64(kind)<<32 | uint64(callee),
	}
}

func (r *Record) place() place { return placeOf(r.Line, r.Discriminator, r.Kind, r.Callee) }

// end returns the index after record i in a list of records, where i is the index of r. If r is
// KindInlined, this is the index after the records of its inlined body.
func (r *Record) end(i int) int {
	if r.Kind == KindInlined {
		i += int(r.Count)
	}
	return i + 1
}

// record returns a record with the given place and count.
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

// Line16 returns the lower 16 bits of the line offset, which GCC and LLVM use in lookups. keep is
// false for a count or call of 0 at an offset above 65,535: it only means that a line did not run.
func (r *Record) Line16() (line uint32, keep bool) {
	return r.Line & math.MaxUint16, r.Line <= math.MaxUint16 || r.Count > 0 || r.Kind == KindInlined
}

// A Walker iterates over records in pre-order and tracks the depth. It does not allocate for depths
// up to 16, and does not recurse.
type Walker struct {
	records []Record
	next    int
	end     int // end of the innermost body
	depth   int
	shallow [16]int          // ends of the enclosing bodies, outermost first
	deep    stack.Stack[int] // further ends, if there are more
}

// Walk returns a Walker for the records of a function, which also visits those of inlined calls.
// The records must not change before the last call of Next.
func Walk(records []Record) Walker { return Walker{records: records, end: len(records)} }

// Next returns the next record and its depth. The records of the function itself have depth 0. A
// KindInlined record has the depth of the body that contains it; the records of the inlined body
// are one deeper. The caller must not change the record.
func (w *Walker) Next() (r *Record, depth int, ok bool) {
	for w.next >= w.end {
		if w.depth == 0 {
			return nil, 0, false
		}
		w.leave()
	}
	r, depth = &w.records[w.next], w.depth
	w.next++
	if r.Kind == KindInlined {
		w.enter(r.Count)
	}
	return r, depth, true
}

func (w *Walker) enter(records uint64) {
	if w.depth < len(w.shallow) {
		w.shallow[w.depth] = w.end
	} else {
		w.deep.Push(w.end)
	}
	w.depth++
	w.end = w.next + int(records)
}

func (w *Walker) leave() {
	w.depth--
	if w.depth < len(w.shallow) {
		w.end = w.shallow[w.depth]
	} else {
		w.end = w.deep.Pop()
	}
}
