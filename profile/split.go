package profile

import "iter"

// Split iterates over the units of p. For each unit it yields a profile with the symbols and
// functions of that unit, and with the symbols of other units to which its records refer. So the
// functions of different units can be summed in different places. Merging all yielded profiles, in
// any order and grouping, gives the content of p except for its Summary and its evidence.
//
// Each step takes time and memory proportional to the yielded profile, which belongs to the caller.
// p must not change during the iteration.
func (p *Profile) Split() iter.Seq2[UnitRef, *Profile] {
	return func(yield func(UnitRef, *Profile) bool) {
		symbols := p.symbolsByFile()
		s := splitter{from: p, taken: make([]bool, p.NumSymbols()), refs: make([]SymbolRef, p.NumSymbols())}
		for f := range p.paths {
			if q := s.unit(UnitRef(f), symbols[f]); !yield(UnitRef(f), q) {
				return
			}
		}
	}
}

// symbolsByFile returns the symbols of each unit.
func (p *Profile) symbolsByFile() [][]SymbolRef {
	symbols := make([][]SymbolRef, p.NumUnits())
	for s := range p.NumSymbols() {
		f := p.SymbolUnit(SymbolRef(s))
		symbols[f] = append(symbols[f], SymbolRef(s))
	}
	return symbols
}

// A splitter holds the state of [Profile.Split], which makes a profile of each unit.
type splitter struct {
	from  *Profile
	taken []bool      // whether the current profile has each symbol
	refs  []SymbolRef // number of each symbol in the current profile
	all   []SymbolRef // all symbols in the current profile
	body  Body
}

// unit returns the profile of a unit with the given symbols.
func (s *splitter) unit(f UnitRef, symbols []SymbolRef) *Profile {
	q := New()
	q.AddUnit(s.from.UnitPath(f))
	for _, symbol := range symbols {
		s.take(q, symbol)
	}
	for _, symbol := range symbols {
		fn := s.from.Function(symbol)
		if fn == nil {
			continue
		}
		for i := range fn.Records {
			if r := &fn.Records[i]; r.Kind != KindCount {
				s.take(q, r.Callee)
			}
		}
		q.AddFunction(s.refs[symbol], Function{fn.HeadCount, fn.Timestamp, s.body.Renumber(fn.Records, s.refs)})
	}
	for _, symbol := range symbols {
		q.SetMarks(s.refs[symbol], s.from.Marks(symbol))
	}
	if sum := s.from.UnitSum(f); sum != 0 {
		q.SetUnitSum(q.AddUnit(s.from.UnitPath(f)), sum)
	}
	for _, symbol := range s.all {
		s.taken[symbol] = false
	}
	s.all = s.all[:0]
	return q
}

// take adds a symbol to the profile q, unless q already has it.
func (s *splitter) take(q *Profile, symbol SymbolRef) {
	if s.taken[symbol] {
		return
	}
	s.taken[symbol] = true
	s.all = append(s.all, symbol)
	s.refs[symbol] = q.AddSymbol(q.AddUnit(s.from.UnitPath(s.from.SymbolUnit(symbol))), s.from.SymbolName(symbol))
}
