package profile

import (
	"maps"
	"slices"
)

// like returns a profile that has the units and symbols of p, with the same numbers, but no
// functions.
func (p *Profile) like() *Profile {
	q := New()
	q.adopt(p)
	return q
}

// pruned returns p without symbols that have neither a function nor a reference, and without units
// that have no other symbols. The order of symbols and units stays. p may not be used afterwards.
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
		q.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, body.Renumber(f.Records, symbols)})
	}
	maps.DeleteFunc(p.marks.functions, func(s SymbolRef, _ Marks) bool { return !used[s] })
	maps.DeleteFunc(p.marks.sums, func(f UnitRef, _ uint32) bool { return !files[f] })
	q.adoptMarks(p, symbols, units)
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
