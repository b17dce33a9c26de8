package program

import (
	"iter"
	"path"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile"
	fileindex "github.com/go-afdo/afdo/profile/index"
)

// A Program is a whole profile, with an index that finds its symbols. It may be used by many
// goroutines.
//
// The first call that searches the whole program builds tables, which later calls use. They need
// some 30 bytes for each symbol, and 8 for each function that is inlined into another.
type Program struct {
	Store Store
	Index Index

	summary *afdo.Summary // if not nil, replaces the summary of Store

	unitsByPath func() map[string][]int
	lastByBase  func() map[string]int
}

// FromProfile returns a [Program] for a profile in memory, which must not change any more.
func FromProfile(p *profile.Profile) *Program { return FromStore(NewMemory(p)) }

// FromReader returns a [Program] for a version 4 file.
func FromReader(r *afdo.Reader) (*Program, error) {
	s, err := newFile(r)
	if err != nil {
		return nil, err
	}
	return newProgram(s, newIndex(s)), nil
}

// FromStore returns a [Program] for a store. It does not use the index that the store's file may
// have.
func FromStore(s Store) *Program { return newProgram(s, &scan{store: s}) }

// newProgram returns a [Program] for a store and an index that finds the symbols in it.
func newProgram(s Store, x Index) *Program {
	p := &Program{Store: s, Index: x}
	p.unitsByPath = sync.OnceValue(func() map[string][]int {
		units := make(map[string][]int, s.NumUnits())
		for i := range s.NumUnits() {
			units[s.Path(i)] = append(units[s.Path(i)], i)
		}
		return units
	})
	p.lastByBase = sync.OnceValue(func() map[string]int {
		last := make(map[string]int)
		for i := range s.NumUnits() {
			last[path.Base(s.Path(i))] = i
		}
		return last
	})
	return p
}

// WithSummary returns the same program, but with s as the summary of the profile.
func (p *Program) WithSummary(s *afdo.Summary) *Program {
	other := *p
	other.summary = s
	return &other
}

// Summary returns the summary of the whole profile, which the caller must not change.
func (p *Program) Summary() (*afdo.Summary, error) {
	if p.summary != nil {
		return p.summary, nil
	}
	return p.Store.Summary()
}

// ByPath returns a map from the path of units to their numbers. Several units may have one path.
func (p *Program) ByPath() map[string][]int { return p.unitsByPath() }

// LastOfBase returns, for each base name of a path, the last unit that has it.
func (p *Program) LastOfBase() map[string]int { return p.lastByBase() }

// Indexed reports whether the program finds symbols by the index of a version 4 file.
func (p *Program) Indexed() bool {
	_, ok := p.Index.(*indexed)
	return ok
}

// An ID identifies a symbol of a program. It is the symbol ID of a file, or the reference of a
// profile in memory.
type ID uint32

// A Symbol is a function of a unit, or only its name if the profile has no samples of it.
type Symbol struct {
	ID      ID
	Unit    int
	Name    string
	HasInfo bool // it has samples of its own
}

// A Store gives access to the units, symbols and samples of a profile.
type Store interface {
	NumUnits() int
	NumSymbols() int // an estimate
	Path(unit int) string
	Symbols(unit int) iter.Seq2[Symbol, error]
	Symbol(id ID) (Symbol, error)

	// Function returns the samples of a symbol whose HasInfo is true. Callees in the records are
	// IDs, and the records are ordered by location and ID. The caller must not change them.
	Function(s Symbol, scratch *Scratch) (profile.Function, error)

	// Inlinings calls yield for every symbol with samples, with the functions that are inlined
	// there. A function may come twice, and callees is only valid until yield returns.
	Inlinings(yield func(caller ID, callees []ID)) error

	// Marks returns the marks of the source lines of a function, or nil if it has none. UnitSum
	// returns the checksum of the source file of a unit, or 0 if it is unknown, and whether
	// functions of the unit may have marks.
	Marks(s Symbol) (profile.Marks, error)
	UnitSum(unit int) (sum uint32, ok bool, err error)

	// Evidence returns the part of the profile's evidence that is about the given functions, or nil
	// if the profile has none.
	Evidence(functions iter.Seq[string]) (*profile.Evidence, error)

	// Summary returns the summary of the whole profile, which the caller must not change.
	Summary() (*afdo.Summary, error)
}

// A Scratch is memory that calls of [Store.Function] reuse.
type Scratch struct {
	// Transient is true if the caller reads all functions, unit by unit, and needs the records of a
	// function only until it reads the next one. Then the samples of a unit are read together, and
	// the records are not copied.
	Transient bool

	cursor afdo.Cursor
	body   profile.Body
	loaded *afdo.Unit // the unit whose functions are being read, if Transient
}

// Names is the scheme of the names in an index of a file by which slices are found. These names are
// the results of [cxx.KeyOf].
var Names = fileindex.Scheme{Name: "afdo slice 5", Unqualified: cxx.KeyOf}

// An indexed is an [Index] that uses the index of a version 4 file.
type indexed struct {
	file    *file
	program *fileindex.Program
}

// newIndex returns an [Index] for a file. It uses the index of the file if the Reader trusts it and
// it has the keys of [Names], and otherwise reads all names of the file.
func newIndex(s *file) Index {
	if x, err := fileindex.Read(s.r); err == nil && v4.FileOf(s.r).TrustsIndex() {
		if info, err := x.Info(); err == nil && info.Unqualified == Names.Name {
			return &indexed{file: s, program: fileindex.NewProgram(s.r)}
		}
	}
	return &scan{store: s} // with a damaged index, reading the file fails
}

func (x *indexed) KeyOf(cut string) string { return cxx.KeyOf(cut) }

func (x *indexed) ByCanonical(cut string, yield func(Symbol)) error {
	return x.each(x.program.Clones(cut), yield)
}

func (x *indexed) ByKeys(keys []string, wanted func(name string) bool, yield func(Symbol)) error {
	return x.each(x.program.Unqualified(keys, Names, wanted), yield)
}

func (x *indexed) ByPlainKey(key string, yield func(Symbol)) error {
	return x.ByKeys([]string{key}, cxx.IsPlain, yield)
}

// each converts symbols that the index of the file has found, and calls yield for each of them. It
// returns the first error of reading the index.
func (x *indexed) each(symbols func(func(afdo.Symbol, error) bool), yield func(Symbol)) error {
	for sym, err := range symbols {
		if err != nil {
			return err
		}
		yield(x.file.from(sym.Unit().Index(), sym))
	}
	return nil
}

// InlinedInto calls yield for every symbol into whose function a symbol of own is inlined, see
// [Index]. It leaves out the symbols that are themselves in own.
func (x *indexed) InlinedInto(own []ID, yield func(Symbol)) error {
	callees := make([]afdo.SymbolID, len(own))
	for i, id := range own {
		callees[i] = afdo.SymbolID(id)
	}
	return x.each(x.program.InlinedInto(callees), yield)
}
