package slice

import (
	"iter"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

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
