package profile

import "github.com/go-afdo/afdo/internal/stack"

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

// Walk returns a walker over the records of a body. The records must not change while it is in use.
func Walk(records []Record) Walker { return Walker{records: records, end: len(records)} }

// Next returns the next record and its depth. The records of the function itself have depth 0. A
// KindInlined record has the depth of the body that contains it; the records of its own body are
// one deeper. The caller must not change the record.
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
