package profile

import "github.com/go-afdo/afdo/internal/saturating"

// A Body assembles the records of one function, in any order, into canonical
// form. The zero Body is ready to use, and reusing one saves its memory.
//
// Records that come in canonical order are only appended. Others are put in
// order when [Body.Records] asks for them, in O(n log n) whatever the depth
// and however many of them are to be merged, and at worst takes some hundred
// bytes a record for the time.
type Body struct {
	records []Record // as they came, with the tangled mark
	spare   []Record
	level   level // the innermost open body; its KindInlined record holds the one around it
	depth   int   // how many are open
	last    int   // the latest record of the innermost body, counted from 1; 0 if it has none
	place   place // of that record
	sorter  sorter
}

// A level is a body that is still open.
type level struct {
	head    int  // its KindInlined record; nothing for the function itself
	tangled bool // it, or a body in it, is not canonical
}

// pack makes a number of a level, for the Count of the KindInlined record of a body that is open
// inside it.
func (l level) pack() uint64 {
	if l.tangled {
		return uint64(l.head)<<1 | 1
	}
	return uint64(l.head) << 1
}

func unpack(n uint64) level { return level{head: int(n >> 1), tangled: n&1 != 0} }

// tangled marks, in the Count of a KindInlined record, a nested body that is
// not canonical. It never leaves a Body.
const tangled = 1 << 63

// Reset empties the body.
func (b *Body) Reset() {
	b.records = b.records[:0]
	b.level = level{}
	b.depth = 0
	b.last = 0
}

// Count adds samples at a location. Several counts of a location add up, saturating.
func (b *Body) Count(line, discriminator uint32, samples uint64) {
	b.add(placeOf(line, discriminator, KindCount, 0), samples)
}

// Call adds calls of a callee at a location. Several of one callee at a location add up,
// saturating.
func (b *Body) Call(line, discriminator uint32, callee SymbolRef, calls uint64) {
	b.add(placeOf(line, discriminator, KindCall, callee), calls)
}

// Enter opens the body of a function inlined at a location: what is added up
// to the matching Leave belongs to it. Several bodies of one callee at a
// location are merged. An empty one is kept.
func (b *Body) Enter(line, discriminator uint32, callee SymbolRef) {
	head := len(b.records)
	b.add(placeOf(line, discriminator, KindInlined, callee), 0)
	b.records[head].Count = b.level.pack()
	b.depth++
	b.level = level{head: head}
	b.last = 0
}

// Leave closes the innermost open body. It panics if no body is open.
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

// Records returns the canonical records. They stay valid until the next call of a method of b.
// It panics if a body is still open. More may be added afterwards.
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

// add appends a record to the innermost open body, or adds to the body's latest if that has its
// place.
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
