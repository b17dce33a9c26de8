package profile

import "strings"

// Suffixes that compilers append to the names of clones. Most are followed by a number.
var (
	numberedSuffixes = map[string]bool{
		"isra": true, "constprop": true, "part": true, "cold": true, "lto_priv": true, "localalias": true, // GCC
		"llvm": true, // LLVM, for static functions that ThinLTO exports
	}
	plainSuffixes = map[string]bool{"cold": true, "localalias": true}
)

// StripSuffixes returns a profile whose names have no compiler suffixes: .isra.N, .constprop.N,
// .part.N, .cold, .cold.N, .lto_priv.N, .localalias, .localalias.N and .llvm.N, in any number and
// order. Symbols of a unit that then have the same name are merged, as by [Profile.Merge]: their
// functions and, in all bodies, call targets and inlined bodies at the same location.
//
// renamed is the number of symbols that had a suffix. merged is the number of symbols that
// disappeared because of another symbol with the same name. The result has no summary. p is not
// changed. StripSuffixes takes O(n log n).
func (p *Profile) StripSuffixes() (q *Profile, renamed, merged int) {
	q = New()
	for f := range p.NumUnits() {
		q.AddUnit(p.UnitPath(UnitRef(f)))
	}
	symbols := make([]SymbolRef, p.NumSymbols())
	for s := range symbols {
		row := p.symbols.rows.at(s)
		name := withoutSuffixes(row.name)
		if name != row.name {
			renamed++
		}
		symbols[s] = q.AddSymbol(row.file, name)
	}
	var body Body
	for s, f := range p.Functions() {
		q.AddFunction(symbols[s], Function{f.HeadCount, f.Timestamp, renumber(&body, f.Records, symbols)})
	}
	return q, renamed, p.NumSymbols() - q.NumSymbols()
}

// withoutSuffixes returns a name without compiler suffixes. The result is never empty.
func withoutSuffixes(name string) string {
	for {
		rest, last := cutLast(name)
		if isNumber(last) {
			rest, last = cutLast(rest)
			if !numberedSuffixes[last] {
				return name
			}
		} else if !plainSuffixes[last] {
			return name
		}
		if rest == "" {
			return name
		}
		name = rest
	}
}

// cutLast cuts a name at its last dot. Without a dot, after is empty.
func cutLast(name string) (before, after string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
