package create

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A group is a function of the profile, with all symbols of the binary that belong to it. These are
// its clones, its parts such as f.part.0 and f.cold, and its copies in other units.
type group struct {
	symbol symbol
	parts  []*function
	copies []*functionCopy
	weight uint64
	head   uint64 // sum of the head counts of wholes
	during uint64 // samples taken while the function was on a call stack
}

// assemble makes the profile from the counts that were mapped to source lines. It adds up the
// counts of all symbols of a function, because each symbol ran separately.
func (c *creation) assemble() (*profile.Profile, error) {
	groups := c.groups()
	a := &assembly{creation: c, profile: profile.New()}
	hottest, stubs := uint64(0), c.stubs()
	for _, g := range groups {
		hottest = max(hottest, g.weight)
		if g.weight > c.options.MinSamples {
			g.copies = c.copies(g)
			g.addStubs(stubs[g.symbol], c.report.Estimated)
		} else {
			c.drop(g)
		}
	}
	if c.report.Stacks {
		estimateCalls(groups)
	}
	if !c.options.ObservedHeads {
		for _, g := range groups {
			g.estimateUnseenHead()
		}
	}
	for _, g := range groups {
		if g.weight > c.options.MinSamples {
			a.add(g)
		}
	}
	switch {
	case c.report.Functions > 0:
		return a.profile, nil
	case c.report.Undeclared > c.report.NoLines:
		return nil, fmt.Errorf("create: %s: %w", c.file.Path(), ErrNoDeclarations)
	case c.report.NoLines > 0 || c.report.Unplaced > 0:
		return nil, fmt.Errorf("create: %s: %w%s", c.file.Path(), ErrNoLines, c.whyNoLines())
	}
	return nil, c.errThreshold(hottest)
}

// whyNoLines returns the end of the message for [ErrNoLines]. It says why debug info has no lines
// for the sampled code, as far as that is known.
func (c *creation) whyNoLines() string {
	if n := len(c.report.Missing); n > 0 {
		return fmt.Sprintf(": it is split, and %d of its files are missing: %s", n, c.report.Missing[0])
	}
	return ": " + c.report.Hottest + " and others were compiled without -g"
}

// drop counts a function that is left out of the profile because its weight does not exceed the
// threshold. It adds the weight to the report.
func (c *creation) drop(g *group) {
	sampled := false
	for _, f := range g.parts {
		sampled = sampled || f.weight > 0
		c.report.Below = saturating.Add(c.report.Below, f.weight)
	}
	if sampled {
		c.report.Dropped++
	}
}

// groups returns a group for each function of the profile. The binary's symbols in a group have the
// same name, without suffixes such as .part.0, and the same source file in the profile.
func (c *creation) groups() []*group {
	bySymbol := make(map[symbol]*group)
	var groups []*group
	hottest := uint64(0)
	for _, f := range c.functions {
		if !f.described() && f.written && f.weight > hottest {
			hottest, c.report.Hottest = f.weight, f.symbol.Names[0]
		}
		s := f.called()
		g := bySymbol[s]
		if g == nil {
			g = &group{symbol: s}
			bySymbol[s] = g
			groups = append(groups, g)
		}
		g.parts = append(g.parts, f)
		g.weight = saturating.Add(g.weight, f.weight)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.symbol.file, b.symbol.file), cmp.Compare(a.symbol.name, b.symbol.name))
	})
	return groups
}

// An assembly is the last step of making a profile: it adds the functions with their counts to the
// profile.
type assembly struct {
	*creation
	profile *profile.Profile
	body    profile.Body
}

// ref returns the number by which the profile refers to the function s. It adds the function to the
// profile if necessary.
func (a *assembly) ref(s symbol) profile.SymbolRef {
	return a.profile.AddSymbol(a.profile.AddUnit(s.file), s.name)
}

// callee returns the number by which the profile refers to a called function. It returns false for
// a cold part such as f.cold, because a branch from f to it is a jump within f and no call.
func (a *assembly) callee(f *function) (profile.SymbolRef, bool) {
	if f.name.cold {
		return 0, false
	}
	return a.ref(f.called()), true
}

// described reports whether debug info was read for the function and contains its name.
func (f *function) described() bool { return f.placed != nil && f.placed.symbol.name != "" }

// called returns the source file and the name that the profile has for a function that is called.
// The file is empty if debug info does not contain the function's name.
func (f *function) called() symbol {
	if f.described() {
		return f.placed.symbol
	}
	return symbol{name: f.name.name}
}

// A functionCopy is one copy of a function, such as a clone. It has the counts of the copy and of
// the parts, such as f.part.0 and f.cold, that the compiler split from it.
type functionCopy struct {
	body   body
	weight uint64
	head   uint64
	time   uint64
	pieces int
}

// copies returns the copies of a function in the binary, such as clones. It joins each part of a
// function, such as f.cold, with the copy that it was split from. Clones, and the copies that a
// header causes in several units, stay separate, because calls enter each of them on its own.
func (c *creation) copies(g *group) []*functionCopy {
	type key struct {
		unit *symbolize.Unit
		copy string
	}
	known := make(map[key]*functionCopy)
	var all []*functionCopy
	entered := slices.ContainsFunc(g.parts, (*function).entered)
	for _, f := range g.parts {
		if f.placed == nil || f.placed.body.empty() {
			continue
		}
		k := key{f.placed.unit, f.name.copy}
		w := known[k]
		if w == nil {
			w = new(functionCopy)
			known[k] = w
			all = append(all, w)
		}
		w.body.add(&f.placed.body)
		w.pieces++
		if w.time == 0 || f.time != 0 && f.time < w.time {
			w.time = f.time
		}
		if !f.name.fragment {
			w.weight = saturating.Add(w.weight, f.weight)
		}
		if !f.name.fragment || !entered && !f.name.cold {
			w.head = saturating.Add(w.head, f.head)
		}
	}
	for _, w := range all {
		c.finish(w)
	}
	return all
}

// estimateUnseenHead sets the head count of a function, which is how often it was entered, if no
// sample shows an entry. It takes the count of the function's first byte, but at least 1. No branch
// to the first byte was recorded, neither a call nor a jump of a loop, so each execution of the
// first byte was an entry. In a sampled profile, such functions are entered rarely and run long.
func (g *group) estimateUnseenHead() {
	if len(g.copies) == 0 || slices.ContainsFunc(g.copies, func(w *functionCopy) bool { return w.head > 0 }) {
		return
	}
	first := uint64(0)
	for _, f := range g.parts {
		if !f.name.fragment {
			first = max(first, f.first())
		}
	}
	hottest := slices.MaxFunc(g.copies, func(a, b *functionCopy) int { return cmp.Compare(a.weight, b.weight) })
	hottest.head = max(first, 1)
}

// finish computes the final counts of a copy of a function. A block that the compiler has
// duplicated, for example by unrolling a loop, gets one count from the counts of its duplicates. If
// the recording has no branches, finish also estimates the head count.
func (c *creation) finish(w *functionCopy) {
	if w.pieces > 1 {
		w.body.settle(c.options.Combine)
	}
	w.body.total()
	if c.report.Estimated {
		w.head = min(w.body.entry(), w.weight)
	}
}

// add adds each copy of a function to the profile, which adds up their counts. If no sample of the
// function has a source location, add counts the function as dropped in the report.
func (a *assembly) add(g *group) {
	for _, w := range g.copies {
		a.body.Reset()
		w.body.records(&a.body, a.ref, a.callee)
		a.profile.AddFunction(a.ref(g.symbol), profile.Function{HeadCount: w.head, Timestamp: w.time, Records: a.body.Records()})
	}
	if len(g.copies) > 0 {
		a.report.Functions++
	} else {
		a.report.Dropped++
	}
}

// empty reports whether a body has no counts, calls or inlined bodies.
func (b *body) empty() bool { return len(b.counts)+len(b.calls)+len(b.inlined) == 0 }
