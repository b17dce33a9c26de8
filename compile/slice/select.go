package slice

import (
	"github.com/go-afdo/afdo/profile"
)

// Select returns a slice: the functions that q asks for, the functions that share a name with one
// of them in one of the ways in which the compiler looks names up, and for [Version3] the copies of
// these functions inlined in others. Its summary is the one of [Program.Summary].
//
// Without a Text, Select has to guess which functions the units' files define besides the units'
// own. It takes all symbols whose file is unknown, and all functions that the units' functions
// inline.
//
// An empty slice is a valid profile, too. An error is about the request, or about reading the
// profile. A profile that refers to a missing symbol is [afdo.ErrMalformed].
//
// The first call on a Program without an index goes through all of its names, and the first call
// for Version3 through all records.
func (p *Program) Select(q Request) (*profile.Profile, error) {
	s, err := p.selectSymbols(q, true)
	if err != nil {
		return nil, err
	}
	return s.profile(q)
}

// Whole returns the whole profile, with counts rounded to the given number of significant bits
// unless it is 0. A compile gets it if its functions cannot be found out.
func (p *Program) Whole(bits int) (*profile.Profile, error) {
	if err := checkBits(bits); err != nil {
		return nil, err
	}
	s := newSelection(p, nil)
	for unit := range p.whole.Store.NumUnits() {
		s.units = append(s.units, unit)
		for sym, err := range p.whole.Store.Symbols(unit) {
			if err != nil {
				return nil, err
			}
			s.own.Add(sym.ID)
			s.symbols = append(s.symbols, sym)
		}
	}
	if err := s.addNames(); err != nil {
		return nil, err
	}
	return s.profile(Request{Bits: bits})
}

// selectSymbols selects the symbols and functions of a slice. For a key, functions into which
// others are inlined are not condensed.
func (p *Program) selectSymbols(q Request, condense bool) (*selection, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	s := newSelection(p, q.Text)
	if err := s.addUnits(q); err != nil {
		return nil, err
	}
	if err := s.closeOwn(); err != nil {
		return nil, err
	}
	if q.Text != nil {
		if err := s.addText(q.Edited != nil); err != nil {
			return nil, err
		}
		if err := s.addGone(q); err != nil {
			return nil, err
		}
	}
	if q.Target != Version2 {
		if err := s.addCallers(condense); err != nil {
			return nil, err
		}
	}
	if err := s.addNames(); err != nil {
		return nil, err
	}
	if q.Target == Version2 && q.Text != nil { // without a text, names for the assembler are not known
		s.dropUnusedNames()
	}
	return s, nil
}
