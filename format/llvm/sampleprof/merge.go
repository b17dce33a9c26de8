package sampleprof

import (
	"cmp"
	"slices"
)

// A merger adds up the records of a function from two sources, for example from two profiles. The
// records of both must be in the order described at [Record], so a merge takes O(n).
type merger struct {
	adder
	compare func(s, t NameRef) int

	// metadata means that the second list of records is the metadata of the function: its checksum
	// and attributes replace those of the first list. Otherwise the attributes of the first list
	// win, and if the checksums differ, the second list is dropped. That is what LLVM does.
	metadata bool

	dropped int // number of bodies dropped because of different checksums
	out     []Record
	open    []openMerge
}

// An openMerge holds the records of a function, or of an inlined function, that a [merger] has not
// merged yet: those of the first and of the second source.
type openMerge struct {
	first, second []Record // the remaining records
	head          int      // index of the KindInlined record in the result; -1 for the function itself
}

// merge returns the sum of the records of two functions. The result is valid until the next call.
func (m *merger) merge(first, second []Record) []Record {
	m.out, m.open = m.out[:0], m.open[:0]
	if !m.compatible(first, second) {
		m.dropped++
		return first
	}
	m.open = append(m.open, openMerge{first, second, -1})
	for len(m.open) > 0 {
		top := &m.open[len(m.open)-1]
		if len(top.first) == 0 && len(top.second) == 0 {
			if top.head >= 0 {
				m.out[top.head].Span = uint32(len(m.out) - top.head - 1)
			}
			m.open = m.open[:len(m.open)-1]
			continue
		}
		m.step(top)
	}
	return m.out
}

// compatible reports whether two lists of records of one function, or inlined function, may be
// added. They may if they have the same checksum, if the first has none, or if the second list is
// metadata.
func (m *merger) compatible(first, second []Record) bool {
	if m.metadata {
		return true
	}
	checksum := find(first, KindChecksum)
	return checksum == 0 || checksum == find(second, KindChecksum)
}

// step merges the next record of top, with its call targets or its inlined body. If both sources
// have the record, it appends the sum to the result. Otherwise it appends the record itself.
func (m *merger) step(top *openMerge) {
	order := 0
	switch {
	case len(top.first) == 0:
		order = 1
	case len(top.second) == 0:
		order = -1
	default:
		order = compareSiblings(&top.first[0], &top.second[0], m.compare)
	}
	if order < 0 {
		n := recordLength(top.first)
		m.out = append(m.out, top.first[:n]...)
		top.first = top.first[n:]
		return
	}
	n := recordLength(top.second)
	second := top.second[:n]
	top.second = top.second[n:]
	if order > 0 {
		if second[0].Kind != KindAttributes || m.metadata {
			m.out = append(m.out, second...)
		}
		return
	}
	n = recordLength(top.first)
	first := top.first[:n]
	top.first = top.first[n:]
	m.both(first, second)
}

// recordLength returns how many records of body belong together at its start: the first record, and
// its call targets or the records of its inlined body.
func recordLength(body []Record) int {
	if body[0].Kind != KindCount {
		return body[0].span()
	}
	n := 1
	for n < len(body) && body[n].Kind == KindTarget {
		n++
	}
	return n
}

// both appends the sum of a record that both sources have. first and second begin with that record,
// and its call targets follow. For an inlined body, both appends only its first record, and the
// records of the body are merged next.
func (m *merger) both(first, second []Record) {
	head := first[0]
	switch head.Kind {
	case KindInlined:
		if !m.compatible(first[1:], second[1:]) {
			m.dropped++
			m.out = append(m.out, first...)
			return
		}
		head.Count = m.add(head.Count, second[0].Count)
		m.out = append(m.out, head)
		m.open = append(m.open, openMerge{first[1:], second[1:], len(m.out) - 1})
	case KindChecksum, KindAttributes:
		if m.metadata {
			head = second[0]
		}
		m.out = append(m.out, head)
	default:
		head.Count = m.add(head.Count, second[0].Count)
		m.out = append(m.out, head)
		m.targets(first[1:], second[1:])
	}
}

// targets appends the sum of two lists of call targets that belong to the same location.
func (m *merger) targets(first, second []Record) {
	start := len(m.out)
	m.out = append(m.out, first...)
	same := len(first) == len(second)
	for i := range second {
		same = same && first[i].Name == second[i].Name
	}
	if same {
		for i := range second {
			t := &m.out[start+i]
			t.Count = m.add(t.Count, second[i].Count)
		}
	} else {
		m.out = append(m.out, second...)
		m.out = m.out[:start+len(oneOfEach(m.out[start:], m.add))]
	}
	sortTargets(m.out, m.compare)
}

// oneOfEach returns call targets with one target for each name, sorted by name. combine returns the
// count of a target that replaces two of the same name.
func oneOfEach(targets []Record, combine func(first, next uint64) uint64) []Record {
	slices.SortStableFunc(targets, func(s, t Record) int { return cmp.Compare(s.Name, t.Name) })
	kept := targets[:0]
	for _, t := range targets {
		if n := len(kept); n > 0 && kept[n-1].Name == t.Name {
			kept[n-1].Count = combine(kept[n-1].Count, t.Count)
		} else {
			kept = append(kept, t)
		}
	}
	return kept
}
