package program

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/profile"
	fileindex "github.com/go-afdo/afdo/profile/index"
)

// A Program is a whole profile and what finds symbols in it. It may be used by many
// goroutines.
//
// It keeps what questions about the whole program need once one has been asked: some 30 bytes a
// symbol for the names, and 8 for each function inlined into another.
type Program struct {
	Store Store
	Index Index

	summary *afdo.Summary // instead of the store's, unless nil

	unitsByPath func() map[string][]int
	lastByBase  func() map[string]int
}

// FromProfile returns the program of a profile in memory.
func FromProfile(p *profile.Profile) *Program {
	s := NewMemory(p)
	return newProgram(s, &scan{store: s})
}

// FromReader returns the program of a version 4 file.
func FromReader(r *afdo.Reader) (*Program, error) {
	s, err := newFile(r)
	if err != nil {
		return nil, err
	}
	return newProgram(s, newIndex(s)), nil
}

// FromStore returns the program of a store without an index.
func FromStore(s Store) *Program { return newProgram(s, &scan{store: s}) }

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

// WithSummary returns the same program with another summary.
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

// ByPath returns the units of each path.
func (p *Program) ByPath() map[string][]int { return p.unitsByPath() }

// LastOfBase returns the last unit of each last element of a path.
func (p *Program) LastOfBase() map[string]int { return p.lastByBase() }

// Indexed reports whether it goes by the index that a file brings along.
func (p *Program) Indexed() bool {
	_, ok := p.Index.(*indexed)
	return ok
}

// An ID names a symbol of a program: the symbol ID of a file, or the
// reference of a profile in memory.
type ID uint32

// A Symbol is a name in a unit.
type Symbol struct {
	ID      ID
	Unit    int
	Name    string
	HasInfo bool // it has samples of its own
}

// A Store has the units, names and samples of a profile.
type Store interface {
	NumUnits() int
	NumSymbols() int // an estimate
	Path(unit int) string
	Symbols(unit int) iter.Seq2[Symbol, error]
	Symbol(id ID) (Symbol, error)

	// Function returns the samples of a symbol that has them. The callees of the
	// records are IDs, and the records are canonical with these. They must not be changed.
	Function(s Symbol, scratch *Scratch) (profile.Function, error)

	// Inlinings calls yield for every symbol with samples, with the functions
	// inlined there, which may come twice and are the store's again when yield returns.
	Inlinings(yield func(caller ID, callees []ID)) error

	// Marks returns the marks of the lines of a symbol's function, or nil if there are none.
	// UnitSum returns the sum of the file of a unit, or 0 if it is unknown, and whether its
	// functions may have marks.
	Marks(s Symbol) (profile.Marks, error)
	UnitSum(unit int) (sum uint32, ok bool, err error)

	// Evidence returns the evidence about some functions, or nil if the profile has none.
	Evidence(functions iter.Seq[string]) (*profile.Evidence, error)

	// Summary returns the summary of the whole profile, which the caller must not change.
	Summary() (*afdo.Summary, error)
}

// A Scratch is memory that reading functions one after the other shares.
type Scratch struct {
	// Transient is true if the caller reads all functions, unit by unit, and needs the records of a
	// function only until it reads the next one. Then the samples of a unit are read together, and
	// the records are not copied.
	Transient bool

	cursor afdo.Cursor
	body   profile.Body
	loaded *afdo.Unit // the unit whose functions are being read, if Transient
}

// Names is how an index that helps slices has the names of functions.
var Names = fileindex.Scheme{Name: "afdo slice 5", Unqualified: cxx.KeyOf}

// An indexed is the index that a version 4 file brings along.
type indexed struct {
	file    *file
	program *fileindex.Program
}

// newIndex returns the index that a file brings along if the Reader trusts it and it has what
// slices ask for, and a scan if not.
func newIndex(s *file) Index {
	if x, err := fileindex.Read(s.r); err == nil && x.Trusted() {
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

func (x *indexed) each(symbols func(func(afdo.Symbol, error) bool), yield func(Symbol)) error {
	for sym, err := range symbols {
		if err != nil {
			return err
		}
		yield(x.file.from(sym.Unit().Index(), sym))
	}
	return nil
}

// InlinedInto leaves out the own symbols themselves.
func (x *indexed) InlinedInto(own []ID, yield func(Symbol)) error {
	callees := make([]afdo.SymbolID, len(own))
	for i, id := range own {
		callees[i] = afdo.SymbolID(id)
	}
	return x.each(x.program.InlinedInto(callees), yield)
}

// A Memory is a profile in memory.
type Memory struct {
	p      *profile.Profile
	byUnit func() []profile.SymbolRef // by unit
	starts []int                      // where the symbols of a unit begin there

	summarize func() *afdo.Summary
}

func NewMemory(p *profile.Profile) *Memory {
	s := &Memory{p: p}
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
func (s *Memory) sortByUnit() []profile.SymbolRef {
	s.starts = make([]int, s.p.NumUnits()+1)
	for i := range s.p.NumSymbols() {
		s.starts[s.p.SymbolUnit(profile.SymbolRef(i))+1]++
	}
	for i := range s.p.NumUnits() {
		s.starts[i+1] += s.starts[i]
	}
	next := append([]int(nil), s.starts...)
	sorted := make([]profile.SymbolRef, s.p.NumSymbols())
	for i := range sorted {
		at := &next[s.p.SymbolUnit(profile.SymbolRef(i))]
		sorted[*at] = profile.SymbolRef(i)
		*at++
	}
	return sorted
}

func (s *Memory) NumUnits() int        { return s.p.NumUnits() }
func (s *Memory) NumSymbols() int      { return s.p.NumSymbols() }
func (s *Memory) Path(unit int) string { return s.p.UnitPath(profile.UnitRef(unit)) }

func (s *Memory) Symbols(unit int) iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		sorted := s.byUnit()
		for _, ref := range sorted[s.starts[unit]:s.starts[unit+1]] {
			if !yield(s.at(ref), nil) {
				return
			}
		}
	}
}

func (s *Memory) at(ref profile.SymbolRef) Symbol {
	return Symbol{
		ID:      ID(ref),
		Unit:    int(s.p.SymbolUnit(ref)),
		Name:    s.p.SymbolName(ref),
		HasInfo: s.p.Function(ref) != nil,
	}
}

func (s *Memory) Symbol(id ID) (Symbol, error) { return s.at(profile.SymbolRef(id)), nil }

func (s *Memory) Function(sym Symbol, _ *Scratch) (profile.Function, error) {
	return *s.p.Function(profile.SymbolRef(sym.ID)), nil
}

func (s *Memory) Marks(sym Symbol) (profile.Marks, error) {
	return s.p.Marks(profile.SymbolRef(sym.ID)), nil
}

func (s *Memory) UnitSum(unit int) (sum uint32, ok bool, err error) {
	return s.p.UnitSum(profile.UnitRef(unit)), s.p.HasMarks(), nil
}

func (s *Memory) Inlinings(yield func(ID, []ID)) error {
	var callees []ID
	for ref, f := range s.p.Functions() {
		callees = callees[:0]
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == profile.KindInlined {
				callees = append(callees, ID(r.Callee))
			}
		}
		yield(ID(ref), callees)
	}
	return nil
}

func (s *Memory) Evidence(functions iter.Seq[string]) (*profile.Evidence, error) {
	if e := s.p.Evidence(); e != nil {
		return e.Of(functions), nil
	}
	return nil, nil
}

func (s *Memory) Summary() (*afdo.Summary, error) { return s.summarize(), nil }

// A file is a version 4 file. It keeps its units, and so the names and
// samples that have been read of them.
type file struct {
	r     *afdo.Reader
	units []*afdo.Unit
	byID  []int // the units that have symbols, by ascending ID
	ids   int64 // number of IDs in the ranges of all units

	budget  *budget.Budget
	sources sources
}

func newFile(r *afdo.Reader) (*file, error) {
	s := &file{r: r, budget: budget.New(r.Size())}
	n, err := r.NumUnits()
	if err != nil {
		return nil, err
	}
	s.units = make([]*afdo.Unit, 0, n)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		if start, end := u.IDs(); start < end {
			s.byID = append(s.byID, len(s.units))
			s.ids += int64(end - start)
		}
		s.units = append(s.units, u)
	}
	slices.SortFunc(s.byID, func(a, b int) int {
		start, _ := s.units[a].IDs()
		other, _ := s.units[b].IDs()
		return cmp.Compare(start, other)
	})
	return s, nil
}

func (s *file) NumUnits() int        { return len(s.units) }
func (s *file) Path(unit int) string { return s.units[unit].Path() }

// NumSymbols returns the number of symbol IDs, which is usually the number of symbols. It returns
// at most one for 16 bytes of the file, so that a file with large ranges of IDs does not cause a
// large allocation.
func (s *file) NumSymbols() int { return int(min(s.ids, s.r.Size()/16)) }

func (s *file) Symbols(unit int) iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		for sym, err := range s.units[unit].Symbols() {
			if err == nil {
				err = s.budget.Name(sym.Name())
			}
			if !yield(s.from(unit, sym), err) || err != nil {
				return
			}
		}
	}
}

func (s *file) from(unit int, sym afdo.Symbol) Symbol {
	return Symbol{ID: ID(sym.ID()), Unit: unit, Name: sym.Name(), HasInfo: sym.HasInfo()}
}

func (s *file) Symbol(id ID) (Symbol, error) {
	unit, ok := s.owner(id)
	if !ok {
		return Symbol{}, fmt.Errorf("slice: symbol ID %d: %w", id, afdo.ErrNotFound)
	}
	sym, err := s.units[unit].SymbolByID(afdo.SymbolID(id))
	if err != nil {
		return Symbol{}, err
	}
	return s.from(unit, sym), nil
}

// owner returns the unit whose range holds an ID.
func (s *file) owner(id ID) (unit int, ok bool) {
	i, _ := slices.BinarySearchFunc(s.byID, afdo.SymbolID(id), func(unit int, id afdo.SymbolID) int {
		if _, end := s.units[unit].IDs(); end <= id {
			return -1
		}
		return +1
	})
	if i == len(s.byID) {
		return 0, false
	}
	start, _ := s.units[s.byID[i]].IDs()
	return s.byID[i], uint32(start) <= uint32(id)
}

// info returns the samples of a symbol.
func (s *file) info(sym afdo.Symbol) (afdo.Info, error) {
	info, err := sym.Info()
	if err != nil {
		return afdo.Info{}, err
	}
	return info, s.budget.Samples(info)
}

func (s *file) Function(sym Symbol, scratch *Scratch) (profile.Function, error) {
	f, err := s.read(sym, scratch)
	if err != nil {
		return profile.Function{}, s.at(s.Path(sym.Unit), sym.Name, err)
	}
	return f, nil
}

func (s *file) read(sym Symbol, scratch *Scratch) (profile.Function, error) {
	u := s.units[sym.Unit]
	if scratch.Transient && scratch.loaded != u {
		scratch.loaded = u
		_ = u.Load() // reading the samples one by one returns the error again
	}
	at, err := u.SymbolByID(afdo.SymbolID(sym.ID))
	if err != nil {
		return profile.Function{}, err
	}
	info, err := s.info(at)
	if err != nil {
		return profile.Function{}, err
	}
	if err := scratch.body.Load(info, &scratch.cursor, sameID); err != nil {
		return profile.Function{}, err
	}
	f := profile.Function{HeadCount: info.HeadCount, Timestamp: info.Timestamp, Records: scratch.body.Records()}
	if !scratch.Transient {
		f.Records = slices.Clone(f.Records)
	}
	return f, nil
}

// at says where an error is.
func (s *file) at(path, name string, err error) error {
	return fmt.Errorf("slice: unit %q, symbol %q: %w", path, name, err)
}

// sameID takes the IDs of a file as they are.
func sameID(id afdo.SymbolID) (profile.SymbolRef, bool) { return profile.SymbolRef(id), true }

// Inlinings reads the units one after the other and keeps none of them.
func (s *file) Inlinings(yield func(ID, []ID)) error {
	var c afdo.Cursor
	var callees []ID
	for u, err := range s.r.Units() {
		if err == nil {
			err = u.Load()
		}
		if err != nil {
			return err
		}
		for sym, err := range u.Symbols() {
			if err != nil {
				return err
			}
			if !sym.HasInfo() {
				continue
			}
			info, err := s.info(sym)
			if err != nil {
				return s.at(u.Path(), sym.Name(), err)
			}
			callees = callees[:0]
			for c.Reset(info); c.Next(); {
				if at := c.Location(); at.Type == afdo.LocationInlinedFn {
					callees = append(callees, ID(at.Callee))
				}
			}
			if err := c.Err(); err != nil {
				return s.at(u.Path(), sym.Name(), err)
			}
			yield(ID(sym.ID()), callees)
		}
	}
	return nil
}

func (s *file) Evidence(functions iter.Seq[string]) (*profile.Evidence, error) {
	table, err := profile.ReadEvidence(s.r)
	if errors.Is(err, afdo.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return table.Of(functions)
}

func (s *file) Summary() (*afdo.Summary, error) { return s.r.Summary() }

// sources is what a file remembers of its sources, decoded by units as they are asked for.
type sources struct {
	mu     sync.Mutex
	opened bool
	file   *profile.Sources // nil if there is nothing
	units  map[int]map[ID]profile.Marks
}

// open opens the section of a file, nil if it has none of use.
func (s *sources) open(r *afdo.Reader) (*profile.Sources, error) {
	if s.opened {
		return s.file, nil
	}
	found, err := profile.ReadSources(r)
	if err != nil && !errors.Is(err, afdo.ErrNotFound) && !errors.Is(err, profile.ErrOtherSources) {
		return nil, err
	}
	s.opened, s.file, s.units = true, found, make(map[int]map[ID]profile.Marks)
	return found, nil
}

func (s *file) Marks(sym Symbol) (profile.Marks, error) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	section, err := s.sources.open(s.r)
	if section == nil {
		return nil, err
	}
	marks := s.sources.units[sym.Unit]
	if marks == nil {
		marks = make(map[ID]profile.Marks)
		if _, err := section.Unit(s.units[sym.Unit], func(id afdo.SymbolID, m profile.Marks) { marks[ID(id)] = m }); err != nil {
			return nil, err
		}
		s.sources.units[sym.Unit] = marks
	}
	return marks[sym.ID], nil
}

func (s *file) UnitSum(unit int) (sum uint32, ok bool, err error) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	section, err := s.sources.open(s.r)
	if section == nil {
		return 0, false, err
	}
	sum, ok = section.Sum(s.units[unit])
	return sum, ok, nil
}
