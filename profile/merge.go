package profile

import (
	"slices"

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

// MergeScaled is like [Profile.Merge], but multiplies every head count, count and number of calls
// of q by weight. Products are computed in 128 bits, rounded to nearest, halves up, and saturate.
// Timestamps are not scaled. Records whose count becomes 0 are kept. A function with nothing but a
// head count is dropped if the head count becomes 0.
//
// Each input is scaled separately before it is added, so the order of inputs does not matter.
// Merging first and scaling the sum gives the same result for an integer weight; for other weights
// rounding may differ.
func (p *Profile) MergeScaled(q *Profile, weight Ratio) {
	symbols := p.adopt(q)
	p.mergeEvidence(q, weight)
	var body Body
	for s, f := range q.Functions() {
		records := body.Renumber(f.Records, symbols)
		if weight != one {
			weight.scale(records)
		}
		p.AddFunction(symbols[s], Function{
			HeadCount: weight.Of(f.HeadCount),
			Timestamp: f.Timestamp,
			Records:   records,
		})
	}
}

// adopt adds to p the units and symbols of q that p does not have. It returns the number in p of
// each symbol of q.
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

// Renumber replaces the records of the body by the given records of a function, with each callee s
// replaced by symbols[s]. It returns the canonical records, which are valid until the next call of
// a method of b.
func (b *Body) Renumber(records []Record, symbols []SymbolRef) []Record {
	b.Reset()
	b.records = append(b.records, records...)
	if renumberInPlace(b.records, symbols) {
		return b.records
	}
	b.Reset()
	b.AddRecords(records, func(r *Record) bool {
		if r.Kind != KindCount {
			r.Callee = symbols[r.Callee]
		}
		return true
	})
	return b.Records()
}

// renumberInPlace replaces each callee s in records by symbols[s]. It reports whether the records
// are still in canonical order. The new numbers can only change the order of calls and inlined
// bodies at the same location, so only neighbours are compared. The last record of a body is also
// compared with the record after the body, as if both were in the same body.
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

// A sorter puts records into canonical order. It collects the records that are directly in a body,
// sorts them, and writes them. If several inlined bodies have the same callee and location, it
// collects the records of all of them, and so merges these bodies. When it reaches an inlined body,
// it handles that body first, in the same manner. Each record is thus moved once, and compared only
// with records of the same body.
type sorter struct {
	siblings []sibling // siblings of the bodies being written, outermost first
	outer    []unwritten
}

// A sibling is a record of a body that a [sorter] is writing. Siblings are records directly in the
// same body.
type sibling struct {
	place
	at int // index of the record
}

// An unwritten is an inlined body that a [sorter] has begun to write, but has not finished. The
// sorter keeps one for each level of nesting.
type unwritten struct {
	head  int // index of its KindInlined record in the output
	first int // its first sibling
	next  int // its next sibling
}

// canonical appends records to dst in canonical order. Records of the same location, kind and
// callee are added up. dst must not overlap records. The records may be in any order. But the
// records of an inlined body must be in canonical order already, unless its KindInlined record has
// the bit [tangled]. last is the number of the last record of the outermost body in the result,
// counted from 1. It is 0 if the result is empty.
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

// group returns the siblings, starting with number first, that have the same line, discriminator,
// kind and callee. The siblings must be sorted.
func (s *sorter) group(first int) []sibling {
	end := first + 1
	for end < len(s.siblings) && s.siblings[end].place == s.siblings[first].place {
		end++
	}
	return s.siblings[first:end]
}

// gather appends the records of the body records[from:to] to s.siblings. It skips the records of
// inlined bodies in it.
func (s *sorter) gather(records []Record, from, to int) {
	for at := from; at < to; at++ {
		r := &records[at]
		s.siblings = append(s.siblings, sibling{r.place(), at})
		if r.Kind == KindInlined {
			at += int(r.Count &^ tangled)
		}
	}
}

// sort sorts siblings by location, kind and callee. Siblings for which all of these are equal keep
// their order.
func (s *sorter) sort(siblings []sibling) {
	slices.SortStableFunc(siblings, func(a, b sibling) int { return a.compare(b.place) })
}

// A joiner merges two bodies in canonical order in one pass, by comparing their next records. An
// inlined body that only one of the two has is copied.
type joiner struct {
	at, end pair // positions and ends in the current bodies
	outer   stack.Stack[inlinedInBoth]
}

// A pair has an index in each of the two bodies that a [joiner] merges.
type pair struct{ a, b int }

// An inlinedInBoth is an inlined body that exists in both bodies that a [joiner] merges, and whose
// records are being merged.
type inlinedInBoth struct {
	head int  // index of its KindInlined record in the output
	end  pair // ends of the enclosing bodies
}

// join merges the bodies a and b, and appends the result to dst in canonical order. dst must not
// overlap a and b. Counts and calls at the same place are summed, saturating.
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

// siblings appends to dst the merged records of a and b, from the current positions to the end of
// the innermost inlined body that both have. On the way it enters inlined bodies that exist in
// both.
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
