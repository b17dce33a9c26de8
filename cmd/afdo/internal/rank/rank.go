// Package rank adds up the samples of a profile: by symbol, by unit, by call and by line.
//
// A sample belongs to the source line it was taken at, and the line to the
// innermost function around it. So each count of a profile is among the own
// samples of exactly one symbol, wherever that symbol has been inlined, and
// the own samples of all symbols add up to the profile's total. All sums saturate.
package rank

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A Symbol has the sums of the samples of one symbol.
type Symbol struct {
	// Own is the number of samples of the symbol's own lines: lines of its body at depth 0, and of
	// its inlined copies.
	Own uint64

	// Total is Own plus the samples of all functions that are inlined in the symbol, in its body
	// and in its inlined copies. If the symbol is inlined in itself, each sample still counts once.
	Total uint64

	// Body is the number of samples of the symbol's function (RFC 4.7) and of everything inlined in
	// it. It is 0 if the symbol has no function. The bodies of all symbols add up to the profile's
	// total.
	Body uint64

	Head   uint64 // head count of the function
	Places uint64 // number of its inlined bodies
}

// Sampled reports whether a profile contains counts of the symbol, not only its name.
func (s *Symbol) Sampled() bool { return s.Total > 0 || s.Head > 0 }

// A Unit has the sums of the samples of one unit.
type Unit struct {
	// Own is the sum of Own over the unit's symbols: the samples of their lines, wherever they are
	// inlined.
	Own uint64

	// Body is the sum of Body over the unit's symbols: the samples in their functions, including
	// inlined ones.
	Body uint64

	Symbols   int // number of symbols, including those that are only called or inlined
	Functions int // number of symbols with a function
}

// A Ranking has the sums of the samples of a profile by symbol and by unit.
type Ranking struct {
	Total   uint64   // sum of all counts
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

// A Tally computes a [Ranking] from functions that its caller describes. For each function, the
// caller calls Begin, then Count and Inlined for its records, and then End.
type Tally struct {
	*Ranking
	bodies []body   // the bodies that contain the current record, outermost first
	open   []uint32 // for each symbol, how many of these bodies are of it
}

// NewTally returns a Tally that has no counts, for a profile with the given number of symbols.
func NewTally(symbols int) *Tally {
	return &Tally{Ranking: &Ranking{Symbols: make([]Symbol, symbols)}, open: make([]uint32, symbols)}
}

// A body is the body of a function, or of a function inlined in it, that a [Tally] has not
// completed.
type body struct {
	symbol  profile.SymbolRef
	samples uint64 // samples so far, including those of functions inlined in it
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

// Begin starts to count the samples of the function of symbol s. The calls of Count and Inlined
// until the next End are about this function.
func (t *Tally) Begin(s profile.SymbolRef) { t.enter(s) }

// Count adds n samples to the body at the given depth. Depth 0 is the function itself, 1 is a
// function inlined in it.
func (t *Tally) Count(depth int, n uint64) {
	t.leave(depth + 1)
	at := &t.bodies[depth]
	at.samples = saturating.Add(at.samples, n)
	own := &t.Symbols[at.symbol]
	own.Own = saturating.Add(own.Own, n)
}

// Inlined starts the body of the inlined symbol s. depth is the depth of the body in which it is
// inlined.
func (t *Tally) Inlined(depth int, s profile.SymbolRef) {
	t.leave(depth + 1)
	t.Symbols[s].Places++
	t.enter(s)
}

// End completes the function that Begin has started, and sets its head count.
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

// leave completes the innermost bodies, until only the given number of outermost bodies is left. It
// adds the samples of each to the enclosing body.
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

// units computes the sums of samples of all units from those of their symbols.
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

// A Site is a source location that calls a function. Caller is the function whose source contains
// the location, even if it is inlined in another function there.
type Site struct {
	Caller        profile.SymbolRef
	Line          uint32 // offset from the line of the caller's declaration
	Discriminator uint32
	Callee        profile.SymbolRef
}

// Compare orders sites by caller, location and callee.
func (s Site) Compare(o Site) int {
	return cmp.Or(
		cmp.Compare(s.Caller, o.Caller),
		cmp.Compare(s.Line, o.Line),
		cmp.Compare(s.Discriminator, o.Discriminator),
		cmp.Compare(s.Callee, o.Callee),
	)
}

// A Call is the number of calls of a symbol from a location, added up over all bodies, inlined or
// not, that contain the location.
type Call struct {
	Site
	Count uint64
}

// Calls returns the call targets of a profile, the most frequent first. Calls that were inlined are
// not included: their samples are in the inlined bodies. It takes O(n log n) and 24 bytes for each
// of the n records of calls.
func Calls(p *profile.Profile) []Call {
	var calls []Call
	inBodies(p, func(in profile.SymbolRef, r *profile.Record) {
		if r.Kind == profile.KindCall {
			calls = append(calls, Call{Site{in, r.Line, r.Discriminator, r.Callee}, r.Count})
		}
	})
	return together(calls, func(a, b Call) int { return a.Compare(b.Site) }, func(c *Call) *uint64 { return &c.Count })
}

// inBodies calls visit for each record of all functions. in is the symbol whose source has the
// record: the function itself, or a function that is inlined in it.
func inBodies(p *profile.Profile, visit func(in profile.SymbolRef, r *profile.Record)) {
	var open []profile.SymbolRef // the bodies around a record, outermost first
	for s, f := range p.Functions() {
		open = append(open[:0], s)
		w := profile.Walk(f.Records)
		for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
			open = open[:depth+1]
			visit(open[depth], r)
			if r.Kind == profile.KindInlined {
				open = append(open, r.Callee)
			}
		}
	}
}

// together merges the elements of a list that are equal by compare into one element, and adds up
// their counts. It returns the result with the largest counts first. compare orders elements with
// equal counts.
func together[T any](list []T, compare func(a, b T) int, count func(*T) *uint64) []T {
	slices.SortFunc(list, compare)
	kept := list[:0]
	for _, t := range list {
		if n := len(kept); n > 0 && compare(kept[n-1], t) == 0 {
			sum := count(&kept[n-1])
			*sum = saturating.Add(*sum, *count(&t))
			continue
		}
		kept = append(kept, t)
	}
	slices.SortFunc(kept, func(a, b T) int { return cmp.Or(cmp.Compare(*count(&b), *count(&a)), compare(a, b)) })
	return kept
}

// A Line is a source line of a symbol.
type Line struct {
	Symbol profile.SymbolRef
	Line   uint32 // offset from the line of the symbol's declaration
}

// Compare orders lines by symbol, then by offset.
func (l Line) Compare(o Line) int {
	return cmp.Or(cmp.Compare(l.Symbol, o.Symbol), cmp.Compare(l.Line, o.Line))
}

// A LineCount is the sum of a line's counts, over all discriminators and all bodies, inlined or
// not, that contain the line.
type LineCount struct {
	Line
	Count uint64
}

// Lines returns the lines that have samples, those with the most first. It takes
// O(n log n) and 16 bytes for each of the n records of counts.
func Lines(p *profile.Profile) []LineCount {
	var lines []LineCount
	inBodies(p, func(in profile.SymbolRef, r *profile.Record) {
		if r.Kind == profile.KindCount && r.Count > 0 {
			lines = append(lines, LineCount{Line{in, r.Line}, r.Count})
		}
	})
	return together(lines, func(a, b LineCount) int { return a.Compare(b.Line) }, func(l *LineCount) *uint64 { return &l.Count })
}

// First moves the n elements that come first in the order of compare to the front of all, sorted,
// and returns them. It takes O(len(all) log n).
func First[T any](all []T, n int, compare func(a, b T) int) []T {
	n = min(n, len(all))
	slices.SortFunc(all[:n], compare)
	end := n // of the candidates
	for i := n; i < len(all) && n > 0; i++ {
		if compare(all[i], all[n-1]) >= 0 {
			continue
		}
		all[end], all[i] = all[i], all[end]
		if end++; end == 2*n {
			slices.SortFunc(all[:end], compare)
			end = n
		}
	}
	slices.SortFunc(all[:end], compare)
	return all[:n]
}

// Hottest returns the n symbols with the most own samples in the order of [Order], and the number
// of all symbols with samples.
func Hottest(p *profile.Profile, r *Ranking, n int) (hottest []profile.SymbolRef, sampled int) {
	var all []profile.SymbolRef
	for i := range r.Symbols {
		if r.Symbols[i].Sampled() {
			all = append(all, profile.SymbolRef(i))
		}
	}
	sampled = len(all)
	return First(all, n, Order(p, r, func(s *Symbol) uint64 { return s.Own })), sampled
}

// Order returns a function that compares two symbols of p for sorting. The symbol with the larger
// count comes first. If both counts are equal, the symbol with the larger Total comes first, then
// that whose name is alphabetically first, then that whose unit is. If count is nil, names decide
// first, then Total, then units.
func Order(p *profile.Profile, r *Ranking, count func(*Symbol) uint64) func(a, b profile.SymbolRef) int {
	return func(a, b profile.SymbolRef) int {
		x, y := &r.Symbols[a], &r.Symbols[b]
		byTotal, first := cmp.Compare(y.Total, x.Total), 0
		if count != nil {
			first = cmp.Or(cmp.Compare(count(y), count(x)), byTotal)
		}
		if first != 0 {
			return first
		}
		return cmp.Or(cmp.Compare(p.SymbolName(a), p.SymbolName(b)), byTotal,
			cmp.Compare(p.UnitPath(p.SymbolUnit(a)), p.UnitPath(p.SymbolUnit(b))))
	}
}
