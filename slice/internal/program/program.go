package program

import (
	"path"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
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
