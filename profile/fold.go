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
	ends    []int    // ends of the open bodies, outermost first
	moved   []moved  // bodies that become part of their callee's function
}

// A moved is the body records[from:to], to be added to the function of callee.
type moved struct {
	callee   SymbolRef
	entries  uint64
	from, to int
}

// fold adds a function to q, and moves its deep bodies to other functions. It returns the number of
// moved bodies.
func (f *folder) fold(q *Profile, s SymbolRef, fn *Function, maxDepth int) (folded int) {
	f.entries = appendEntries(f.entries[:0], fn.Records)
	f.moved = f.moved[:0]
	f.copy(fn.Records, 0, len(fn.Records), maxDepth)
	q.AddFunction(s, Function{fn.HeadCount, fn.Timestamp, f.body.Records()})
	for ; len(f.moved) > 0; folded++ {
		m := f.moved[len(f.moved)-1]
		f.moved = f.moved[:len(f.moved)-1]
		f.copy(fn.Records, m.from, m.to, maxDepth)
		q.AddFunction(m.callee, Function{HeadCount: m.entries, Records: f.body.Records()})
	}
	return folded
}

// copy copies the body records[from:to] to f.body, down to the allowed depth. It adds deeper bodies
// to f.moved.
func (f *folder) copy(records []Record, from, to, maxDepth int) {
	f.body.Reset()
	f.ends = f.ends[:0]
	for i := from; i < to; i++ {
		f.leave(i)
		r := &records[i]
		switch end := i + 1 + int(r.Count); {
		case r.Kind == KindCount:
			f.body.Count(r.Line, r.Discriminator, r.Count)
		case r.Kind == KindCall:
			f.body.Call(r.Line, r.Discriminator, r.Callee, r.Count)
		case len(f.ends) < maxDepth:
			f.body.Enter(r.Line, r.Discriminator, r.Callee)
			f.ends = append(f.ends, end)
		default:
			f.body.Call(r.Line, r.Discriminator, r.Callee, f.entries[i])
			f.moved = append(f.moved, moved{r.Callee, f.entries[i], i + 1, end})
			i = end - 1
		}
	}
	f.leave(to)
}

// leave closes the open bodies whose last record is before index at.
func (f *folder) leave(at int) {
	for len(f.ends) > 0 && f.ends[len(f.ends)-1] == at {
		f.body.Leave()
		f.ends = f.ends[:len(f.ends)-1]
	}
}

// appendEntries appends, for each record, the estimated entries of its inlined body, or 0. It
// computes inner bodies first, so that each body is visited once.
func appendEntries(entries []uint64, records []Record) []uint64 {
	entries = append(entries, make([]uint64, len(records))...)
	for i := len(records) - 1; i >= 0; i-- {
		if r := &records[i]; r.Kind == KindInlined {
			entries[i] = entriesOf(records, entries, i+1, i+1+int(r.Count))
		}
	}
	return entries
}

// entriesOf estimates how often the body records[from:to] was entered.
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
