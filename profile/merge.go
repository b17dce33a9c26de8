package profile

import (
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// Merge adds all of q to p: units, symbols and functions, by path and name, so that functions of
// one name in different units stay apart. Head counts, counts and calls add up, saturating; of the
// timestamps the smallest counts that is not 0. What is remembered of the lines of a function stays
// if it is the same in both, or only one of them has it. p's Summary becomes nil because it no
// longer holds.
// q is not changed.
//
// What a sum of several profiles means depends neither on their order nor on
// how they were grouped: merging two sums is merging all that went into them.
// Their order decides the numbers of units and symbols alone.
//
// It takes O(n log n) for the records n of q and of those functions of p that
// q has too, and leaves no more garbage behind than p holds, however often it is called.
func (p *Profile) Merge(q *Profile) { p.MergeScaled(q, one) }

// adopt adds the units and symbols of q to p, and returns the references that its symbols have in
// p.
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

// renumber returns records with other callees, in the order that these ask for.
// They stay valid until the next call of a method of body.
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

// renumberInPlace gives records other callees, and reports whether they are in order still. Only
// calls and inlined bodies of one location change places, and these stand one behind the other. It
// takes the record behind the last one of a body for a sibling, too.
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

// A sorter makes records canonical. It gathers the siblings of one body, or of
// several that merge into one, sorts them, and writes them in order; when it
// comes to an inlined body, it does the same for that one first. So a record is
// moved once and sorted once, among its siblings alone: deep bodies are not
// copied level by level, and equal ones are not folded one by one.
type sorter struct {
	siblings []sibling // of the bodies being written, outermost first
	spare    []sibling
	runs     []int
	outer    []unwritten
}

// A sibling is a record of a body that is being written.
type sibling struct {
	place
	at int // its index
}

// An unwritten body is one of which some siblings are still to be written.
type unwritten struct {
	head  int // its KindInlined record in the output
	first int // its first sibling
	next  int // its next one
}

// canonical appends the canonical form of records to dst, which must not
// overlap them. They may stand in any order and have several of one place;
// bodies not marked tangled must be canonical. last is the last record of the
// outermost body in the result, counted from 1, 0 if it is empty.
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

// group returns the siblings from first on that have its place.
func (s *sorter) group(first int) []sibling {
	end := first + 1
	for end < len(s.siblings) && s.siblings[end].place == s.siblings[first].place {
		end++
	}
	return s.siblings[first:end]
}

// gather appends the siblings of the body that is records[from:to].
func (s *sorter) gather(records []Record, from, to int) {
	for at := from; at < to; at++ {
		r := &records[at]
		s.siblings = append(s.siblings, sibling{r.place(), at})
		if r.Kind == KindInlined {
			at += int(r.Count &^ tangled)
		}
	}
}

// sort is a merge sort of what runs there are. There are few usually: a version 3 file has the
// counts and calls of a body in one ascending run and the inlined bodies in another, and a merge
// brings one run from each side.
func (s *sorter) sort(siblings []sibling) {
	runs := s.runs[:0] // where each ends
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

// mergeRuns merges neighbouring runs of src into dst and returns where the merged ones end, in the
// memory of runs.
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

// mergePair merges a and b, a's first where equal, into dst, which has their length.
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
