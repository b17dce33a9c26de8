package profile

import (
	"iter"
	"slices"
)

// like returns a profile with the units and symbols of p, with the same numbers, but without
// functions.
func (p *Profile) like() *Profile {
	q := New()
	q.adopt(p)
	return q
}

// pruned returns p without symbols that have neither a function nor a reference, and without units
// that have no other symbols. The order is kept.
func (p *Profile) pruned() *Profile {
	used, files := p.used()
	if !slices.Contains(used, false) && !slices.Contains(files, false) {
		return p
	}
	q := New()
	units := make([]UnitRef, len(files))
	for f, is := range files {
		if is {
			units[f] = q.AddUnit(p.UnitPath(UnitRef(f)))
		}
	}
	symbols := make([]SymbolRef, len(used))
	for s, is := range used {
		if is {
			row := p.symbols.rows.at(s)
			symbols[s] = q.AddSymbol(units[row.file], row.name)
		}
	}
	var body Body
	for s, f := range p.Functions() {
		q.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, renumber(&body, f.Records, symbols)})
	}
	for s, m := range p.marks.functions {
		if used[s] {
			q.SetMarks(symbols[s], m)
		}
	}
	for f, sum := range p.marks.sums {
		if files[f] {
			q.SetUnitSum(units[f], sum)
		}
	}
	q.evidence = p.evidence
	return q
}

// used reports, for each symbol, whether it has a function or a reference, and for each unit,
// whether it contains such a symbol.
func (p *Profile) used() (symbols, files []bool) {
	symbols = make([]bool, p.NumSymbols())
	for s, f := range p.Functions() {
		symbols[s] = true
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind != KindCount {
				symbols[r.Callee] = true
			}
		}
	}
	files = make([]bool, p.NumUnits())
	files[UnknownUnit] = true
	for s, is := range symbols {
		if is {
			files[p.SymbolUnit(SymbolRef(s))] = true
		}
	}
	return symbols, files
}

// Removed describes what [Profile.KeepFunctions], [Profile.KeepHot] or [Profile.KeepHottest] left
// out.
type Removed struct {
	Functions int
	Samples   uint64  // sum of the counts of these functions, saturating
	Share     float64 // share of all samples
}

// KeepFunctions returns a profile with the functions of p for which keep returns true, including
// their inlined bodies and calls. Symbols without function and reference, and units without
// symbols, are left out. The result has no summary. p is not changed.
//
// KeepFunctions takes time and memory proportional to the size of the profile.
func (p *Profile) KeepFunctions(keep func(SymbolRef) bool) (*Profile, Removed) {
	q := p.like()
	var removed Removed
	var lost, all total
	for s, f := range p.Functions() {
		samples := samplesOf(f.Records)
		all.add(samples)
		if keep(s) {
			q.AddFunction(s, *f)
			continue
		}
		removed.Functions++
		lost.add(samples)
	}
	removed.Samples, removed.Share = lost.saturated(), lost.shareOf(all)
	q.evidence = p.evidence.keep(q.functionNames())
	return q.pruned(), removed
}

// functionNames reports whether a name is that of a function of p.
func (p *Profile) functionNames() func(string) bool {
	names := make(map[string]bool)
	for s := range p.Functions() {
		names[p.SymbolName(s)] = true
	}
	return func(name string) bool { return names[name] }
}

// KeepHottest keeps the hottest functions that together have the given share of all samples, as by
// [Profile.KeepFunctions]. It keeps as few functions as reach the share, and all functions with as
// many samples as the last of these. The samples of a function include those of its inlined bodies.
// Sums and shares are computed exactly.
//
// Functions without samples are always left out. The share must be above 0. A share above 1 keeps
// all functions with samples.
func (p *Profile) KeepHottest(share Ratio) (*Profile, Removed) {
	return p.KeepHot(LeastHot(p.Heats(), share))
}

// A Heat is the number of samples of a function in 128 bits, upper word first.
type Heat [2]uint64

// Heats returns the samples of all functions, in the order of [Profile.Functions].
func (p *Profile) Heats() []Heat {
	heats := make([]Heat, 0, p.NumFunctions())
	for _, f := range p.Functions() {
		samples := samplesOf(f.Records)
		heats = append(heats, Heat{samples.hi, samples.lo})
	}
	return heats
}

// LeastHot returns the samples of the least hot function that [Profile.KeepHottest] would keep, at
// least 1. It sorts functions in place.
func LeastHot(functions []Heat, share Ratio) Heat {
	slices.SortFunc(functions, func(a, b Heat) int { return b.total().compare(a.total()) })
	var all, sum total
	for _, h := range functions {
		all.add(h.total())
	}
	least := Heat{0, 1}
	for _, h := range functions {
		if h == (Heat{}) || compareShares(sum, all, total{lo: share.Num}, total{lo: share.Den}) >= 0 {
			break
		}
		sum.add(h.total())
		least = h
	}
	return least
}

func (h Heat) total() total { return total{h[0], h[1]} }

// KeepHot keeps the functions with at least the given number of samples, as by
// [Profile.KeepFunctions]. Use it with [Profile.Heats] and [LeastHot] for a profile that is divided
// among several Profiles, as by [Profile.Split].
func (p *Profile) KeepHot(least Heat) (*Profile, Removed) {
	return p.KeepFunctions(func(s SymbolRef) bool {
		return samplesOf(p.Function(s).Records).compare(least.total()) >= 0
	})
}

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

// A splitter creates profiles of single units.
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
		q.AddFunction(s.refs[symbol], Function{fn.HeadCount, fn.Timestamp, renumber(&s.body, fn.Records, s.refs)})
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

// take adds a symbol to a profile, unless the profile already has it.
func (s *splitter) take(q *Profile, symbol SymbolRef) {
	if s.taken[symbol] {
		return
	}
	s.taken[symbol] = true
	s.all = append(s.all, symbol)
	s.refs[symbol] = q.AddSymbol(q.AddUnit(s.from.UnitPath(s.from.SymbolUnit(symbol))), s.from.SymbolName(symbol))
}
