package slice

import (
	"iter"
	"path"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A Program is a whole profile of which slices are taken. Its methods may be
// called from many goroutines.
//
// It keeps what questions about the whole program need once somebody has
// asked one: some 30 bytes a symbol for the names, and 8 for each function
// inlined into another.
type Program struct {
	source source
	index  index
	byPath func() map[string][]int // the units of each path

	lastOfBase func() map[string]int // the last unit of each last path element

	demands *demands // nil where a slice or two are all that is taken
}

// FromProfile returns the program of a profile in memory, which must not change any more.
func FromProfile(p *profile.Profile) *Program {
	s := newProfileSource(p)
	program := newProgram(s, &scan{source: s})
	program.demands = new(demands)
	return program
}

// FromReader returns the program of a version 4 file. Of the records it reads
// those that a slice holds, and for [Version3] all; of the names all, once.
// The Reader stays the caller's to close.
func FromReader(r *afdo.Reader) (*Program, error) {
	s, err := newReaderSource(r)
	if err != nil {
		return nil, err
	}
	return newProgram(s, newIndex(s)), nil
}

func newProgram(s source, x index) *Program {
	byPath := func() map[string][]int {
		units := make(map[string][]int, s.numUnits())
		for i := range s.numUnits() {
			units[s.path(i)] = append(units[s.path(i)], i)
		}
		return units
	}
	lastOfBase := func() map[string]int {
		last := make(map[string]int)
		for i := range s.numUnits() {
			last[path.Base(s.path(i))] = i
		}
		return last
	}
	return &Program{source: s, index: x, byPath: sync.OnceValue(byPath), lastOfBase: sync.OnceValue(lastOfBase)}
}

// Units iterates over the paths of the program's units, those of symbols with unknown file left
// out.
func (p *Program) Units() iter.Seq[string] {
	return func(yield func(string) bool) {
		for unit := range p.source.numUnits() {
			if path := p.source.path(unit); path != "" && !yield(path) {
				return
			}
		}
	}
}

// A symbolID names a symbol of a program: the symbol ID of a file, or the
// reference of a profile in memory.
type symbolID uint32

// A symbol is a name in a unit.
type symbol struct {
	id   symbolID
	unit int
	name string
	info bool // it has samples of its own
}

// A source is where a program's units and records come from.
type source interface {
	numUnits() int
	path(unit int) string
	symbols(unit int) iter.Seq2[symbol, error]
	symbol(id symbolID) (symbol, error)

	// function returns the samples of a symbol that has them. The callees of the
	// records are symbolIDs, and the records are canonical with these. They must not be changed.
	function(s symbol, scratch *scratch) (profile.Function, error)

	// inlinings calls yield for every symbol with samples, with the functions
	// inlined there, which may come twice and are the source's again when yield returns.
	inlinings(yield func(caller symbolID, callees []symbolID)) error

	// summary returns the summary of the whole profile, which the caller must not change.
	summary() (*afdo.Summary, error)
}

// A scratch is memory that reading functions one after the other shares.
type scratch struct {
	cursor afdo.Cursor
	body   profile.Body
}

// A profileSource is a profile in memory.
type profileSource struct {
	p      *profile.Profile
	byUnit func() []profile.SymbolRef // by unit
	starts []int                      // where the symbols of a unit begin there

	summarize func() *afdo.Summary
}

func newProfileSource(p *profile.Profile) *profileSource {
	s := &profileSource{p: p}
	s.byUnit = sync.OnceValue(s.sortByUnit)
	s.summarize = sync.OnceValue(func() *afdo.Summary {
		if p.Summary != nil {
			return p.Summary
		}
		return p.Summarize()
	})
	return s
}

// sortByUnit orders all symbols by their unit.
func (s *profileSource) sortByUnit() []profile.SymbolRef {
	s.starts = make([]int, s.p.NumFiles()+1)
	for i := range s.p.NumSymbols() {
		s.starts[s.p.SymbolFile(profile.SymbolRef(i))+1]++
	}
	for i := range s.p.NumFiles() {
		s.starts[i+1] += s.starts[i]
	}
	next := append([]int(nil), s.starts...)
	sorted := make([]profile.SymbolRef, s.p.NumSymbols())
	for i := range sorted {
		at := &next[s.p.SymbolFile(profile.SymbolRef(i))]
		sorted[*at] = profile.SymbolRef(i)
		*at++
	}
	return sorted
}

func (s *profileSource) numUnits() int        { return s.p.NumFiles() }
func (s *profileSource) path(unit int) string { return s.p.FilePath(profile.FileRef(unit)) }

func (s *profileSource) symbols(unit int) iter.Seq2[symbol, error] {
	return func(yield func(symbol, error) bool) {
		sorted := s.byUnit()
		for _, ref := range sorted[s.starts[unit]:s.starts[unit+1]] {
			if !yield(s.at(ref), nil) {
				return
			}
		}
	}
}

func (s *profileSource) at(ref profile.SymbolRef) symbol {
	return symbol{
		id:   symbolID(ref),
		unit: int(s.p.SymbolFile(ref)),
		name: s.p.SymbolName(ref),
		info: s.p.Function(ref) != nil,
	}
}

func (s *profileSource) symbol(id symbolID) (symbol, error) { return s.at(profile.SymbolRef(id)), nil }

func (s *profileSource) function(sym symbol, _ *scratch) (profile.Function, error) {
	return *s.p.Function(profile.SymbolRef(sym.id)), nil
}

func (s *profileSource) inlinings(yield func(symbolID, []symbolID)) error {
	var callees []symbolID
	for ref, f := range s.p.Functions() {
		callees = callees[:0]
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == profile.KindInlined {
				callees = append(callees, symbolID(r.Callee))
			}
		}
		yield(symbolID(ref), callees)
	}
	return nil
}

func (s *profileSource) summary() (*afdo.Summary, error) { return s.summarize(), nil }
