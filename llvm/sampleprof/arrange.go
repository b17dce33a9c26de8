package sampleprof

import (
	"cmp"
	"slices"
)

// An arranger puts the records of a function into canonical order, in O(n log n) whatever the depth
// and however many of them are of one place and become one.
//
// It goes level by level, so that what is inlined in several bodies that become one is put in order
// together.
type arranger struct {
	adder
	compare func(s, t NameRef) int
	records []Record // as they came
	level   []item   // of one depth
	next    []item   // of the depth below
	places  []place
	stack   []span
}

// An item is a record of the level that is being put in order.
type item struct {
	record uint32
	parent uint32 // place of the body that it is in
}

// A place is a record of the result.
type place struct {
	record      uint32 // the first of those that were at this place, which has taken up the others
	first, last uint32 // places within it; none if last is 0
}

// A span is a range of places that are being written.
type span struct {
	next, last uint32
	head       int // of the result; -1 for the function itself
}

// arrange appends the records of a body to out. It changes the counts of records.
func (a *arranger) arrange(out, records []Record) []Record {
	a.records = records
	a.places = append(a.places[:0], place{})
	a.level = a.children(a.level[:0], 0, len(records), 0)
	for len(a.level) > 0 {
		a.arrangeLevel()
		a.level, a.next = a.next, a.level[:0]
	}
	return a.emit(out)
}

// children appends the records between start and end that are not within others.
func (a *arranger) children(items []item, start, end int, parent uint32) []item {
	for i := start; i < end; i += a.records[i].span() {
		items = append(items, item{record: uint32(i), parent: parent})
	}
	return items
}

func (a *arranger) arrangeLevel() {
	slices.SortStableFunc(a.level, func(s, t item) int {
		if s.parent != t.parent {
			return cmp.Compare(s.parent, t.parent)
		}
		return compareSiblings(&a.records[s.record], &a.records[t.record], a.compare)
	})
	for i, it := range a.level {
		r := &a.records[it.record]
		if i > 0 && a.level[i-1].parent == it.parent && compareSiblings(&a.records[a.level[i-1].record], r, a.compare) == 0 {
			first := &a.records[a.places[len(a.places)-1].record]
			first.Count = a.together(r.Kind, first.Count, r.Count)
		} else {
			a.places = append(a.places, place{record: it.record})
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

// together returns the count of two records of one place. Checksums and attributes do not add up:
// the later ones hold.
func (a *arranger) together(kind Kind, first, second uint64) uint64 {
	if kind >= KindChecksum {
		return second
	}
	return a.add(first, second)
}

// emit appends the places in order, bodies before what follows them.
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
			continue // it says nothing
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

// sortTargets puts the targets at the end of records, all of one location, in order.
func sortTargets(records []Record, compare func(s, t NameRef) int) {
	first := len(records)
	for first > 0 && records[first-1].Kind == KindTarget {
		first--
	}
	targets := records[first:]
	slices.SortFunc(targets, func(s, t Record) int { return compareTargets(&s, &t, compare) })
}
