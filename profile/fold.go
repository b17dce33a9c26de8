package profile

import "github.com/go-afdo/afdo/internal/saturating"

// FoldInlined returns a profile in which inlined bodies are nested no deeper than maxDepth: 1 keeps
// what is inlined into a function itself, 0 keeps no inlined body at all. A body that is deeper
// moves to its callee's own function, as if it had not been inlined: its records merge with those
// of that function, which p may not have had, and a call record takes its place.
//
// No count changes on its way, so the sum of all samples stays the same unless a sum saturates, but
// samples move from a caller to its callee. A body that was moved is no longer inlined; its
// contents begin at depth 1 again.
//
// The call record's count, and what the callee's head count grows by, is an
// estimate of how often the body was entered: the count of its first location,
// or if that has none the calls there and the estimates of the bodies inlined there,
// and at least 1 if anything in the body is more than 0.
//
// folded is the number of bodies that moved. Symbols that no record refers to
// any more are left out. There is no summary. p is not changed. It takes O(n log n).
func (p *Profile) FoldInlined(maxDepth int) (q *Profile, folded int) {
	q = p.like()
	var f folder
	for s, fn := range p.Functions() {
		folded += f.fold(q, s, fn, maxDepth)
	}
	return q.pruned(), folded
}

// A folder takes functions apart.
type folder struct {
	body    Body
	entries []uint64 // of each inlined body, by the index of its record
	ends    []int    // where the open bodies end, outermost first
	moved   []moved  // bodies that are still to be added to their functions
}

// A moved body is records[from:to].
type moved struct {
	callee   SymbolRef
	entries  uint64
	from, to int
}

// fold adds a function to q, and to other functions what is too deep in it. It
// returns how many bodies that are.
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

// copy fills f.body with the body that is records[from:to], up to the depth
// that is allowed, and puts what is deeper on the list.
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

// leave closes the bodies that end at a record.
func (f *folder) leave(at int) {
	for len(f.ends) > 0 && f.ends[len(f.ends)-1] == at {
		f.body.Leave()
		f.ends = f.ends[:len(f.ends)-1]
	}
}

// appendEntries appends, for each record, an estimate of how often its body was entered if it is an
// inlined one. Inner bodies come first, so each takes one look at its siblings.
func appendEntries(entries []uint64, records []Record) []uint64 {
	entries = append(entries, make([]uint64, len(records))...)
	for i := len(records) - 1; i >= 0; i-- {
		if r := &records[i]; r.Kind == KindInlined {
			entries[i] = entriesOf(records, entries, i+1, i+1+int(r.Count))
		}
	}
	return entries
}

// entriesOf estimates how often the body that is records[from:to] was entered.
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
