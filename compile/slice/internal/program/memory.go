package program

import (
	"iter"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A Memory is a [Store] of a profile in memory.
type Memory struct {
	p      *profile.Profile
	byUnit func() []profile.SymbolRef // all symbols, ordered by unit
	starts []int                      // for each unit, where its symbols begin in the result of byUnit

	summarize func() *afdo.Summary
}

// NewMemory returns a [Store] of a profile in memory. The profile must not change any more.
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

// sortByUnit returns all symbols of the profile, ordered by unit. It also sets the field starts,
// which has the position of each unit's first symbol.
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

// at returns the symbol of the profile that has the given reference.
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
