package create

import (
	"slices"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
)

// GCC may inline only the beginning of a function into a caller, a stub that calls the rest, the
// symbol f.part.0. Debug info shows all of f inlined there. GCC 12 then inlines all of it when it
// reads the profile, but the counts of the rest are elsewhere. So such a stub is written as a call
// of f, and its counts are added to those of f.

// A stub is an inlined call of which GCC inlined only the beginning of the called function. The
// inlined code calls the rest of the function, which is a symbol such as f.part.0.
type stub struct {
	rest  *function // the symbol with the rest, such as f.part.0
	body  body      // counts of the inlined beginning
	calls uint64    // recorded calls of the rest

	outer    *body // the body that contains the stub, at location where
	location location
}

// collectRests finds the symbols, such as f.part.0, that contain the rest of a function which GCC
// has split. It stores them in c.rests and c.hasRest.
func (c *creation) collectRests(functions map[uint64]*function) {
	if c.options.Suffixes == NoSuffixes {
		return
	}
	c.rests, c.hasRest = make(map[uint64]*function), make(map[string]bool)
	for low, f := range functions {
		if f.name.fragment && !f.name.cold {
			c.rests[low] = f
			c.hasRest[f.name.name] = true
		}
	}
}

// findStubs finds the places in the symbol's code at which GCC inlined only the beginning of a
// function f. It recognises them by a call in the inlined code of f to the rest of f, such as
// f.part.0.
func (p *mapper) findStubs(spans []symbolize.Span) {
	if len(p.rests) == 0 {
		return
	}
	p.rest = make(map[*symbolize.Instance]*function)
	partial := make(map[*symbolize.Instance]bool)
	for _, s := range spans {
		if s.Instance == nil || s.Instance.Caller == nil {
			continue
		}
		is, known := partial[s.Instance]
		if !known {
			is = p.hasRest[p.inlinedName(s.Instance)]
			partial[s.Instance] = is
		}
		if !is {
			continue
		}
		for at, in := range p.code.instructions(s.Low, s.High) {
			if rest := p.rests[at+in.Size+uint64(in.By)]; in.By != 0 && rest != nil && p.isStub(s.Instance, rest) {
				p.rest[s.Instance] = rest
			}
		}
	}
}

// isStub reports whether the symbol rest, such as f.part.0, is the rest of an inlined function f.
// It returns false if the call is in f itself or in another inlined copy of f, because that is
// recursion.
func (p *mapper) isStub(i *symbolize.Instance, rest *function) bool {
	name := rest.name.name
	if p.inlinedName(i) != name || p.function.name.name == name {
		return false
	}
	for c := i.Caller; c != nil; c = c.Caller {
		if p.inlinedName(c) == name {
			return false
		}
	}
	return true
}

// inlinedName returns the name that an inlined function has in the profile.
func (c *creation) inlinedName(i *symbolize.Instance) string {
	return c.unify(c.options.Suffixes.canonical(i.Function.Linkage()).name)
}

// newStub adds a stub to the mapper's symbol: at location w of the function with site outer, GCC
// inlined only the beginning of a function. rest is the symbol with the rest of the function.
// newStub returns the site for the counts of the inlined beginning.
func (p *mapper) newStub(outer site, w location, d discriminator, rest *function) site {
	s := &stub{rest: rest, outer: outer.body, location: w}
	p.placed.stubs = append(p.placed.stubs, s)
	return site{
		body: &s.body, stub: s,
		factor: saturating.Mul(outer.factor, d.factor), copy: copyID(outer.copy, d.copy),
	}
}

// callStubs replaces the stubs in the symbol's code, which are functions inlined in part, by calls
// of the whole functions. It begins with the innermost stubs.
func (p *mapper) callStubs() {
	for _, s := range slices.Backward(p.placed.stubs) {
		s.body.settle(p.options.Combine)
		s.body.total()
		n := s.entries()
		if n > 0 {
			s.outer.call(s.location, s.rest, n)
			p.report.Stubs = append(p.report.Stubs, s.rest.name.name)
		}
		if p.sameUnit && p.options.Combine == CombineMax {
			s.outer.count(s.location, 0, n, CombineMax)
		}
	}
}

// entries returns how often the inlined beginning of a function was entered: the largest count of
// its own lines, or the number of calls of the function's rest if that is larger.
func (s *stub) entries() uint64 {
	n := s.calls
	for _, c := range s.body.counts {
		n = max(n, c.n)
	}
	return n
}

// stubs returns the stubs of all symbols, by the function whose beginning was inlined.
func (c *creation) stubs() map[symbol][]*stub {
	all := make(map[symbol][]*stub)
	for _, f := range c.functions {
		if f.placed != nil {
			for _, s := range f.placed.stubs {
				all[s.rest.called()] = append(all[s.rest.called()], s)
			}
		}
	}
	return all
}

// addStubs adds the counts of stubs to a function f whose beginning GCC has inlined elsewhere, and
// adds the entries of the stubs to its head count. If no other entry of f was seen, the head count
// of f is that of f.part.0, its rest. That already includes the calls by the stubs, so addStubs
// subtracts these calls. estimated means that head counts are estimated later, so addStubs does not
// change them.
func (g *group) addStubs(stubs []*stub, estimated bool) {
	entered := slices.ContainsFunc(g.parts, (*function).entered)
	for _, s := range stubs {
		w := &functionCopy{body: s.body}
		if !estimated {
			w.head = s.entries()
		}
		if !estimated && !entered {
			w.head -= s.calls
		}
		g.copies = append(g.copies, w)
	}
}

// entered reports whether a branch to the start of the function was recorded. It is always false
// for parts of functions, such as f.part.0.
func (f *function) entered() bool { return !f.name.fragment && f.head > 0 }
