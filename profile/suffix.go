package profile

import "github.com/go-afdo/afdo/internal/symname"

// StripSuffixes returns a profile whose names have no compiler suffixes: .isra.N, .constprop.N,
// .part.N, .cold, .cold.N, .lto_priv.N, .localalias, .localalias.N and .llvm.N, in any number and
// order. Symbols of a unit that then have the same name become one. [Profile.Merge] describes how
// their functions and, in all bodies, call targets and inlined bodies are merged.
//
// renamed is the number of symbols that had a suffix. merged is the number of symbols that
// disappeared because of another symbol with the same name. The result has no summary, no marks and
// no hashes of files. p is not changed. StripSuffixes takes O(n log n).
func (p *Profile) StripSuffixes() (q *Profile, renamed, merged int) {
	q = New()
	for f := range p.NumUnits() {
		q.AddUnit(p.UnitPath(UnitRef(f)))
	}
	symbols := make([]SymbolRef, p.NumSymbols())
	for s := range symbols {
		row := p.symbols.rows.at(s)
		name := symname.Strip(row.name)
		if name != row.name {
			renamed++
		}
		symbols[s] = q.AddSymbol(row.file, name)
	}
	var body Body
	for s, f := range p.Functions() {
		q.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, body.Renumber(f.Records, symbols)})
	}
	return q, renamed, p.NumSymbols() - q.NumSymbols()
}
