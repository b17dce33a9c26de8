package rebase

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// Remember stores a fingerprint (mark) of each source line in the profile, for functions with
// samples, including functions that are only inlined. The sources must be the ones that were
// profiled. declared returns the declaration of a symbol's function in debug info. Functions that
// hardly ever run are left out: together they have at most a thousandth of all samples, including
// samples in functions inlined into them.
//
// functions is the number of functions with samples that are not left out, and known is the number
// of those that got marks. A function gets marks if the texts have a function of its name at the
// declared line, with code at the lines of at least half of its samples.
func (s *Sources) Remember(p *profile.Profile, declared func(unit, symbol string) (Declaration, bool)) (functions, known int) {
	rare := rarely(p)
	for i, u := range usesOf(p) {
		if len(u.lines) == 0 || rare[i] {
			continue
		}
		functions++
		d, ok := declared(u.file, u.symbol)
		if !ok {
			continue
		}
		c := &change{use: u, spelled: spell(u.symbol)}
		f := s.at(d, c.spelled.name)
		if f == nil || f.name.Text != c.spelled.name || c.fits(f) < leastFit {
			continue // a name that a macro makes would not be found in other sources
		}
		known++
		ref := profile.SymbolRef(i)
		p.SetMarks(ref, outline.Marks(f.Lines()))
		p.SetUnitSum(p.SymbolUnit(ref), s.fileOf(d.File).sum())
	}
	return functions, known
}

// rareShare limits the functions for which a profile stores no line fingerprints (marks): together
// they have at most 1/rareShare of all samples. Most functions of a program have hardly any
// samples, but their marks take as much space as those of others.
const rareShare = 1000

// rarely reports for each symbol of a profile whether its function runs so rarely that Remember
// stores no line fingerprints (marks) for it, see rareShare.
func rarely(p *profile.Profile) []bool {
	samples, all := samplesOf(p)
	order := make([]int, len(samples))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(samples[a], samples[b]) })
	rare := make([]bool, len(samples))
	together := uint64(0)
	for _, i := range order {
		if together = saturating.Add(together, samples[i]); together > all/rareShare {
			break
		}
		rare[i] = all > 0
	}
	return rare
}

// samplesOf returns the samples of each symbol, including samples in functions inlined into it. all
// is the sum of all samples, which saturates.
func samplesOf(p *profile.Profile) (samples []uint64, all uint64) {
	samples = make([]uint64, p.NumSymbols())
	type body struct {
		symbol  profile.SymbolRef
		samples uint64
	}
	var open []body
	leave := func(depth int) {
		for n := len(open) - 1; n >= depth; n-- {
			samples[open[n].symbol] = saturating.Add(samples[open[n].symbol], open[n].samples)
			if n > 0 {
				open[n-1].samples = saturating.Add(open[n-1].samples, open[n].samples)
			} else {
				all = saturating.Add(all, open[n].samples)
			}
			open = open[:n]
		}
	}
	for s, f := range p.Functions() {
		open = append(open, body{symbol: s})
		w := profile.Walk(f.Records)
		for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
			leave(depth + 1)
			switch r.Kind {
			case profile.KindCount:
				open[depth].samples = saturating.Add(open[depth].samples, r.Count)
			case profile.KindInlined:
				open = append(open, body{symbol: r.Callee})
			}
		}
		leave(0)
	}
	return samples, all
}

// sum returns the hash of the source file, by which a profile can later be compared with the file.
func (s *source) sum() uint32 { return sumOf(s.text) }

// sumOf returns the hash of the text of a source file, as a profile stores it.
func sumOf(text []byte) uint32 { return uint32(xxhash.Sum64(text)) }

// usesOf returns the symbols of a profile, each with the lines and calls at which it has records.
func usesOf(p *profile.Profile) []use {
	uses := unusedOf(p)
	gather(uses, placesOf(p))
	return uses
}

// unusedOf returns the symbols of a profile without the lines and callees at which they have
// records.
func unusedOf(p *profile.Profile) []use {
	uses := make([]use, p.NumSymbols())
	for s := range uses {
		ref := profile.SymbolRef(s)
		uses[s] = use{symbol: p.SymbolName(ref), file: p.UnitPath(p.SymbolUnit(ref))}
	}
	return uses
}

// markedFunctions finds functions of the old sources by the fingerprints of lines (marks) that a
// profile contains.
type markedFunctions struct {
	functions map[symbol]*function
	same      map[string]bool // for each unit with marks: whether its file is unchanged
}

// A symbol is the name of a function together with the path of its unit.
type symbol struct{ unit, name string }

// readMarks returns the functions for which a profile contains line fingerprints (marks). same
// reports whether the file of a unit still has the given hash. Functions of such files are not
// searched for.
func readMarks(p *profile.Profile, same func(unit string, sum uint32) bool) *markedFunctions {
	m := &markedFunctions{make(map[symbol]*function), make(map[string]bool)}
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		if marks := p.Marks(ref); len(marks) > 0 {
			at := symbol{p.UnitPath(p.SymbolUnit(ref)), p.SymbolName(ref)}
			if _, known := m.same[at.unit]; !known {
				m.same[at.unit] = same(at.unit, p.UnitSum(p.SymbolUnit(ref)))
			}
			m.functions[at] = &function{symbol: at.name, file: at.unit, marks: marks}
		}
	}
	return m
}

func (m *markedFunctions) unchanged(file string) bool { return m.same[file] }

// allSame reports whether all files are unchanged that contain functions with line fingerprints
// (marks) in the profile.
func (m *markedFunctions) allSame() bool {
	for at := range m.functions {
		if !m.same[at.unit] {
			return false
		}
	}
	return true
}

func (m *markedFunctions) find(file, name string, _ *spelling) []*function {
	if f := m.functions[symbol{file, name}]; f != nil {
		return []*function{f}
	}
	return nil
}
