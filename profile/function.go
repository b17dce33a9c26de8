package profile

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/stack"
)

// A Function holds the samples of one top-level function (RFC 4.7).
type Function struct {
	HeadCount uint64 // number of times the function was entered
	Timestamp uint64 // time of the first call, in an unspecified unit; 0 if unknown
	Records   []Record
}

// AddFunction adds samples to the function of a symbol. If the symbol already has a function,
// counts are summed, saturating, and the smaller timestamp wins unless it is 0. A function without
// records, head count and timestamp is empty and is not added (format note 12). AddFunction copies
// f.Records, which must be canonical.
//
// Adding n records takes O(n log n) in total, even if each function is added in many pieces.
func (p *Profile) AddFunction(s SymbolRef, f Function) {
	row := p.symbols.rows.at(int(s))
	if row.function != 0 {
		p.bodies.merge(row.function-1, f)
		return
	}
	if f.HeadCount == 0 && f.Timestamp == 0 && len(f.Records) == 0 {
		return
	}
	p.bodies.append(f)
	row.function = uint32(p.bodies.rows.len)
}

// Function returns the function of a symbol, or nil. The caller must not change the function, nor
// use it after p has changed.
func (p *Profile) Function(s SymbolRef) *Function {
	row := p.symbols.rows.at(int(s))
	if row.function == 0 {
		return nil
	}
	p.bodies.settle()
	return p.bodies.rows.at(int(row.function - 1))
}

// NumFunctions returns the number of functions.
func (p *Profile) NumFunctions() int { return p.bodies.rows.len }

// Functions iterates over the symbols that have a function, by ascending SymbolRef. The conditions
// of [Profile.Function] apply to each function.
func (p *Profile) Functions() iter.Seq2[SymbolRef, *Function] {
	return func(yield func(SymbolRef, *Function) bool) {
		for s := range p.symbols.rows.len {
			if f := p.Function(SymbolRef(s)); f != nil && !yield(SymbolRef(s), f) {
				return
			}
		}
	}
}

// A functionTable holds functions and their records.
//
// Merging a piece into a function costs time proportional to the length of the function. To handle
// files that split a function into a million pieces, pieces that are small compared to their
// function wait, until they are large enough together or the function is read.
type functionTable struct {
	rows    table[Function]
	records recordArena
	sorter  sorter
	joiner  joiner
	sorted  []Record // scratch of fold
	joined  []Record

	settling sync.Mutex  // concurrent readers may call settle
	waiting  atomic.Bool // late is not empty
	late     map[uint32][]Record
}

// smallPiece: a piece waits if its function is more than smallPiece times longer.
const smallPiece = 8

func (t *functionTable) append(f Function) {
	f.Records = t.records.clone(f.Records)
	t.rows.append(f)
}

func (t *functionTable) merge(row uint32, f Function) {
	have := t.rows.at(int(row))
	have.HeadCount = saturating.Add(have.HeadCount, f.HeadCount)
	if have.Timestamp == 0 || f.Timestamp != 0 && f.Timestamp < have.Timestamp {
		have.Timestamp = f.Timestamp
	}
	if len(f.Records) == 0 {
		return
	}
	late := t.late[row]
	if n := len(late) + len(f.Records); n < len(have.Records)/smallPiece {
		if t.late == nil {
			t.late = make(map[uint32][]Record)
		}
		t.late[row] = append(late, f.Records...)
		t.waiting.Store(true)
		return
	}
	if len(late) == 0 {
		t.join(have, f.Records)
		return
	}
	delete(t.late, row)
	t.fold(have, append(late, f.Records...))
}

// settle merges the waiting pieces. Readers may call it concurrently.
func (t *functionTable) settle() {
	if !t.waiting.Load() {
		return
	}
	t.settling.Lock()
	defer t.settling.Unlock()
	for _, row := range slices.Sorted(maps.Keys(t.late)) {
		t.fold(t.rows.at(int(row)), t.late[row])
		delete(t.late, row)
	}
	t.waiting.Store(false)
}

// fold merges pieces, a sequence of canonical bodies, into a function.
func (t *functionTable) fold(f *Function, pieces []Record) {
	t.sorted, _ = t.sorter.canonical(t.sorted[:0], pieces)
	t.join(f, t.sorted)
}

// join merges a canonical body into a function.
func (t *functionTable) join(f *Function, body []Record) {
	t.joined = t.joiner.join(t.joined[:0], f.Records, body)
	t.replace(f, t.joined)
	if len(t.joined) > maxRecordChunk {
		t.sorted, t.joined, t.sorter, t.joiner = nil, nil, sorter{}, joiner{} // too large to be kept
	}
}

// replace replaces the records of a function by a copy of records.
func (t *functionTable) replace(f *Function, records []Record) {
	if len(records) == len(f.Records) {
		copy(f.Records, records)
		return
	}
	t.records.drop(f.Records)
	f.Records = t.records.clone(records)
	if t.records.dropped > t.records.kept {
		t.records.compact(&t.rows)
	}
}

// A recordArena stores copies of records in a few large allocations.
type recordArena struct {
	free    []Record // unused part of the latest chunk
	size    int      // size of the latest chunk, in records
	kept    int      // number of records in use
	dropped int      // number of records no longer in use
}

const (
	firstRecordChunk = 1 << 8
	maxRecordChunk   = 1 << 15
)

// own reports whether so many records get their own allocation.
func own(records int) bool { return records > maxRecordChunk/8 }

func (a *recordArena) clone(records []Record) []Record {
	n := len(records)
	if n == 0 {
		return nil
	}
	if own(n) {
		return slices.Clip(slices.Clone(records))
	}
	if n > len(a.free) {
		a.size = max(min(2*a.size, maxRecordChunk), firstRecordChunk, n)
		a.free = make([]Record, a.size)
	}
	copied := a.free[:n:n]
	copy(copied, records)
	a.free = a.free[n:]
	a.kept += n
	return copied
}

// drop records that records returned by clone are no longer used.
func (a *recordArena) drop(records []Record) {
	if n := len(records); !own(n) {
		a.kept -= n
		a.dropped += n
	}
}

// compact copies the records in use to new chunks, so that old chunks can be garbage-collected.
func (a *recordArena) compact(functions *table[Function]) {
	*a = recordArena{size: a.size}
	for i := range functions.len {
		if f := functions.at(i); !own(len(f.Records)) {
			f.Records = a.clone(f.Records)
		}
	}
}

// A Body assembles the records of one function, added in any order, into canonical form. The zero
// Body is ready to use. Reusing a Body saves allocations.
//
// Records added in canonical order are only appended. Otherwise [Body.Records] sorts them in O(n
// log n), whatever the depth, which temporarily takes at most about a hundred bytes per record.
type Body struct {
	records []Record // in the order of adding, with the tangled mark
	spare   []Record
	level   level // the innermost open body; its KindInlined record holds the enclosing level
	depth   int   // number of open bodies
	last    int   // number of the latest record in the innermost body, from 1; 0 if there is none
	place   place // place of that record
	sorter  sorter
}

// A level is an open body.
type level struct {
	head    int  // index of its KindInlined record; unused for the function itself
	tangled bool // the body, or one nested in it, is not in canonical order
}

// pack encodes a level as a number. While a nested body is open, the Count of its KindInlined
// record holds the enclosing level.
func (l level) pack() uint64 {
	if l.tangled {
		return uint64(l.head)<<1 | 1
	}
	return uint64(l.head) << 1
}

func unpack(n uint64) level { return level{head: int(n >> 1), tangled: n&1 != 0} }

// tangled is a bit in the Count of a KindInlined record. It marks a nested body that is not in
// canonical order. It exists only inside a Body.
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

// Leave ends the innermost open body. It panics if no body is open.
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

// add appends a record to the innermost open body, or adds to the latest record if that has the
// same place.
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

// A Kind is the kind of a [Record].
type Kind uint8

// The kinds, in the order of records at the same location (format note 15).
const (
	KindCount   Kind = iota // samples of a source location
	KindCall                // one call target of a source location
	KindInlined             // a function inlined at a source location
)

// A Record is one entry of a function body. Bodies are flat: the records of an inlined body,
// including nested bodies, follow its KindInlined record, whose Count is their number. So 2.5
// million records take 60 MB without any pointer, and a loop can walk a body without recursion.
//
// The records of a body are canonical: siblings are in strictly ascending order of line,
// discriminator, kind and callee. So no two records can be merged (format note 13). Use [Body] to
// make records canonical.
//
// Lines and discriminators are wider here than in any file format. Writers reject values that do
// not fit (format note 17).
type Record struct {
	Count         uint64    // KindCount: samples; KindCall: calls; KindInlined: number of records in the body
	Callee        SymbolRef // KindCall, KindInlined; 0 otherwise
	Line          uint32    // offset from the line of the function's declaration
	Discriminator uint32
	Kind          Kind
}

// A place determines the order of a record among its siblings. Records with the same place are
// merged.
type place struct {
	where uint64 // line and discriminator
	what  uint64 // kind and callee
}

func placeOf(line, discriminator uint32, kind Kind, callee SymbolRef) place {
	return place{
		where: uint64(line)<<32 | uint64(discriminator),
		what:  uint64(kind)<<32 | uint64(callee),
	}
}

func (r *Record) place() place { return placeOf(r.Line, r.Discriminator, r.Kind, r.Callee) }

// end returns the index after record i and its inlined body.
func (r *Record) end(i int) int {
	if r.Kind == KindInlined {
		i += int(r.Count)
	}
	return i + 1
}

// record is the inverse of [Record.place].
func (p place) record(count uint64) Record {
	return Record{
		Count:         count,
		Callee:        SymbolRef(p.what),
		Line:          uint32(p.where >> 32),
		Discriminator: uint32(p.where),
		Kind:          p.kind(),
	}
}

func (p place) kind() Kind { return Kind(p.what >> 32) }

func (p place) compare(q place) int {
	if p.where != q.where {
		return cmp.Compare(p.where, q.where)
	}
	return cmp.Compare(p.what, q.what)
}

func (p place) less(q place) bool {
	return p.where < q.where || p.where == q.where && p.what < q.what
}

// Line16 returns the lower 16 bits of the line offset, which GCC and LLVM use in lookups. keep is
// false for a count or call of 0 at an offset above 65,535: it only means that a line did not run.
func (r *Record) Line16() (line uint32, keep bool) {
	return r.Line & math.MaxUint16, r.Line <= math.MaxUint16 || r.Count > 0 || r.Kind == KindInlined
}

// A Walker iterates over records in pre-order and tracks the depth. It does not allocate for depths
// up to 16, and does not recurse.
type Walker struct {
	records []Record
	next    int
	end     int // end of the innermost body
	depth   int
	shallow [16]int          // ends of the enclosing bodies, outermost first
	deep    stack.Stack[int] // further ends, if there are more
}

// Walk returns a walker over the records of a body. The records must not change while the walker is
// in use.
func Walk(records []Record) Walker { return Walker{records: records, end: len(records)} }

// Next returns the next record and its depth. The records of the function itself have depth 0. A
// KindInlined record has the depth of the body that contains it; the records of the inlined body
// are one deeper. The caller must not change the record.
func (w *Walker) Next() (r *Record, depth int, ok bool) {
	for w.next >= w.end {
		if w.depth == 0 {
			return nil, 0, false
		}
		w.leave()
	}
	r, depth = &w.records[w.next], w.depth
	w.next++
	if r.Kind == KindInlined {
		w.enter(r.Count)
	}
	return r, depth, true
}

func (w *Walker) enter(records uint64) {
	if w.depth < len(w.shallow) {
		w.shallow[w.depth] = w.end
	} else {
		w.deep.Push(w.end)
	}
	w.depth++
	w.end = w.next + int(records)
}

func (w *Walker) leave() {
	w.depth--
	if w.depth < len(w.shallow) {
		w.end = w.shallow[w.depth]
	} else {
		w.end = w.deep.Pop()
	}
}
