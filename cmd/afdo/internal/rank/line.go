package rank

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A Line is a source line, by the symbol whose own it is.
type Line struct {
	Symbol profile.SymbolRef
	Line   uint32 // offset from the line of the symbol's declaration
}

// Compare orders lines by symbol, then by offset.
func (l Line) Compare(o Line) int {
	return cmp.Or(cmp.Compare(l.Symbol, o.Symbol), cmp.Compare(l.Line, o.Line))
}

// A LineCount is the own samples of a line, of all its discriminators and in all bodies that hold
// it.
type LineCount struct {
	Line
	Count uint64
}

// Lines returns the lines that have samples, those with the most first. It takes
// O(n log n) and 16 bytes for each of the n records of counts.
func Lines(p *profile.Profile) []LineCount {
	var lines []LineCount
	var open []profile.SymbolRef // the bodies around a record, outermost first
	for s, f := range p.Functions() {
		open = append(open[:0], s)
		for w := profile.Walk(f.Records); ; {
			r, depth, ok := w.Next()
			if !ok {
				break
			}
			open = open[:depth+1]
			switch {
			case r.Kind == profile.KindCount && r.Count > 0:
				lines = append(lines, LineCount{Line{open[depth], r.Line}, r.Count})
			case r.Kind == profile.KindInlined:
				open = append(open, r.Callee)
			}
		}
	}
	slices.SortFunc(lines, func(a, b LineCount) int { return a.Compare(b.Line) })
	kept := lines[:0]
	for _, l := range lines {
		if n := len(kept); n > 0 && kept[n-1].Line == l.Line {
			kept[n-1].Count = saturating.Add(kept[n-1].Count, l.Count)
			continue
		}
		kept = append(kept, l)
	}
	slices.SortFunc(kept, func(a, b LineCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Compare(b.Line))
	})
	return kept
}
