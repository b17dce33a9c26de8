package program

import (
	"sync"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/symtab"
)

// An Index searches the symbols of a whole program.
type Index interface {
	// ByCanonical calls yield for every symbol with the canonical name cut, see
	// [symname.Canonical].
	ByCanonical(cut string, yield func(Symbol)) error

	// KeyOf returns the key of a canonical name, see [cxx.KeyOf].
	KeyOf(cut string) string

	// ByKeys calls yield for every symbol that has one of the keys and whose name wanted accepts.
	// It calls it once for each such key. ByPlainKey calls yield for every symbol with a key that
	// is plain, see [cxx.IsPlain].
	ByKeys(keys []string, wanted func(name string) bool, yield func(Symbol)) error
	ByPlainKey(key string, yield func(Symbol)) error

	// InlinedInto calls yield for every symbol into whose function a symbol of own is inlined. It
	// may leave out symbols that are themselves in own.
	InlinedInto(own []ID, yield func(Symbol)) error
}

// A scan is an [Index] of a program without an index. It reads all names when it is first used, and
// builds tables of them. InlinedInto reads all records when it is first called.
type scan struct {
	store Store

	once  sync.Once
	err   error
	cut   *symtab.Names[ID] // all names, by canonical name
	keys  *symtab.Names[ID] // names whose key is not the canonical name, by key
	plain *symtab.Names[ID] // those of keys that are plain, see cxx.IsPlain
	keyOf cxx.Keys

	// These are the IDs of symbols by key, for keys that many symbols have. All slices of a build
	// search for the same keys, such as those of constructors, and computing a key takes longer
	// than reading a symbol.
	common, commonPlain sync.Map // of []ID, by key

	callersOnce sync.Once
	callersErr  error
	callers     symtab.Callers[ID]
}

// names reads the names of all symbols and builds the tables of names. It does so in the first call
// only.
func (x *scan) names() error {
	x.once.Do(func() {
		x.cut, x.keys, x.plain = symtab.NewNames[ID](), symtab.NewNames[ID](), symtab.NewNames[ID]()
		for unit := range x.store.NumUnits() {
			for sym, err := range x.store.Symbols(unit) {
				if err != nil {
					x.err = err
					return
				}
				x.add(sym)
			}
		}
		x.cut.Build()
		x.keys.Build()
		x.plain.Build()
	})
	return x.err
}

// add adds a symbol to the tables of names.
func (x *scan) add(sym Symbol) {
	cut := symname.Canonical(sym.Name)
	x.cut.Add(cut, sym.ID)
	key := x.KeyOf(cut)
	if key == cut {
		return
	}
	x.keys.Add(key, sym.ID)
	if cxx.IsPlain(cut) {
		x.plain.Add(key, sym.ID)
	}
}

func (x *scan) ByCanonical(cut string, yield func(Symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	return x.lookup(x.cut, cut, func(name string) bool { return symname.Canonical(name) == cut }, yield)
}

func (x *scan) ByKeys(keys []string, wanted func(name string) bool, yield func(Symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	for _, key := range keys {
		err := x.byKeyIn(x.keys, &x.common, key, func(sym Symbol) {
			if wanted(sym.Name) {
				yield(sym)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *scan) ByPlainKey(key string, yield func(Symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	return x.byKeyIn(x.plain, &x.commonPlain, key, yield)
}

// byKeyIn calls yield for the symbols with a key. These are the symbols whose canonical name is the
// key, and the symbols that table t has for the key. If there are many, byKeyIn stores their IDs in
// common for the next search.
func (x *scan) byKeyIn(t *symtab.Names[ID], common *sync.Map, key string, yield func(Symbol)) error {
	if ids, ok := common.Load(key); ok {
		return x.yieldAll(ids.([]ID), yield)
	}
	var ids []ID
	collect := func(sym Symbol) {
		ids = append(ids, sym.ID)
		yield(sym)
	}
	err := x.lookup(x.cut, key, func(name string) bool {
		return symname.Canonical(name) == key && x.KeyOf(key) == key
	}, collect)
	if err == nil {
		err = x.lookup(t, key, func(name string) bool { return x.KeyOf(symname.Canonical(name)) == key }, collect)
	}
	if err == nil && len(ids) >= commonKey {
		common.Store(key, ids)
	}
	return err
}

// commonKey is the number of symbols with one key from which on their IDs are cached after the
// first search for the key. Fewer symbols are found fast without that.
const commonKey = 16

// yieldAll reads the symbols with the given IDs and calls yield for each.
func (x *scan) yieldAll(ids []ID, yield func(Symbol)) error {
	for _, id := range ids {
		sym, err := x.store.Symbol(id)
		if err != nil {
			return err
		}
		yield(sym)
	}
	return nil
}

// lookup calls yield for the symbols that table t has for a key and whose names fits accepts. A
// table stores only hashes of keys, so it may return symbols with another key, which fits has to
// reject.
func (x *scan) lookup(t *symtab.Names[ID], key string, fits func(name string) bool, yield func(Symbol)) error {
	for id := range t.Candidates(key) {
		sym, err := x.store.Symbol(id)
		if err != nil {
			return err
		}
		if fits(sym.Name) {
			yield(sym)
		}
	}
	return nil
}

// KeyOf returns the key of a canonical name, see [cxx.KeyOf].
func (x *scan) KeyOf(cut string) string { return x.keyOf.Of(cut) }

func (x *scan) InlinedInto(own []ID, yield func(Symbol)) error {
	x.callersOnce.Do(func() { x.callersErr = x.readCallers() })
	if x.callersErr != nil {
		return x.callersErr
	}
	var seen IDSet
	var callers []ID
	for _, id := range own {
		for caller := range x.callers.Of(uint64(id), uint64(id)+1) {
			if seen.Add(caller) {
				callers = append(callers, caller)
			}
		}
	}
	return x.yieldAll(callers, yield)
}

// readCallers builds the table of which functions are inlined into which, from all records.
func (x *scan) readCallers() error {
	err := x.store.Inlinings(x.callers.Add)
	x.callers.Build()
	return err
}

// An IDSet is a set of symbol IDs. It stores them as bits, in pages, because most IDs are close to
// each other although they may be anywhere in 32 bits. The zero value is empty.
type IDSet struct {
	pages map[ID]*[pageIDs / 64]uint64
	last  *[pageIDs / 64]uint64 // the page used last
	page  ID                    // its number
}

// pageIDs is the number of IDs in a page of an [IDSet].
const pageIDs = 1 << 12

// Has reports whether the set contains an ID.
func (s *IDSet) Has(id ID) bool {
	p := s.find(id / pageIDs)
	return p != nil && p[id%pageIDs/64]&(1<<(id%64)) != 0
}

// Add adds an ID and reports whether it is new.
func (s *IDSet) Add(id ID) bool {
	p := s.find(id / pageIDs)
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[ID]*[pageIDs / 64]uint64)
		}
		p = new([pageIDs / 64]uint64)
		s.pages[id/pageIDs] = p
		s.last, s.page = p, id/pageIDs
	}
	word, bit := &p[id%pageIDs/64], uint64(1)<<(id%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// find returns a page of the set, or nil if no ID of the page is in the set.
func (s *IDSet) find(page ID) *[pageIDs / 64]uint64 {
	if s.last == nil || s.page != page {
		p := s.pages[page]
		if p == nil {
			return nil
		}
		s.last, s.page = p, page
	}
	return s.last
}
