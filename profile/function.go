package profile

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Function is the samples of one top-level function (RFC 4.7).
type Function struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when it first ran; 0 if unavailable
	Records   []Record
}

// AddFunction adds samples to a symbol's function, merging with what it has:
// saturating sums, the smallest timestamp that is not 0. A function without
// records, head count and timestamp says nothing and is not added (format note 12).
// The records must be canonical and are copied.
//
// Adding takes O(n log n) for all records added, however many pieces a function comes in.
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

// Function returns the function of a symbol, nil if it has none. The caller
// must not change what it points to, nor use it after p has changed.
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

// Functions iterates over the symbols that have a function, by ascending
// SymbolRef. What holds for the result of [Profile.Function] holds for these functions.
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
// Merging a piece into a function costs as much as the function is long. So
// that a file that brings one in a million pieces does not take forever, pieces
// that are small beside their function wait until together they are not, or
// until the function is read.
type functionTable struct {
	rows    table[Function]
	records recordArena
	sorter  sorter
	joiner  joiner
	sorted  []Record // scratch of fold
	joined  []Record

	settling sync.Mutex  // readers are many, and any may be the first to look
	waiting  atomic.Bool // whether late has anything
	late     map[uint32][]Record
}

// smallPiece is how many times longer than a piece a function must be for the piece to wait.
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

// settle merges the pieces that wait. It may be called by many readers at once.
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

// fold merges pieces, any number of canonical bodies in a row, into a function.
func (t *functionTable) fold(f *Function, pieces []Record) {
	t.sorted, _ = t.sorter.canonical(t.sorted[:0], pieces)
	t.join(f, t.sorted)
}

// join merges a canonical body into a function.
func (t *functionTable) join(f *Function, body []Record) {
	t.joined = t.joiner.join(t.joined[:0], f.Records, body)
	t.replace(f, t.joined)
	if len(t.joined) > maxRecordChunk {
		t.sorted, t.joined, t.sorter, t.joiner = nil, nil, sorter{}, joiner{} // too much to keep for the next
	}
}

// replace gives a function other records, which it copies.
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

// A recordArena keeps copies of records in a few large allocations.
type recordArena struct {
	free    []Record // what is left of the latest chunk
	size    int      // of that chunk, in records
	kept    int      // records in chunks that are in use
	dropped int      // and that are not
}

const (
	firstRecordChunk = 1 << 8
	maxRecordChunk   = 1 << 15
)

// own reports whether so many records get an allocation of their own.
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

// drop says that records that came from clone are no longer used.
func (a *recordArena) drop(records []Record) {
	if n := len(records); !own(n) {
		a.kept -= n
		a.dropped += n
	}
}

// compact moves what is still used into new chunks, so that the old ones can be collected.
func (a *recordArena) compact(functions *table[Function]) {
	*a = recordArena{size: a.size}
	for i := range functions.len {
		if f := functions.at(i); !own(len(f.Records)) {
			f.Records = a.clone(f.Records)
		}
	}
}
