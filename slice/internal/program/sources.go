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
