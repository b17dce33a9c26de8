package profile

import "github.com/go-afdo/afdo/internal/saturating"

// FoldInlined returns a profile in which inlined bodies are nested at most maxDepth deep: 1 keeps
// bodies inlined directly into a function, 0 keeps none. A deeper body moves to the function of its
// callee, which is created if necessary, and a call record replaces the body. In the callee's
// function, depth counts from 0 again.
//
// No count changes, so the sum of all samples stays the same unless it saturates; samples move from
// callers to callees. The count of the call record is an estimate of how often the body was
// entered. The estimate is also added to the callee's head count. It is
//   - the count of the body's first location or, if there is none,
//   - the sum of the calls from that location and the estimates of bodies inlined there,
//
// and at least 1 if anything in the body is above 0.
//
// folded is the number of moved bodies. Unused symbols are dropped. The result has no summary. p is
// not changed. FoldInlined takes O(n log n).
func (p *Profile) FoldInlined(maxDepth int) (q *Profile, folded int) {
	q = p.like()
	var f folder
	for s, fn := range p.Functions() {
		folded += f.fold(q, s, fn, maxDepth)
	}
	return q.pruned(), folded
}

// A folder holds the state of FoldInlined, which moves inlined bodies to functions of their own.
type folder struct {
	body    Body
	entries []uint64 // estimated entries of each inlined body, by the index of its record
	moved   []moved  // bodies that become part of their callee's function
}

// A moved is an inlined body that becomes part of the function of its callee. It consists of
// records[from:to] of the function that contained it.
type moved struct {
	callee   SymbolRef
	entries  uint64
	from, to int
}

// fold adds the function of symbol s to q. An inlined body that is nested more than maxDepth deep
// is added to the function of its callee instead. fold returns the number of these bodies.
func (f *folder) fold(q *Profile, s SymbolRef, fn *Function, maxDepth int) (folded int) {
	f.entries = appendEntries(f.entries[:0], fn.Records)
	f.moved = f.moved[:0]
	q.AddFunction(s, Function{fn.HeadCount, fn.Timestamp, f.shallow(fn.Records, 0, len(fn.Records), maxDepth)})
	for ; len(f.moved) > 0; folded++ {
		m := f.moved[len(f.moved)-1]
		f.moved = f.moved[:len(f.moved)-1]
		q.AddFunction(m.callee, Function{HeadCount: m.entries, Records: f.shallow(fn.Records, m.from, m.to, maxDepth)})
	}
	return folded
}

// shallow returns records[from:to] without the inlined bodies that are nested more than maxDepth
// deep. Call records replace these bodies, and f.moved gets them. The result is valid until the
// next call.
func (f *folder) shallow(records []Record, from, to, maxDepth int) []Record {
	f.body.Reset()
	f.body.addRecords(records[from:to], func(r *Record, at, depth int) bool {
		if r.Kind == KindInlined && depth >= maxDepth {
			at += from
			f.moved = append(f.moved, moved{r.Callee, f.entries[at], at + 1, at + 1 + int(r.Count)})
			r.Kind, r.Count = KindCall, f.entries[at]
		}
		return true
	})
	return f.body.Records()
}

// appendEntries appends one number for each record: for a KindInlined record, the estimate of how
// often its inlined body was entered, and 0 for other records. It handles inner bodies first, so
// that each body is visited once.
func appendEntries(entries []uint64, records []Record) []uint64 {
	entries = append(entries, make([]uint64, len(records))...)
	for i := len(records) - 1; i >= 0; i-- {
		if r := &records[i]; r.Kind == KindInlined {
			entries[i] = entriesOf(records, entries, i+1, i+1+int(r.Count))
		}
	}
	return entries
}

// entriesOf estimates how often the inlined body records[from:to] was entered, by the rules of
// [Profile.FoldInlined]. entries has the estimates of the bodies that are nested in it.
func entriesOf(records []Record, entries []uint64, from, to int) uint64 {
	var first, least uint64
	counted := false // the first location has a count
	for i := from; i < to; i++ {
		r := &records[i]
		n := r.Count
		if r.Kind == KindInlined {
			n = entries[i]
			i += int(r.Count)
		}
		if n > 0 {
			least = 1
		}
		if !counted && r.place().where == records[from].place().where {
			first = saturating.Add(first, n)
			counted = r.Kind == KindCount
		}
	}
	return max(first, least)
}
