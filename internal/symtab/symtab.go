// Package symtab has two tables about the symbols of a program: Names finds symbols by name, and
// Callers finds the functions into which a function was inlined. The tables identify a symbol by a
// number, which the caller assigns.
package symtab

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
)

// Names is a hash table from keys, such as the names of symbols, to symbols. It stores hashes and
// not the keys, so a lookup may also return symbols with another key. Each table has its own random
// seed, so no input can cause many collisions. A table takes 16 to 20 bytes for each symbol.
type Names[ID ~uint32] struct {
	seed    maphash.Seed
	entries []nameEntry[ID]
	heads   []uint32 // by the low bits of a hash: index of the first entry plus 1, or 0
}

type nameEntry[ID ~uint32] struct {
	hash uint32
	id   ID
	next uint32 // index of the next entry with the same low bits plus 1, or 0
}

// NewNames returns an empty table.
func NewNames[ID ~uint32]() *Names[ID] { return &Names[ID]{seed: maphash.MakeSeed()} }

// Grow makes room for n more symbols.
func (t *Names[ID]) Grow(n int) { t.entries = slices.Grow(t.entries, n) }

// Add adds a symbol with a key. Lookups find the symbol after the next call of Build.
func (t *Names[ID]) Add(key string, id ID) {
	t.entries = append(t.entries, nameEntry[ID]{hash: t.hash(key), id: id})
}

func (t *Names[ID]) hash(key string) uint32 { return uint32(maphash.String(t.seed, key)) }

// Build prepares the table for lookups of all symbols that were added. It must be called after the
// last Add and before the first lookup.
func (t *Names[ID]) Build() {
	t.heads = make([]uint32, 1<<bits.Len(uint(len(t.entries))))
	for i := len(t.entries) - 1; i >= 0; i-- { // backwards, so that lookups return symbols in the order of Add
		e := &t.entries[i]
		head := &t.heads[e.hash&uint32(len(t.heads)-1)]
		e.next, *head = *head, uint32(i+1)
	}
}

// Candidates iterates over the symbols that were added with a key, in the order in which they were
// added. It may also yield a symbol of another key, if both keys have the same hash.
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

// Has returns false if no symbol was added with a key. True is wrong if only another key with the
// same hash was added.
func (t *Names[ID]) Has(key string) bool {
	for range t.Candidates(key) {
		return true
	}
	return false
}

// Callers lists, for each inlined function, the functions into which it was inlined, at any depth.
// It takes 8 bytes for each pair of an inlined function (the callee) and a function that contains
// it (the caller).
type Callers[ID ~uint32] struct {
	pairs  []uint64 // callee in the upper and caller in the lower 32 bits; Build sorts them
	recent []uint64 // by the low bits of the callee: the last pair added, to skip repeated pairs
}

// recentBits is the binary logarithm of the length of Callers.recent. A function often inlines the
// same functions many times, up to 1,000 different ones. Without recent, Build would have to sort
// all repetitions.
const recentBits = 12

// Add adds a caller and the callees that were inlined into it. callees may contain a function
// several times.
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

// Build sorts the pairs for lookups, and removes repeated pairs.
func (t *Callers[ID]) Build() {
	slices.Sort(t.pairs)
	t.pairs, t.recent = slices.Compact(t.pairs), nil
}

// All iterates over all pairs of a callee and a caller, sorted by callee and then by caller.
func (t *Callers[ID]) All() iter.Seq2[ID, ID] {
	return func(yield func(callee, caller ID) bool) {
		for _, pair := range t.pairs {
			if !yield(ID(pair>>32), ID(pair)) {
				return
			}
		}
	}
}

// Of iterates over the functions into which certain functions were inlined: the callers of all
// callees whose IDs are at least start and less than end. It goes through the callees in ascending
// order. It yields a caller once for each of these callees that was inlined into it.
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
