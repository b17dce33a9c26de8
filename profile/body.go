package profile

import "github.com/go-afdo/afdo/internal/saturating"

// A Body assembles the records of one function. They may be added in any order. [Body.Records]
// returns them in the canonical order of [Record]. The zero Body is ready to use. Reusing a Body
// saves allocations.
//
// Records added in canonical order are only appended. Otherwise [Body.Records] sorts them with O(n
// log n) comparisons, whatever the depth, which temporarily takes at most about a hundred bytes per
// record.
type Body struct {
	records []Record // in the order in which they were added; KindInlined records may have the tangled bit
	spare   []Record
	level   level // the innermost open body; its KindInlined record holds the enclosing level
	depth   int   // number of open bodies
	last    int   // number of the latest record directly in the innermost body, from 1; 0 if there is none
	place   place // place of that record
	sorter  sorter
}

// A level describes a body to which records are being added. This is the body of a call that is
// inlined, between [Body.Enter] and [Body.Leave], or the body of the function itself.
type level struct {
	head    int  // index of its KindInlined record; unused for the function itself
	tangled bool // the body, or one nested in it, is not in canonical order
}

// pack encodes a level as a number. While a body is open, the KindInlined record of that body holds
// the level of the enclosing body in its field Count, in this form.
func (l level) pack() uint64 {
	if l.tangled {
		return uint64(l.head)<<1 | 1
	}
	return uint64(l.head) << 1
}

func unpack(n uint64) level { return level{head: int(n >> 1), tangled: n&1 != 0} }

// tangled is a bit in the field Count of a KindInlined record. It marks an inlined body whose
// records are not in canonical order yet. It occurs only inside a Body.
const tangled = 1 << 63

// Reset empties the body.
func (b *Body) Reset() {
	b.records = b.records[:0]
	b.level = level{}
	b.depth = 0
	b.last = 0
}

// Count adds samples at a location. Several counts at one location are summed, saturating.
func (b *Body) Count(line, discriminator uint32, samples uint64) {
	b.add(placeOf(line, discriminator, KindCount, 0), samples)
}

// Call adds calls from a location to a callee. Several counts for the same location and callee are
// summed, saturating.
func (b *Body) Call(line, discriminator uint32, callee SymbolRef, calls uint64) {
	b.add(placeOf(line, discriminator, KindCall, callee), calls)
}

// Enter starts the body of a function inlined at a location. Everything added until the matching
// Leave belongs to this body. Several bodies of the same callee at one location are merged. An
// empty body is kept.
func (b *Body) Enter(line, discriminator uint32, callee SymbolRef) {
	head := len(b.records)
	b.add(placeOf(line, discriminator, KindInlined, callee), 0)
	b.records[head].Count = b.level.pack()
	b.depth++
	b.level = level{head: head}
	b.last = 0
}

// Leave ends the innermost open body, which the latest unmatched [Body.Enter] has started. It
// panics if no body is open.
func (b *Body) Leave() {
	if b.depth == 0 {
		panic("profile: Leave without Enter")
	}
	left := b.level
	head := &b.records[left.head]
	b.depth--
	b.level = unpack(head.Count)
	head.Count = uint64(len(b.records) - left.head - 1)
	if left.tangled {
		head.Count |= tangled
		b.level.tangled = true
	}
	b.last, b.place = left.head+1, head.place()
}

// AddRecords adds the records of a function to the body, and lets change edit each record first.
// change gets a copy of the record. It may set the line, the discriminator, the callee and, unless
// the record is KindInlined, the count. If change returns false, the record is not added. With a
// KindInlined record, the records of the inlined body are then not added either.
func (b *Body) AddRecords(records []Record, change func(r *Record) bool) {
	b.addRecords(records, func(r *Record, _, _ int) bool { return change(r) })
}

// addRecords does the work of [Body.AddRecords]. change also gets the index of the record in
// records, and its depth as returned by [Walker.Next]. It may turn a KindInlined record into a
// KindCall record. The records of the inlined body are then not added.
func (b *Body) addRecords(records []Record, change func(r *Record, at, depth int) bool) {
	open := 0
	var changed Record
	w := Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		for ; open > depth; open-- {
			b.Leave()
		}
		changed = *r
		if open < depth || !change(&changed, w.next-1, depth) {
			continue
		}
		switch changed.Kind {
		case KindCount:
			b.Count(changed.Line, changed.Discriminator, changed.Count)
		case KindCall:
			b.Call(changed.Line, changed.Discriminator, changed.Callee, changed.Count)
		case KindInlined:
			b.Enter(changed.Line, changed.Discriminator, changed.Callee)
			open++
		}
	}
	for ; open > 0; open-- {
		b.Leave()
	}
}

// Records returns the canonical records, which are valid until the next call of a method of b. More
// records may be added afterwards. Records panics if a body is still open.
func (b *Body) Records() []Record {
	if b.depth > 0 {
		panic("profile: Records before Leave")
	}
	if b.level.tangled {
		b.spare, b.last = b.sorter.canonical(b.spare[:0], b.records)
		b.records, b.spare = b.spare, b.records
		b.place = b.records[b.last-1].place()
		b.level.tangled = false
	}
	return b.records
}

// add appends a record with the given location, kind, callee and count to the innermost open body.
// If the record before it has the same location, kind and callee and is not an inlined body, add
// adds the count to that record instead.
func (b *Body) add(p place, count uint64) {
	if b.last > 0 && !b.place.less(p) {
		if p == b.place && p.kind() != KindInlined {
			last := &b.records[b.last-1]
			last.Count = saturating.Add(last.Count, count)
			return
		}
		b.level.tangled = true
	}
	b.records = append(b.records, p.record(count))
	b.last, b.place = len(b.records), p
}
