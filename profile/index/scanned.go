package index

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/symtab"
)

// A scanned finds symbols for a [Program] without an index, see [candidates]. It searches the file,
// and keeps tables of what it finds for later lookups.
type scanned struct {
	r *afdo.Reader

	mu       sync.Mutex
	searches int // number of searches through the names of all units
	names    *symtab.Names[afdo.SymbolID]
	besides  map[string]*symtab.Names[afdo.SymbolID] // by name of the scheme: unqualified names that differ from the canonical name
	callers  *symtab.Callers[afdo.SymbolID]
}

// scanAfter is the number of searches through the encoded names of all units before a table of all
// names is built. Measured for 3,000 units: 14 ms per search, about 50 ms for the table.
const scanAfter = 3

func (f *scanned) named(canonicalName string) ([]afdo.SymbolID, error) {
	f.mu.Lock()
	f.searches++
	once := f.names == nil && f.searches <= scanAfter
	f.mu.Unlock()
	if once {
		return f.search(canonicalName)
	}
	t, err := f.nameTable()
	if err != nil {
		return nil, err
	}
	return appendAll(nil, t, canonicalName), nil
}

func (f *scanned) unqualified(names []string, scheme Scheme) ([]afdo.SymbolID, error) {
	canonicals, err := f.nameTable()
	if err != nil {
		return nil, err
	}
	besides, err := f.schemeTable(scheme)
	if err != nil {
		return nil, err
	}
	var ids []afdo.SymbolID
	for _, name := range names {
		ids = appendAll(appendAll(ids, canonicals, name), besides, name)
	}
	return ids, nil
}

func appendAll(ids []afdo.SymbolID, t *symtab.Names[afdo.SymbolID], key string) []afdo.SymbolID {
	return slices.AppendSeq(ids, t.Candidates(key))
}

// search returns the IDs of the symbols with a canonical name. It searches the encoded symbol names
// of all units and builds no table.
func (f *scanned) search(canonicalName string) ([]afdo.SymbolID, error) {
	var ids []afdo.SymbolID
	seen := sharing{sharedBudget: newSharedBudget(f.r), r: f.r, seen: make([]bool, f.r.NumSections())}
	for u, err := range f.r.Units() {
		if err != nil {
			return nil, err
		}
		if err := seen.tables(u); err != nil {
			return nil, err
		}
		for s, err := range u.Clones(canonicalName) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, s.ID())
		}
	}
	return ids, nil
}

// nameTable returns the table of all symbols by canonical name. The first call builds it.
func (f *scanned) nameTable() (*symtab.Names[afdo.SymbolID], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		t, err := f.newTable(func(name string) (string, bool) { return symname.Canonical(name), true })
		if err != nil {
			return nil, err
		}
		f.names = t
	}
	return f.names, nil
}

// schemeTable returns the table of the unqualified names in a scheme. The first call builds it.
func (f *scanned) schemeTable(scheme Scheme) (*symtab.Names[afdo.SymbolID], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.besides[scheme.Name]; t != nil {
		return t, nil
	}
	t, err := f.newTable(scheme.key)
	if err != nil {
		return nil, err
	}
	if f.besides == nil {
		f.besides = make(map[string]*symtab.Names[afdo.SymbolID])
	}
	f.besides[scheme.Name] = t
	return t, nil
}

func (f *scanned) newTable(keyOf func(name string) (key string, ok bool)) (*symtab.Names[afdo.SymbolID], error) {
	t := symtab.NewNames[afdo.SymbolID]()
	err := eachSymbol(f.r, func(s afdo.Symbol) {
		if key, ok := keyOf(s.Name()); ok {
			t.Add(key, s.ID())
		}
	})
	if err != nil {
		return nil, err
	}
	t.Build()
	return t, nil
}

// eachSymbol calls visit for each symbol of a file, unit by unit in the order of the file.
func eachSymbol(r *afdo.Reader, visit func(afdo.Symbol)) error {
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		for s, err := range u.Symbols() {
			if err != nil {
				return err
			}
			visit(s)
		}
	}
	return nil
}

func (f *scanned) inlinedInto(callees []afdo.SymbolID) ([]afdo.SymbolID, error) {
	t, err := f.callerTable()
	if err != nil {
		return nil, err
	}
	var ids []afdo.SymbolID
	for _, callee := range callees {
		ids = slices.AppendSeq(ids, t.Of(uint64(callee), uint64(callee)+1))
	}
	return ids, nil
}

// callerLists iterates over the table of callers. The first value is the ID of a function that was
// inlined somewhere. The second value has the IDs of the functions into which it was inlined.
func callerLists(t *symtab.Callers[afdo.SymbolID]) iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		var callers []uint32
		last := afdo.SymbolID(0)
		for callee, caller := range t.All() {
			if callee != last && len(callers) > 0 {
				if !yield(uint32(last), callers) {
					return
				}
				callers = callers[:0]
			}
			last, callers = callee, append(callers, uint32(caller))
		}
		if len(callers) > 0 {
			yield(uint32(last), callers)
		}
	}
}

// callerTable returns a table of the functions into which each function was inlined. The first call
// builds it from all samples.
func (f *scanned) callerTable() (*symtab.Callers[afdo.SymbolID], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.callers != nil {
		return f.callers, nil
	}
	t := new(symtab.Callers[afdo.SymbolID])
	b := newSharedBudget(f.r)
	var c afdo.Cursor
	var callees []afdo.SymbolID
	for u, err := range f.r.Units() {
		if err == nil {
			err = u.Load()
		}
		if err != nil {
			return nil, err
		}
		for s, err := range u.Symbols() {
			if err != nil {
				return nil, err
			}
			if !s.HasInfo() {
				continue
			}
			callees = callees[:0]
			err := b.walk(&c, s, func(callee afdo.SymbolID) bool {
				callees = append(callees, callee)
				return true
			})
			if err != nil {
				return nil, err
			}
			t.Add(s.ID(), callees)
		}
	}
	t.Build()
	f.callers = t
	return t, nil
}

// loadFrom is the number of functions in a unit above which reading all samples of the unit at once
// is cheaper than reading those functions one by one.
const loadFrom = 8

// inlining returns those symbols into which at least one of the callees was inlined. It leaves out
// the callees themselves. symbols and callees must be sorted by ID.
func inlining(r *afdo.Reader, symbols []afdo.Symbol, callees []afdo.SymbolID) ([]afdo.Symbol, error) {
	isCallee := func(id afdo.SymbolID) bool {
		_, ok := slices.BinarySearch(callees, id)
		return ok
	}
	symbols = slices.DeleteFunc(symbols, func(s afdo.Symbol) bool { return !s.HasInfo() || isCallee(s.ID()) })
	b := newSharedBudget(r)
	var c afdo.Cursor
	var found []afdo.Symbol
	for i, s := range symbols {
		if first := i == 0 || symbols[i-1].Unit() != s.Unit(); first && i+loadFrom < len(symbols) && symbols[i+loadFrom].Unit() == s.Unit() {
			if err := s.Unit().Load(); err != nil {
				return nil, err
			}
		}
		inlines := false
		err := b.walk(&c, s, func(callee afdo.SymbolID) bool {
			inlines = isCallee(callee)
			return !inlines
		})
		if err != nil {
			return nil, err
		}
		if inlines {
			found = append(found, s)
		}
	}
	return found, nil
}

// A sharedBudget limits how many bytes of sections a search of the file may read. In a valid file
// every section belongs to one unit or symbol. A file exceeds the limit only if many units or
// symbols refer to the same sections.
type sharedBudget struct{ left int64 }

const (
	freeShared    = 64 << 20
	sharedPerByte = 4 // allowed bytes per byte of the file
)

func newSharedBudget(r *afdo.Reader) *sharedBudget {
	return &sharedBudget{freeShared + sharedPerByte*min(r.Size(), math.MaxInt64/(2*sharedPerByte))}
}

func (b *sharedBudget) spend(bytes int64) error {
	if b.left -= bytes; b.left < 0 {
		return fmt.Errorf("index: units or symbols share sections so often that together they are many times the file: %w", afdo.ErrLimit)
	}
	return nil
}

// walk calls visit with the ID of each function that was inlined into a symbol, until visit returns
// false. It subtracts the size of the symbol's section from the budget. c is a cursor to reuse.
func (b *sharedBudget) walk(c *afdo.Cursor, s afdo.Symbol, visit func(callee afdo.SymbolID) bool) error {
	info, err := s.Info()
	if err == nil {
		err = b.spend(info.Section().Size)
	}
	if err != nil {
		return err
	}
	for c.Reset(info); c.Next(); {
		if l := c.Location(); l.Type == afdo.LocationInlinedFn && !visit(l.Callee) {
			return nil
		}
	}
	return c.Err()
}

// A sharing limits how many bytes of string tables and symbol names a search of the file reads. The
// first read of a section is free. Reading it again for another unit counts against the budget.
type sharing struct {
	*sharedBudget
	r    *afdo.Reader
	seen []bool // by section index: the section was read for an earlier unit
}

func (s *sharing) tables(u *afdo.Unit) error {
	strings, symbols := u.SectionIndexes()
	for _, index := range []int{strings, symbols} {
		if index < 0 || index >= len(s.seen) {
			continue // reading the unit gives the error
		}
		if !s.seen[index] {
			s.seen[index] = true
			continue
		}
		section, err := s.r.Section(index)
		if err == nil {
			err = s.spend(section.Size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
