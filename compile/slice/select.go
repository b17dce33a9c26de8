package slice

import (
	"github.com/go-afdo/afdo/profile"
)

// Select returns the slice for a compile. It contains the functions that q asks for, the functions
// that the compiler may confuse with one of them because they share a name, and for [Version3] the
// inlined bodies of these functions in other functions. Its summary is that of [Program.Summary].
//
// Without a Text, Select does not know which functions the compile defines besides those of its
// units. It includes all symbols whose file is unknown, and all functions that the units' functions
// inline.
//
// An empty slice is a valid profile, too. An error is about the request, or about reading the
// profile. A profile that refers to a missing symbol is [afdo.ErrMalformed].
//
// The first call on a Program without an index reads all of its names, and the first call for
// Version3 reads all records.
func (p *Program) Select(q Request) (*profile.Profile, error) {
	s, err := p.selectSymbols(q, true)
	if err != nil {
		return nil, err
	}
	return s.profile(q)
}

// Whole returns the whole profile, for compiles whose functions are unknown. Unless bits is 0,
// counts are rounded to that number of significant bits.
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

// selectSymbols finds the symbols that the slice for a request contains, and their samples. If
// condense is true, it reduces functions of other units to what GCC uses of them, see
// [selection.condenseCallers]. Select passes true, and Fingerprint passes false.
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
