package profile

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/stack"
)

// Merge adds q to p. Units are matched by path, symbols by unit and name. Head counts, counts and
// calls are summed, saturating; the smaller timestamp wins unless it is 0. If both profiles have
// different marks for a function, the marks become empty. Unit sums that differ become 0. Evidence
// adds up for symbols with the same code; of other code, both copies stay. p.Summary becomes nil. q
// is not changed.
//
// Only the numbering of units and symbols depends on the order and grouping of merges.
//
// Merge takes O(n log n), where n is the number of records of q and of the functions that p and q
// share. The garbage left by repeated calls never exceeds the size of p.
func (p *Profile) Merge(q *Profile) { p.MergeScaled(q, one) }

// adopt adds the units and symbols of q to p. It returns the references in p of q's symbols.
func (p *Profile) adopt(q *Profile) []SymbolRef {
	p.Summary = nil
	files := make([]UnitRef, q.NumUnits())
	for f := range files {
		files[f] = p.AddUnit(q.UnitPath(UnitRef(f)))
	}
	symbols := make([]SymbolRef, q.NumSymbols())
	for s := range symbols {
		row := q.symbols.rows.at(s)
		symbols[s] = p.AddSymbol(files[row.file], row.name)
	}
	p.adoptMarks(q, symbols, files)
	return symbols
}

// renumber returns records with other callees, in canonical order for the new numbers. They are
// valid until the next call of a method of body.
func renumber(body *Body, records []Record, symbols []SymbolRef) []Record {
	body.Reset()
	body.records = append(body.records, records...)
	if renumberInPlace(body.records, symbols) {
		return body.records
	}
	body.Reset()
	open := 0
	w := Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		for ; open > depth; open-- {
			body.Leave()
		}
		switch r.Kind {
		case KindCount:
			body.Count(r.Line, r.Discriminator, r.Count)
		case KindCall:
			body.Call(r.Line, r.Discriminator, symbols[r.Callee], r.Count)
		case KindInlined:
			body.Enter(r.Line, r.Discriminator, symbols[r.Callee])
			open++
		}
	}
	for ; open > 0; open-- {
		body.Leave()
	}
	return body.Records()
}

// renumberInPlace changes the callees of records. It reports whether the records are still in
// order. Only adjacent calls and inlined bodies at the same location can change places. It also
// compares the last record of a body with the record after the body, as if they were siblings.
func renumberInPlace(records []Record, symbols []SymbolRef) (inOrder bool) {
	inOrder = true
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		if r.Kind == KindCount {
			continue
		}
		r.Callee = symbols[r.Callee]
		if next := r.end(i); next < len(records) {
			s := &records[next]
			inOrder = inOrder && (s.Callee > r.Callee || s.Line != r.Line || s.Discriminator != r.Discriminator || s.Kind != r.Kind)
		}
	}
	return inOrder
}

// A sorter makes records canonical. It collects the siblings of a body, or of several bodies that
// are merged, sorts them, and writes them in order. When it reaches an inlined body, it first
// handles that body in the same way. Each record is thus moved once, and sorted only among its
// siblings.
type sorter struct {
	siblings []sibling // siblings of the bodies being written, outermost first
	spare    []sibling
	runs     []int
	outer    []unwritten
}

// A sibling is a record of a body being written.
type sibling struct {
	place
	at int // index of the record
}

// An unwritten is a body with siblings still to be written.
type unwritten struct {
	head  int // index of its KindInlined record in the output
	first int // its first sibling
	next  int // its next sibling
}

// canonical appends the canonical form of records to dst, which must not overlap them. Records may
// be in any order and several may have the same place, but bodies without the tangled mark must be
// canonical. last is the number of the last record of the outermost body in the result, from 1; 0
// if the result is empty.
func (s *sorter) canonical(dst, records []Record) (result []Record, last int) {
	dst = slices.Grow(dst, len(records))
	s.siblings = s.siblings[:0]
	s.outer = s.outer[:0]
	s.gather(records, 0, len(records))
	s.sort(s.siblings)
	body := unwritten{}
	for {
		if body.next == len(s.siblings) {
			if len(s.outer) == 0 {
				return dst, last
			}
			dst[body.head].Count = uint64(len(dst) - body.head - 1)
			s.siblings = s.siblings[:body.first]
			body = s.outer[len(s.outer)-1]
			s.outer = s.outer[:len(s.outer)-1]
			continue
		}
		group := s.group(body.next)
		body.next += len(group)
		if len(s.outer) == 0 {
			last = len(dst) + 1
		}
		r := records[group[0].at]
		switch {
		case r.Kind != KindInlined:
			for _, other := range group[1:] {
				r.Count = saturating.Add(r.Count, records[other.at].Count)
			}
			dst = append(dst, r)
		case len(group) == 1 && r.Count&tangled == 0:
			at := group[0].at
			dst = append(dst, records[at:at+1+int(r.Count)]...)
		default:
			s.outer = append(s.outer, body)
			body = unwritten{head: len(dst), first: len(s.siblings), next: len(s.siblings)}
			dst = append(dst, r)
			for _, same := range group {
				nested := int(records[same.at].Count &^ tangled)
				s.gather(records, same.at+1, same.at+1+nested)
			}
			s.sort(s.siblings[body.first:])
		}
	}
}

// group returns the siblings with the same place as the first one.
func (s *sorter) group(first int) []sibling {
	end := first + 1
	for end < len(s.siblings) && s.siblings[end].place == s.siblings[first].place {
		end++
	}
	return s.siblings[first:end]
}

// gather appends the siblings in the body records[from:to].
func (s *sorter) gather(records []Record, from, to int) {
	for at := from; at < to; at++ {
		r := &records[at]
		s.siblings = append(s.siblings, sibling{r.place(), at})
		if r.Kind == KindInlined {
			at += int(r.Count &^ tangled)
		}
	}
}

// sort merges existing ascending runs. There are usually few: in a version 3 file, the counts and
// calls of a body form one run and the inlined bodies another, and a merge contributes one run per
// side.
func (s *sorter) sort(siblings []sibling) {
	runs := s.runs[:0] // end of each run
	for i := 1; i < len(siblings); i++ {
		if siblings[i].less(siblings[i-1].place) {
			runs = append(runs, i)
		}
	}
	runs = append(runs, len(siblings))
	s.runs = runs
	if len(runs) == 1 {
		return
	}
	s.spare = slices.Grow(s.spare[:0], len(siblings))
	src, dst := siblings, s.spare[:len(siblings)]
	for len(runs) > 1 {
		runs = mergeRuns(dst, src, runs)
		src, dst = dst, src
	}
	if &src[0] != &siblings[0] {
		copy(siblings, src)
	}
}

// mergeRuns merges pairs of adjacent runs of src into dst. It returns the ends of the merged runs,
// in the memory of runs.
func mergeRuns(dst, src []sibling, runs []int) []int {
	merged := runs[:0]
	start := 0
	for ; len(runs) > 1; runs = runs[2:] {
		middle, end := runs[0], runs[1]
		mergePair(dst[start:end], src[start:middle], src[middle:end])
		merged = append(merged, end)
		start = end
	}
	if len(runs) > 0 {
		copy(dst[start:], src[start:])
		merged = append(merged, runs[0])
	}
	return merged
}

// mergePair merges a and b into dst, whose length is their sum. Equal elements of a come first.
func mergePair(dst, a, b []sibling) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].less(a[0].place) {
			dst[0], b = b[0], b[1:]
		} else {
			dst[0], a = a[0], a[1:]
		}
		dst = dst[1:]
	}
	copy(dst[copy(dst, a):], b)
}

// A joiner merges two canonical bodies in one pass. It copies inlined bodies that only one of them
// has.
type joiner struct {
	at, end pair // positions and ends in the current bodies
	outer   stack.Stack[inlinedInBoth]
}

// A pair is a position in each of two bodies.
type pair struct{ a, b int }

// inlinedInBoth is an inlined body that both bodies have, and that is being merged.
type inlinedInBoth struct {
	head int  // index of its KindInlined record in the output
	end  pair // ends of the enclosing bodies
}

// join appends the canonical form of a and b to dst, which must not overlap them. Equal counts and
// calls are summed, saturating.
func (j *joiner) join(dst, a, b []Record) []Record {
	dst = slices.Grow(dst, len(a)+len(b))
	j.at, j.end = pair{}, pair{len(a), len(b)}
	for {
		dst = j.siblings(dst, a, b)
		if j.outer.Empty() {
			return dst
		}
		o := j.outer.Pop()
		dst[o.head].Count = uint64(len(dst) - o.head - 1)
		j.end = o.end
	}
}

// siblings merges the current bodies to their ends, including inlined bodies that both have.
func (j *joiner) siblings(dst, a, b []Record) []Record {
	at, end := j.at, j.end
	for at.a < end.a && at.b < end.b {
		r, s := &a[at.a], &b[at.b]
		switch order := r.place().compare(s.place()); {
		case order < 0:
			next := r.end(at.a)
			dst, at.a = append(dst, a[at.a:next]...), next
		case order > 0:
			next := s.end(at.b)
			dst, at.b = append(dst, b[at.b:next]...), next
		case r.Kind == KindInlined:
			j.outer.Push(inlinedInBoth{head: len(dst), end: end})
			end = pair{r.end(at.a), s.end(at.b)}
			dst, at = append(dst, *r), pair{at.a + 1, at.b + 1}
		default:
			dst, at = append(dst, *r), pair{at.a + 1, at.b + 1}
			last := &dst[len(dst)-1]
			last.Count = saturating.Add(last.Count, s.Count)
		}
	}
	j.at = end
	return append(append(dst, a[at.a:end.a]...), b[at.b:end.b]...)
}

const (
	maxWorkers = 64 // for Sum; each worker may take as much memory as the result
	maxBatch   = 64 // inputs that a worker merges before it passes on the sum; 16 instead of 64 took 10 % longer
)

// Sum merges n profiles, each scaled by its weight as by [Profile.MergeScaled]. load returns
// profile i and its weight. The result, including its numbering, is the same as if the profiles
// were merged one by one in order.
//
// Sum calls load at most once for each i, from several goroutines: one more than there are
// processors, but at most 64. Each goroutine merges up to 64 consecutive profiles and drops each
// profile after merging it. So Sum takes memory for one input and one partial sum per goroutine. A
// partial sum is at most as large as the result.
//
// If load fails, or returns a weight whose Den is 0, Sum returns the error of the lowest i. No call
// of load is running when Sum returns.
func Sum(n int, load func(i int) (*Profile, Ratio, error)) (*Profile, error) {
	// One worker more than there are processors, so that no processor is idle while a slow batch
	// delays the batches after it, or while sums are merged.
	workers := max(1, min(runtime.GOMAXPROCS(0)+1, maxWorkers, n))
	s := summing{n: n, load: load, batch: min(max(n/(4*workers), 1), maxBatch), stop: make(chan struct{})}
	// The batches in progress are those in the channel, plus the one that is awaited or being
	// merged.
	parts := make(chan chan part, workers-1)
	s.running.Go(func() { s.start(parts) })
	defer s.running.Wait()
	defer close(s.stop)
	var sum *Profile
	for c := range parts {
		p := <-c
		switch {
		case p.err != nil:
			return nil, p.err
		case sum == nil && p.owned:
			sum = p.profile
			continue
		case sum == nil:
			sum = New()
		}
		sum.MergeScaled(p.profile, p.weight)
	}
	if sum == nil {
		sum = New()
	}
	return sum, nil
}

type summing struct {
	n       int
	load    func(i int) (*Profile, Ratio, error)
	batch   int
	stop    chan struct{}
	running sync.WaitGroup
}

// A part is the sum of a batch. The part of a batch of one input is that input, so that it is not
// copied before it is merged.
type part struct {
	profile *Profile
	weight  Ratio
	owned   bool // the profile belongs to Sum, which may change it
	err     error
}

// start starts all batches in order. It waits if too many sums have not been taken.
func (s *summing) start(parts chan<- chan part) {
	defer close(parts)
	for first := 0; first < s.n; first += s.batch {
		c := make(chan part, 1)
		select {
		case parts <- c:
		case <-s.stop:
			return
		}
		s.running.Go(func() { c <- s.sum(first, min(first+s.batch, s.n)) })
	}
}

// sum returns the part of a batch.
func (s *summing) sum(first, end int) part {
	if end-first == 1 {
		return s.one(first)
	}
	sum := New()
	for i := first; i < end; i++ {
		p := s.one(i)
		if p.profile == nil {
			return p
		}
		sum.MergeScaled(p.profile, p.weight)
	}
	return part{profile: sum, weight: one, owned: true}
}

// one loads an input. The part has no profile if that fails or the sum is not wanted any more.
func (s *summing) one(i int) part {
	select {
	case <-s.stop:
		return part{}
	default:
	}
	p, weight, err := s.load(i)
	if err == nil && weight.Den == 0 {
		err = fmt.Errorf("profile: input %d has the weight %d/0", i, weight.Num)
	}
	if err != nil {
		return part{err: err}
	}
	return part{profile: p, weight: weight}
}

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

// A folder moves bodies out of functions.
type folder struct {
	body    Body
	entries []uint64 // estimated entries of each inlined body, by the index of its record
	ends    []int    // ends of the open bodies, outermost first
	moved   []moved  // bodies to be added to their functions
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

// leave closes the bodies that end at a record.
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
