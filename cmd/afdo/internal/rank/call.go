package rank

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A Site is a source location that calls a symbol. Its line is one of the
// caller's own: where the caller is inlined, its calls are still its own.
type Site struct {
	Caller        profile.SymbolRef
	Line          uint32 // offset from the line of the caller's declaration
	Discriminator uint32
	Callee        profile.SymbolRef
}

// Compare orders sites by caller, place and callee.
func (s Site) Compare(o Site) int {
	return cmp.Or(
		cmp.Compare(s.Caller, o.Caller),
		cmp.Compare(s.Line, o.Line),
		cmp.Compare(s.Discriminator, o.Discriminator),
		cmp.Compare(s.Callee, o.Callee),
	)
}

// A Call is how often a location has called a symbol, in all the bodies that hold the location.
type Call struct {
	Site
	Count uint64
}

// Calls returns the call targets of a profile, the most frequent first. Calls
// that were inlined are none: their samples are in the inlined bodies. It takes
// O(n log n) and 24 bytes for each of the n records of calls.
func Calls(p *profile.Profile) []Call {
	var calls []Call
	var callers []profile.SymbolRef // of the open bodies, outermost first
	for s, f := range p.Functions() {
		callers = append(callers[:0], s)
		for w := profile.Walk(f.Records); ; {
			r, depth, ok := w.Next()
			if !ok {
				break
			}
			callers = callers[:depth+1]
			switch r.Kind {
			case profile.KindCall:
				calls = append(calls, Call{Site{callers[depth], r.Line, r.Discriminator, r.Callee}, r.Count})
			case profile.KindInlined:
				callers = append(callers, r.Callee)
			}
		}
	}
	calls = together(calls)
	slices.SortFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Compare(b.Site))
	})
	return calls
}

// together adds up the calls of each site.
func together(calls []Call) []Call {
	slices.SortFunc(calls, func(a, b Call) int { return a.Compare(b.Site) })
	kept := calls[:0]
	for _, c := range calls {
		if n := len(kept); n > 0 && kept[n-1].Site == c.Site {
			kept[n-1].Count = saturating.Add(kept[n-1].Count, c.Count)
			continue
		}
		kept = append(kept, c)
	}
	return kept
}
