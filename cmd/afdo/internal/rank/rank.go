// Package rank adds up the samples of a profile: by symbol, by unit, by call and by line.
//
// A sample belongs to the source line it was taken at, and the line to the
// innermost function around it. So each count of a profile is among the own
// samples of exactly one symbol, wherever that symbol has been inlined, and
// the own samples of all symbols add up to the profile's total. All sums saturate.
package rank

import (
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A Symbol is the samples of one symbol.
type Symbol struct {
	// Own is the number of samples of the symbol's own lines: lines of its body at depth 0, and of
	// its inlined copies.
	Own uint64

	// Total is Own plus the samples of all functions inlined in the symbol, in its body and in its
	// inlined copies. A count counts once, even if the symbol is inlined in itself.
	Total uint64

	// Body is the samples of the symbol's function (RFC 4.7) and of everything
	// inlined in it, 0 if it has none. The bodies of all symbols add up to the profile's total.
	Body uint64

	Head   uint64 // head count of the function
	Places uint64 // inlined bodies of it there are
}

// Sampled reports whether a profile contains counts of the symbol, not only its name.
func (s *Symbol) Sampled() bool { return s.Total > 0 || s.Head > 0 }

// A Unit is the samples of one unit.
type Unit struct {
	// Own is the samples of the lines of the unit's symbols, wherever they are inlined.
	Own uint64

	// Body is the samples in the bodies of the unit's functions, whatever is inlined there.
	Body uint64

	Symbols   int // all of them, also those that are only referred to
	Functions int // those with samples of their own
}

// A Ranking is the samples of a profile by symbol and by unit.
type Ranking struct {
	Total   uint64   // of all counts
	Symbols []Symbol // by SymbolRef
	Units   []Unit   // by UnitRef
}

// New adds up the samples of a profile. It takes one pass over its records, and
// memory by the number of its symbols and units and the depth of its deepest body.
func New(p *profile.Profile) *Ranking {
	t := NewTally(p.NumSymbols())
	t.Units = make([]Unit, p.NumUnits())
	for s, f := range p.Functions() {
		t.function(s, f)
	}
	t.units(p)
	return t.Ranking
}

// A Tally computes a Ranking from functions whose locations the caller visits one by one.
type Tally struct {
	*Ranking
	bodies []body   // that are open, outermost first
	open   []uint32 // how many of them are of a symbol
}

// NewTally returns the tally of a profile with a number of symbols.
func NewTally(symbols int) *Tally {
	return &Tally{Ranking: &Ranking{Symbols: make([]Symbol, symbols)}, open: make([]uint32, symbols)}
}

// A body is of a function, or inlined in one.
type body struct {
	symbol  profile.SymbolRef
	samples uint64 // so far, of all that is inlined in it too
}

func (t *Tally) function(s profile.SymbolRef, f *profile.Function) {
	t.Begin(s)
	for w := profile.Walk(f.Records); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
		switch r.Kind {
		case profile.KindCount:
			t.Count(depth, r.Count)
		case profile.KindInlined:
			t.Inlined(depth, r.Callee)
		default:
			t.leave(depth + 1)
		}
	}
	t.End(f.HeadCount)
}

// Begin begins the function of a symbol.
func (t *Tally) Begin(s profile.SymbolRef) { t.enter(s) }

// Count adds a count at a depth of inlining.
func (t *Tally) Count(depth int, n uint64) {
	t.leave(depth + 1)
	at := &t.bodies[depth]
	at.samples = saturating.Add(at.samples, n)
	own := &t.Symbols[at.symbol]
	own.Own = saturating.Add(own.Own, n)
}

// Inlined begins the body of a symbol that is inlined at a depth.
func (t *Tally) Inlined(depth int, s profile.SymbolRef) {
	t.leave(depth + 1)
	t.Symbols[s].Places++
	t.enter(s)
}

// End ends the function.
func (t *Tally) End(headCount uint64) {
	t.leave(1)
	s := &t.Symbols[t.bodies[0].symbol]
	s.Body, s.Head = t.bodies[0].samples, headCount
	t.Total = saturating.Add(t.Total, t.bodies[0].samples)
	t.leave(0)
}

func (t *Tally) enter(s profile.SymbolRef) {
	t.bodies = append(t.bodies, body{symbol: s})
	t.open[s]++
}

// leave closes all but the outermost bodies.
func (t *Tally) leave(but int) {
	for len(t.bodies) > but {
		last := len(t.bodies) - 1
		left := t.bodies[last]
		t.bodies = t.bodies[:last]
		if last > 0 {
			outer := &t.bodies[last-1]
			outer.samples = saturating.Add(outer.samples, left.samples)
		}
		if t.open[left.symbol]--; t.open[left.symbol] == 0 {
			total := &t.Symbols[left.symbol]
			total.Total = saturating.Add(total.Total, left.samples)
		}
	}
}

// units adds up the symbols.
func (t *Tally) units(p *profile.Profile) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		u := &t.Units[p.SymbolUnit(profile.SymbolRef(i))]
		u.Own = saturating.Add(u.Own, s.Own)
		u.Body = saturating.Add(u.Body, s.Body)
		u.Symbols++
	}
	for s := range p.Functions() {
		t.Units[p.SymbolUnit(s)].Functions++
	}
}
