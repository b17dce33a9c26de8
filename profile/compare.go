package profile

import (
	"fmt"
	"strings"
)

// Compare reports the first difference in meaning between two profiles, nil if there is none.
// Order, numbering, and units without symbols do not matter; summaries do not take part. Symbols
// that are only referred to do.
//
// The error names the unit and the symbol and, for a difference between
// records, the inlined callees on the way and the location. It takes O(n log n).
func Compare(a, b *Profile) error {
	symbols, err := match(a, b)
	if err != nil {
		return err
	}
	var body Body
	for s := range symbols {
		f, g := a.Function(SymbolRef(s)), b.Function(symbols[s])
		var diff string
		switch {
		case f == nil && g == nil:
		case g == nil:
			diff = "has samples only in the first profile"
		case f == nil:
			diff = "has samples only in the second profile"
		case f.HeadCount != g.HeadCount:
			diff = unequal("head count", f.HeadCount, g.HeadCount)
		case f.Timestamp != g.Timestamp:
			diff = unequal("timestamp", f.Timestamp, g.Timestamp)
		default:
			diff = b.difference(renumber(&body, f.Records, symbols), g.Records)
		}
		if diff != "" {
			return fmt.Errorf("%s: %s", a.describe(SymbolRef(s)), diff)
		}
	}
	return nil
}

// match finds each symbol of a in b, and errs if the two do not have the same.
func match(a, b *Profile) ([]SymbolRef, error) {
	symbols, lost := find(a, b)
	if lost {
		s := SymbolRef(len(symbols))
		return nil, fmt.Errorf("%s is only in the first profile", a.describe(s))
	}
	if a.NumSymbols() != b.NumSymbols() {
		others, _ := find(b, a)
		s := SymbolRef(len(others))
		return nil, fmt.Errorf("%s is only in the second profile", b.describe(s))
	}
	return symbols, nil
}

// find finds each symbol of a in b, up to the first that is lost.
func find(a, b *Profile) (symbols []SymbolRef, lost bool) {
	symbols = make([]SymbolRef, 0, a.NumSymbols())
	for i := range a.symbols.rows.len {
		row := a.symbols.rows.at(i)
		f, ok := b.files[a.UnitPath(row.file)]
		if !ok {
			return symbols, true
		}
		s, ok := b.FindSymbol(f, row.name)
		if !ok {
			return symbols, true
		}
		symbols = append(symbols, s)
	}
	return symbols, false
}

// describe names a symbol and its unit.
func (p *Profile) describe(s SymbolRef) string {
	if f := p.SymbolUnit(s); f != UnknownUnit {
		return fmt.Sprintf("unit %q: symbol %q", p.UnitPath(f), p.SymbolName(s))
	}
	return fmt.Sprintf("unknown unit: symbol %q", p.SymbolName(s))
}

func unequal(what string, first, second uint64) string {
	return fmt.Sprintf("%s: %d in the first profile, %d in the second", what, first, second)
}

// difference describes the first difference between two lists of canonical
// records, both numbered as p does. It is empty if there is none.
func (p *Profile) difference(first, second []Record) string {
	v, w := Walk(first), Walk(second)
	var path []*Record // inlined callees on the way
	for {
		r, depth, ok := v.Next()
		s, otherDepth, otherOK := w.Next()
		if !ok && !otherOK {
			return ""
		}
		switch order := compareSteps(r, depth, s, otherDepth); {
		case order < 0:
			return p.path(path[:depth]) + p.record(r) + " only in the first profile"
		case order > 0:
			return p.path(path[:otherDepth]) + p.record(s) + " only in the second profile"
		case r.Kind == KindInlined:
			path = append(path[:depth], r)
		case r.Count != s.Count:
			return p.path(path[:depth]) + unequal(p.record(r), r.Count, s.Count)
		}
	}
}

// compareSteps says which of two records comes first where two walks that agreed so far have come
// to, the end being after all. The deeper one does: it belongs to a body that the other walk has
// left.
func compareSteps(r *Record, depth int, s *Record, otherDepth int) int {
	switch {
	case s == nil:
		return -1
	case r == nil:
		return +1
	case depth != otherDepth:
		return otherDepth - depth
	}
	return r.place().compare(s.place())
}

// maxPath is how many inlined callees an error names at each end of the way.
const maxPath = 4

// path writes the way to an inlined body.
func (p *Profile) path(inlined []*Record) string {
	var b strings.Builder
	for i, r := range inlined {
		switch left := len(inlined) - i; {
		case i < maxPath || left <= maxPath:
			fmt.Fprintf(&b, "%s: ", p.record(r))
		case i == maxPath:
			fmt.Fprintf(&b, "%d more: ", left-maxPath)
		}
	}
	return b.String()
}

// record names what a record is about, the location as the text form writes it (RFC 5.2).
func (p *Profile) record(r *Record) string {
	location := fmt.Sprint(r.Line)
	if r.Discriminator != 0 {
		location = fmt.Sprintf("%d.%d", r.Line, r.Discriminator)
	}
	switch r.Kind {
	case KindCount:
		return "count at " + location
	case KindCall:
		return fmt.Sprintf("calls of %s at %s", p.callee(r.Callee), location)
	default:
		return fmt.Sprintf("inlined %s at %s", p.callee(r.Callee), location)
	}
}

// callee names a symbol as the callee of a record.
func (p *Profile) callee(s SymbolRef) string {
	if f := p.SymbolUnit(s); f != UnknownUnit {
		return fmt.Sprintf("%q of unit %q", p.SymbolName(s), p.UnitPath(f))
	}
	return fmt.Sprintf("%q", p.SymbolName(s))
}
