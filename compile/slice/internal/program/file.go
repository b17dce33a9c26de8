package program

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/profile"
)

// A file is a [Store] that reads a version 4 file. It keeps the units of the file in memory, and
// with each unit the names and samples that were read.
type file struct {
	r     *afdo.Reader
	units []*afdo.Unit
	byID  []int // units that have symbols, ordered by symbol ID
	ids   int64 // number of symbol IDs in the ranges of all units

	budget  *budget.Budget
	sources sources
}

// newFile returns a [file], by which the program reads a version 4 file. At once it reads only the
// range of symbol IDs of each unit.
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

// from converts a symbol that the Reader of the file has returned to a [Symbol] of this package.
// unit is the number of the symbol's unit.
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

// owner returns the unit whose range of symbol IDs contains an ID.
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

// info returns the samples of a symbol. It fails if the samples that were read so far are larger
// than the file allows, which happens only if many symbols share the same bytes of the file.
func (s *file) info(sym afdo.Symbol) (afdo.Info, error) {
	info, err := sym.Info()
	if err != nil {
		return afdo.Info{}, err
	}
	return info, s.budget.Samples(info)
}

// Function returns the samples of a symbol, see [Store]. Errors contain the path of the unit and
// the name of the symbol.
func (s *file) Function(sym Symbol, scratch *Scratch) (profile.Function, error) {
	f, err := s.read(sym, scratch)
	if err != nil {
		return profile.Function{}, s.at(s.Path(sym.Unit), sym.Name, err)
	}
	return f, nil
}

// read does the work of [file.Function]. Its errors do not contain the unit and the symbol.
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

// at puts the path of a unit and the name of a symbol before the error of reading the symbol.
func (s *file) at(path, name string, err error) error {
	return fmt.Errorf("slice: unit %q, symbol %q: %w", path, name, err)
}

// sameID converts a symbol ID of the file to a reference with the same number.
func sameID(id afdo.SymbolID) (profile.SymbolRef, bool) { return profile.SymbolRef(id), true }

// Inlinings calls yield for every symbol with samples, see [Store]. It reads one unit after the
// other and does not keep the units in memory.
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

// A sources reads the marks of a file: what the file has about the source lines of functions, by
// which counts can be moved after an edit. It decodes the marks of a unit when they are first
// needed.
type sources struct {
	mu     sync.Mutex
	opened bool
	file   *profile.Sources             // the section of the file with the marks, nil if there is none
	units  map[int]map[ID]profile.Marks // marks by unit, of the units that were decoded
}

// open returns the section with the marks. It returns nil if the file has none, or one in a format
// that this version does not know.
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
