package program

import (
	"errors"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// sources is what a file remembers of its sources, decoded by units as they are asked for.
type sources struct {
	mu     sync.Mutex
	opened bool
	file   *profile.Sources // nil if there is nothing
	units  map[int]*unitSources
}

type unitSources struct {
	sum   uint32
	marks map[ID]profile.Marks
}

// unit returns what is remembered of a unit.
func (s *sources) unit(f *file, unit int) (*unitSources, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		found, err := profile.ReadSources(f.r)
		if err != nil && !errors.Is(err, afdo.ErrNotFound) && !errors.Is(err, profile.ErrOtherSources) {
			return nil, err
		}
		s.opened, s.file, s.units = true, found, make(map[int]*unitSources)
	}
	u := s.units[unit]
	if u != nil {
		return u, nil
	}
	u = &unitSources{marks: make(map[ID]profile.Marks)}
	if s.file != nil {
		var err error
		u.sum, err = s.file.Unit(f.units[unit], func(id afdo.SymbolID, m profile.Marks) { u.marks[ID(id)] = m })
		if err != nil {
			return nil, err
		}
	}
	s.units[unit] = u
	return u, nil
}

func (s *file) Marks(sym Symbol) (profile.Marks, error) {
	u, err := s.sources.unit(s, sym.Unit)
	if err != nil {
		return nil, err
	}
	return u.marks[sym.ID], nil
}

func (s *file) UnitSum(unit int) (uint32, error) {
	u, err := s.sources.unit(s, unit)
	if err != nil {
		return 0, err
	}
	return u.sum, nil
}
