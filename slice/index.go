package slice

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/canonical"
)

// An index answers what a slice asks of the whole program.
type index interface {
	// byCanonical calls yield for every symbol whose name, cut at its first '.', is cut.
	byCanonical(cut string, yield func(symbol)) error

	// byKey calls yield for every symbol that keyOf gives a key.
	byKey(key string, yield func(symbol)) error

	// inlinedInto calls yield for every symbol with a function inlined into its samples that is
	// in own. It may leave out those that are in own themselves.
	inlinedInto(own []symbolID, yield func(symbol)) error
}

// A scan is the index of a program that brings none: it goes through all
// names, and for inlinedInto through all records, when it is first asked.
type scan struct {
	source source

	once sync.Once
	err  error
	seed maphash.Seed
	cut  nameTable // all names, by cut name
	keys nameTable // by key, where that is not the cut name

	callersOnce sync.Once
	callersErr  error
	callers     callerTable
}

// names goes through all names, once.
func (x *scan) names() error {
	x.once.Do(func() {
		x.seed = maphash.MakeSeed()
		for unit := range x.source.numUnits() {
			for sym, err := range x.source.symbols(unit) {
				if err != nil {
					x.err = err
					return
				}
				x.add(sym)
			}
		}
		x.cut.build()
		x.keys.build()
	})
	return x.err
}

func (x *scan) add(sym symbol) {
	cut := canonical.Name(sym.name)
	x.cut.add(x.hash(cut), sym.id)
	if key := keyOf(cut); key != cut {
		x.keys.add(x.hash(key), sym.id)
	}
}

func (x *scan) hash(name string) uint64 { return maphash.String(x.seed, name) }

func (x *scan) byCanonical(cut string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	return x.lookup(&x.cut, cut, canonical.Name, yield)
}

func (x *scan) byKey(key string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	err := x.lookup(&x.cut, key, canonical.Name, func(sym symbol) {
		if keyOf(sym.name) == key {
			yield(sym)
		}
	})
	if err != nil {
		return err
	}
	return x.lookup(&x.keys, key, keyOf, func(sym symbol) {
		if canonical.Name(sym.name) != key {
			yield(sym)
		}
	})
}

// lookup yields the symbols of a table whose key is the one given.
func (x *scan) lookup(t *nameTable, key string, keyOf func(name string) string, yield func(symbol)) error {
	for id := range t.ids(x.hash(key)) {
		sym, err := x.source.symbol(id)
		if err != nil {
			return err
		}
		if keyOf(sym.name) == key {
			yield(sym)
		}
	}
	return nil
}

func (x *scan) inlinedInto(own []symbolID, yield func(symbol)) error {
	x.callersOnce.Do(func() { x.callersErr = x.callers.read(x.source) })
	if x.callersErr != nil {
		return x.callersErr
	}
	var seen idSet
	var callers []symbolID
	for _, id := range own {
		x.callers.of(id, func(caller symbolID) {
			if seen.add(caller) {
				callers = append(callers, caller)
			}
		})
	}
	for _, id := range callers {
		sym, err := x.source.symbol(id)
		if err != nil {
			return err
		}
		yield(sym)
	}
	return nil
}

// A nameTable finds symbols by the hash of something in their name.
type nameTable struct {
	entries []nameEntry
	heads   []uint32 // the first entry of a hash, counted from 1
}

type nameEntry struct {
	hash uint32
	id   symbolID
	next uint32 // counted from 1
}

func (t *nameTable) add(hash uint64, id symbolID) {
	t.entries = append(t.entries, nameEntry{hash: uint32(hash), id: id})
}

// build makes the table ready for questions.
func (t *nameTable) build() {
	if len(t.entries) == 0 {
		return
	}
	t.heads = make([]uint32, 1<<bits.Len(uint(len(t.entries))))
	for i := len(t.entries) - 1; i >= 0; i-- { // so that entries of a hash keep their order
		e := &t.entries[i]
		head := &t.heads[e.hash&uint32(len(t.heads)-1)]
		e.next, *head = *head, uint32(i+1)
	}
}

// ids iterates over the symbols of a hash, and now and then over one of another.
func (t *nameTable) ids(hash uint64) func(yield func(symbolID) bool) {
	return func(yield func(symbolID) bool) {
		if len(t.heads) == 0 {
			return
		}
		for i := t.heads[uint32(hash)&uint32(len(t.heads)-1)]; i != 0; i = t.entries[i-1].next {
			if e := &t.entries[i-1]; e.hash == uint32(hash) && !yield(e.id) {
				return
			}
		}
	}
}

func (t *nameTable) has(hash uint64) bool {
	for range t.ids(hash) {
		return true
	}
	return false
}

// A callerTable lists, for each function that was inlined anywhere, the
// functions with samples into which it was.
type callerTable struct {
	pairs []uint64 // callee and caller, 32 bits each, in order
}

func (t *callerTable) read(s source) error {
	err := s.inlinings(func(caller symbolID, callees []symbolID) {
		slices.Sort(callees)
		for _, callee := range slices.Compact(callees) {
			t.pairs = append(t.pairs, uint64(callee)<<32|uint64(caller))
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(t.pairs)
	return nil
}

// of calls yield for the callers of a callee.
func (t *callerTable) of(callee symbolID, yield func(symbolID)) {
	first, _ := slices.BinarySearch(t.pairs, uint64(callee)<<32)
	for _, pair := range t.pairs[first:] {
		if symbolID(pair>>32) != callee {
			return
		}
		yield(symbolID(pair))
	}
}
