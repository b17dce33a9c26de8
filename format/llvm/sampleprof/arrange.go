package sampleprof

import (
	"cmp"
	"slices"
)

// An arranger sorts the records of one function into the order described at [Record]. It combines
// records of the same kind, location and name. It takes O(n log n), however deep inlined functions
// nest.
//
// It sorts all records of one inlining depth together, the outermost first. So if several inlined
// bodies are combined into one, their records are sorted together.
type arranger struct {
	adder
	compare func(s, t NameRef) int
	records []Record      // in their original order
	level   []levelRecord // the records at the current inlining depth
	next    []levelRecord // the records at the next inlining depth
	places  []mergedPlace
	stack   []span
}

// A levelRecord is a record of the inlining depth that an [arranger] is sorting.
type levelRecord struct {
	record uint32
	parent uint32 // index in places of the inlined body that contains the record; 0 for the function itself
}

// A mergedPlace is one record in the result of an [arranger]. It replaces all records of the same
// kind, location and name.
type mergedPlace struct {
	record      uint32 // index of the first of these records, into which the others have been combined
	first, last uint32 // range in places of the records within this inlined body; none if last is 0
}

// A span is a range of records of a function or inlined body that an [arranger] has sorted and not
// yet written.
type span struct {
	next, last uint32
	head       int // index of the KindInlined record in the result; -1 for the function itself
}

// arrange sorts the records of a function and appends them to out. It overwrites the counts in
// records.
func (a *arranger) arrange(out, records []Record) []Record {
	a.records = records
	a.places = append(a.places[:0], mergedPlace{})
	a.level = a.children(a.level[:0], 0, len(records), 0)
	for len(a.level) > 0 {
		a.arrangeLevel()
		a.level, a.next = a.next, a.level[:0]
	}
	return a.emit(out)
}

// children appends to items the records of the function or inlined body whose records are [start,
// end). It skips the records of bodies that are inlined in it. parent is the index of the enclosing
// body in a.places.
func (a *arranger) children(items []levelRecord, start, end int, parent uint32) []levelRecord {
	for i := start; i < end; i += a.records[i].span() {
		items = append(items, levelRecord{record: uint32(i), parent: parent})
	}
	return items
}

func (a *arranger) arrangeLevel() {
	slices.SortStableFunc(a.level, func(s, t levelRecord) int {
		if s.parent != t.parent {
			return cmp.Compare(s.parent, t.parent)
		}
		return compareSiblings(&a.records[s.record], &a.records[t.record], a.compare)
	})
	for i, it := range a.level {
		r := &a.records[it.record]
		if i > 0 && a.level[i-1].parent == it.parent && compareSiblings(&a.records[a.level[i-1].record], r, a.compare) == 0 {
			first := &a.records[a.places[len(a.places)-1].record]
			first.Count = a.combine(r.Kind, first.Count, r.Count)
		} else {
			a.places = append(a.places, mergedPlace{record: it.record})
			parent := &a.places[it.parent]
			parent.last = uint32(len(a.places) - 1)
			if parent.first == 0 {
				parent.first = parent.last
			}
		}
		if r.Kind == KindInlined {
			at := int(it.record)
			a.next = a.children(a.next, at+1, at+r.span(), uint32(len(a.places)-1))
		}
	}
}

// combine returns the count of a record that replaces two records of the same kind, location and
// name. This is the sum of their counts. For checksums and attributes, it is the second one's.
func (a *arranger) combine(kind Kind, first, second uint64) uint64 {
	if kind >= KindChecksum {
		return second
	}
	return a.add(first, second)
}

// emit appends the sorted records of all depths to out. The records of an inlined body follow its
// KindInlined record.
func (a *arranger) emit(out []Record) []Record {
	a.stack = append(a.stack[:0], span{next: a.places[0].first, last: a.places[0].last, head: -1})
	for len(a.stack) > 0 {
		top := &a.stack[len(a.stack)-1]
		if top.next == 0 || top.next > top.last {
			if top.head >= 0 {
				out[top.head].Span = uint32(len(out) - top.head - 1)
			}
			a.stack = a.stack[:len(a.stack)-1]
			continue
		}
		p := &a.places[top.next]
		top.next++
		r := a.records[p.record]
		if r.Kind >= KindChecksum && r.Count == 0 {
			continue // an empty body of metadata
		}
		out = append(out, r)
		switch r.Kind {
		case KindInlined:
			a.stack = append(a.stack, span{next: p.first, last: p.last, head: len(out) - 1})
		case KindTarget:
			if top.next > top.last || !a.target(top.next) || a.records[a.places[top.next].record].where() != r.where() {
				sortTargets(out, a.compare)
			}
		}
	}
	return out
}

func (a *arranger) target(place uint32) bool {
	return a.records[a.places[place].record].Kind == KindTarget
}

// sortTargets sorts the call targets at the end of records, which all belong to one location. Those
// with more calls come first, and equal calls are ordered by name.
func sortTargets(records []Record, compare func(s, t NameRef) int) {
	first := len(records)
	for first > 0 && records[first-1].Kind == KindTarget {
		first--
	}
	targets := records[first:]
	slices.SortFunc(targets, func(s, t Record) int { return compareTargets(&s, &t, compare) })
}
