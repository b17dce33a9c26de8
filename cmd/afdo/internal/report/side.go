package report

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/profile"
)

// A side is one of the profiles that are drawn. Its units and symbols have numbers that count for
// all sides. Methods of a nil side know of no samples.
type side struct {
	profile *profile.Profile
	ranking *rank.Ranking
	files   numbering[profile.UnitRef]
	symbols numbering[profile.SymbolRef]
}

// A numbering leads from a side's own numbers to the common ones and back. Where both are nil, they
// are the same.
type numbering[T ~uint32] struct {
	common []T
	own    []T // plus 1; 0 for what the side does not have
}

func (n *numbering[T]) commonOf(own T) T {
	if n.common == nil {
		return own
	}
	return n.common[own]
}

func (n *numbering[T]) ownOf(common T) (own T, ok bool) {
	switch {
	case n.common == nil:
		return common, true
	case int(common) >= len(n.own) || n.own[common] == 0:
		return 0, false
	}
	return n.own[common] - 1, true
}

// invert fills in the way back.
func (n *numbering[T]) invert(commons int) {
	n.own = make([]T, commons)
	for own, common := range n.common {
		n.own[common] = T(own) + 1
	}
}

// alone returns the only side of a page.
func alone(p *profile.Profile) *side {
	return &side{profile: p, ranking: rank.New(p)}
}

// together numbers the units and symbols of two profiles by their names. The profile names has them
// and nothing else.
func together(now, was *profile.Profile) (names *profile.Profile, first, second *side) {
	names = profile.New()
	first, second = alone(now), alone(was)
	first.number(names)
	second.number(names)
	first.invert(names)
	second.invert(names)
	return names, first, second
}

func (s *side) number(names *profile.Profile) {
	s.files.common = make([]profile.UnitRef, s.profile.NumUnits())
	for i := range s.files.common {
		s.files.common[i] = names.AddUnit(s.profile.UnitPath(profile.UnitRef(i)))
	}
	s.symbols.common = make([]profile.SymbolRef, s.profile.NumSymbols())
	for i := range s.symbols.common {
		ref := profile.SymbolRef(i)
		file := s.files.common[s.profile.SymbolUnit(ref)]
		s.symbols.common[i] = names.AddSymbol(file, s.profile.SymbolName(ref))
	}
}

func (s *side) invert(names *profile.Profile) {
	s.files.invert(names.NumUnits())
	s.symbols.invert(names.NumSymbols())
}

// ownFile returns the number that the side itself has for a unit.
func (s *side) ownFile(f profile.UnitRef) (own profile.UnitRef, ok bool) { return s.files.ownOf(f) }

func (s *side) unit(f profile.UnitRef) rank.Unit {
	if s != nil {
		if own, ok := s.files.ownOf(f); ok {
			return s.ranking.Units[own]
		}
	}
	return rank.Unit{}
}

func (s *side) symbol(ref profile.SymbolRef) rank.Symbol {
	if s != nil {
		if own, ok := s.symbols.ownOf(ref); ok {
			return s.ranking.Symbols[own]
		}
	}
	return rank.Symbol{}
}

// function returns the function of a symbol, nil if the side has none.
func (s *side) function(ref profile.SymbolRef) *profile.Function {
	if s != nil {
		if own, ok := s.symbols.ownOf(ref); ok {
			return s.profile.Function(own)
		}
	}
	return nil
}
