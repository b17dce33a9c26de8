// Package symtab has tables about all symbols of a program: which have a name, and which have a
// function inlined. Symbols are numbers here, whatever those who keep the tables mean by them.
package symtab

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
)

// Names finds symbols by the hash of something in their names. Names that collide cannot be made
// for it, since every table has a seed of its own. It takes 12 bytes a symbol, and 4 to 8 for the
// heads.
type Names[ID ~uint32] struct {
	seed    maphash.Seed
	entries []nameEntry[ID]
	heads   []uint32 // the first entry of a hash, counted from 1
}

type nameEntry[ID ~uint32] struct {
	hash uint32
	id   ID
	next uint32 // counted from 1
}

// NewNames returns a table without names.
func NewNames[ID ~uint32]() *Names[ID] { return &Names[ID]{seed: maphash.MakeSeed()} }

// Grow makes room for n more symbols.
func (t *Names[ID]) Grow(n int) { t.entries = slices.Grow(t.entries, n) }

// Add adds a symbol. It is not to be found before Build.
func (t *Names[ID]) Add(key string, id ID) {
	t.entries = append(t.entries, nameEntry[ID]{hash: t.hash(key), id: id})
}

func (t *Names[ID]) hash(key string) uint32 { return uint32(maphash.String(t.seed, key)) }

// Build makes the table ready for questions.
func (t *Names[ID]) Build() {
	t.heads = make([]uint32, 1<<bits.Len(uint(len(t.entries))))
	for i := len(t.entries) - 1; i >= 0; i-- { // so that symbols of a hash keep their order
		e := &t.entries[i]
		head := &t.heads[e.hash&uint32(len(t.heads)-1)]
		e.next, *head = *head, uint32(i+1)
	}
}

// Candidates iterates over the symbols of a key, in the order in which they were added, and now and
// then over one of another key.
func (t *Names[ID]) Candidates(key string) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		if len(t.heads) == 0 { // nothing has been built
			return
		}
		hash := t.hash(key)
		for i := t.heads[hash&uint32(len(t.heads)-1)]; i != 0; i = t.entries[i-1].next {
			if e := &t.entries[i-1]; e.hash == hash && !yield(e.id) {
				return
			}
		}
	}
}

// Has reports whether there may be a symbol of a key. It is never wrong with a no.
func (t *Names[ID]) Has(key string) bool {
	for range t.Candidates(key) {
		return true
	}
	return false
}

// Callers lists, for each function that was inlined anywhere, the functions with samples into which
// it was inlined, at any depth. It takes 8 bytes for each pair of an inlined function and a
// function that contains it.
type Callers[ID ~uint32] struct {
	pairs  []uint64 // callee and caller, 32 bits each, in order once built
	recent []uint64 // latest pairs by callee, to skip pairs that Add has just added
}

// recentBits is the binary logarithm of the length of recent. A function inlines the same few
// others again and again, up to 1,000 of them, and Build would have to sort all of these pairs.
const recentBits = 12

// Add adds a caller and the functions inlined into it, some of them several times.
func (t *Callers[ID]) Add(caller ID, callees []ID) {
	if t.recent == nil {
		t.recent = make([]uint64, 1<<recentBits)
	}
	for _, callee := range callees {
		pair := uint64(callee)<<32 | uint64(caller)
		if recent := &t.recent[callee%(1<<recentBits)]; *recent != pair || pair == 0 {
			*recent = pair
			t.pairs = append(t.pairs, pair)
		}
	}
}

// Build makes the table ready for questions.
func (t *Callers[ID]) Build() {
	slices.Sort(t.pairs)
	t.pairs, t.recent = slices.Compact(t.pairs), nil
}

// All iterates over all pairs of a callee and a caller, by callee and caller.
func (t *Callers[ID]) All() iter.Seq2[ID, ID] {
	return func(yield func(callee, caller ID) bool) {
		for _, pair := range t.pairs {
			if !yield(ID(pair>>32), ID(pair)) {
				return
			}
		}
	}
}

// Of iterates over the callers of the callees from start up to end, end excluded, by callee: one
// that has several of them comes several times.
func (t *Callers[ID]) Of(start, end uint64) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		first, _ := slices.BinarySearch(t.pairs, start<<32)
		for _, pair := range t.pairs[first:] {
			if pair>>32 >= end || !yield(ID(pair)) {
				return
			}
		}
	}
}
