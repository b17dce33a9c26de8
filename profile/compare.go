package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Compare returns an error that describes the first difference between two profiles, or nil if they
// are equal. It ignores the order and the numbers of units and symbols, summaries, [Marks], hashes
// of files, and units without symbols. Symbols without functions are compared, too.
//
// The error names the unit and the symbol. For a difference between records, it also names the
// location and the enclosing inlined callees. Compare takes O(n log n).
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
			diff = b.difference(body.Renumber(f.Records, symbols), g.Records)
		}
		if diff != "" {
			return fmt.Errorf("%s: %s", a.describe(SymbolRef(s)), diff)
		}
	}
	return nil
}

// match returns, for each symbol of the profile a, the number of the symbol with the same unit and
// name in b. It is an error if one of the profiles has a symbol that the other lacks.
func match(a, b *Profile) ([]SymbolRef, error) {
	symbols := numberLike(a, b)
	if s := firstUnused(symbols, b); s >= 0 {
		return nil, fmt.Errorf("%s is only in the first profile", a.describe(SymbolRef(s)))
	}
	if a.NumSymbols() != b.NumSymbols() {
		s := firstUnused(numberLike(b, a), a)
		return nil, fmt.Errorf("%s is only in the second profile", b.describe(SymbolRef(s)))
	}
	return symbols, nil
}

// firstUnused returns the index of the first entry of symbols that is not the number of a symbol of
// p, or -1 if there is none.
func firstUnused(symbols []SymbolRef, p *Profile) int {
	return slices.IndexFunc(symbols, func(s SymbolRef) bool { return int(s) >= p.NumSymbols() })
}

// describe returns the name of a symbol and the path of its unit, for an error message.
func (p *Profile) describe(s SymbolRef) string {
	return "symbol " + p.callee(s)
}

func unequal(what string, first, second uint64) string {
	return fmt.Sprintf("%s: %d in the first profile, %d in the second", what, first, second)
}

// difference describes the first difference between two lists of canonical records, or returns ""
// if they are equal. In both lists, p defines the numbers of the symbols.
func (p *Profile) difference(first, second []Record) string {
	v, w := Walk(first), Walk(second)
	var path []*Record // inlined callees that enclose the current record
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

// compareSteps compares the next records of two bodies whose records were equal so far. r and s are
// these records, or nil at the end of a body. The result is negative if r comes first, positive if
// s comes first, and 0 if the records have the same place. The deeper record comes first, because
// the other body has no more records in that inlined body.
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

// maxPath is the maximum number of inlined callees that an error names at each end of a path.
const maxPath = 4

// path describes, for an error message, the inlined calls that enclose a record. inlined has their
// KindInlined records, the outermost first.
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

// record describes a record for an error message. The location has the form of the text format (RFC
// 5.2), for example "12.3" for line 12 and discriminator 3.
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

// callee describes the callee of a record for an error message: its name and, if known, its unit.
func (p *Profile) callee(s SymbolRef) string {
	if f := p.SymbolUnit(s); f != UnknownUnit {
		return fmt.Sprintf("%q of unit %q", p.SymbolName(s), p.UnitPath(f))
	}
	return fmt.Sprintf("%q", p.SymbolName(s))
}
