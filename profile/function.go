package profile

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/saturating"
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
// Each call of AddFunction for a function that the table already has adds a piece, which is a list
// of records. Merging a piece takes time proportional to the length of the function, and some files
// split a function into a million pieces. So pieces that are small compared to their function are
// collected in late. They are merged when they are large enough together, or when the function is
// read.
type functionTable struct {
	rows    table[Function]
	records recordArena
	sorter  sorter
	joiner  joiner
	sorted  []Record // buffer of fold, to save allocations
	joined  []Record

	settling sync.Mutex  // locked by settle, which concurrent readers may call
	waiting  atomic.Bool // late is not empty
	late     map[uint32][]Record
}

// smallPiece is the smallest fraction of a function that is merged at once: a list of added records
// is merged if it has at least 1/smallPiece of the records of its function. A smaller list waits in
// [functionTable].late.
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

// settle merges the records that wait in late into their functions. Readers may call it
// concurrently.
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

// fold merges several lists of records into a function. pieces has these lists one after the other.
// The records of each list are in canonical order.
func (t *functionTable) fold(f *Function, pieces []Record) {
	t.sorted, _ = t.sorter.canonical(t.sorted[:0], pieces)
	t.join(f, t.sorted)
}

// join merges a list of records in canonical order into the records of a function.
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
	f.Records = slices.Clip(slices.Clone(records))
}

// A recordArena stores the records of functions in a few large allocations. If a function grows by
// a merge, its new records get an allocation of their own, and the old ones stay in memory. Merging
// only makes a function longer, so the old records never exceed the records in use.
type recordArena struct {
	free []Record // unused part of the latest chunk
	size int      // size of the latest chunk, in records
}

const (
	firstRecordChunk = 1 << 8
	maxRecordChunk   = 1 << 15
)

// clone returns a copy of the records of a new function. It takes the memory from the arena's
// current allocation.
func (a *recordArena) clone(records []Record) []Record {
	n := len(records)
	if n > maxRecordChunk/8 {
		return slices.Clip(slices.Clone(records))
	}
	if n > len(a.free) {
		a.size = max(min(2*a.size, maxRecordChunk), firstRecordChunk, n)
		a.free = make([]Record, a.size)
	}
	copied := a.free[:n:n]
	copy(copied, records)
	a.free = a.free[n:]
	return copied
}
