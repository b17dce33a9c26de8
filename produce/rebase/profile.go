package rebase

import (
	"errors"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// Profile moves the counts of p, a profile of the old sources, to the lines of the new sources, and
// returns the new profile. It does not change p. It returns p itself if nothing moves and p has no
// evidence. The report is returned with [ErrNothing] as well.
//
// A function of n lines that has m lines in the new sources takes O((n+m) log(n+m)), plus a bounded
// number of steps for each line. docs/guide/rebase.md describes which changes are recognised.
//
// If old is nil, Profile uses the fingerprints of the old source lines that the profile contains,
// see [profile.Marks]. The error is [ErrNoSources] if it has none. If p has such marks, the new
// profile has marks of the new sources.
func Profile(p *profile.Profile, old, new *Sources) (*profile.Profile, *Report, error) {
	var from oldSources = old
	if old == nil {
		if !p.HasMarks() {
			return nil, nil, ErrNoSources
		}
		from = readMarks(p, new.same)
	}
	uses := usesOf(p)
	plan := makePlan(uses, from, new)
	plan.renameInlines(new.inlineRenames(symbolsOf(uses)))
	report, err := plan.report(placesOf(p))
	if err != nil {
		return nil, report, err
	}
	return plan.apply(p), report, nil
}

// ErrNoSources is returned if no old sources are given and the profile has no fingerprints of their
// lines.
var ErrNoSources = errors.New("rebase: the profile does not remember how its sources were")

// apply returns a copy of a profile with its counts at their new lines. If nothing moves and the
// profile has no evidence, it returns the profile itself.
func (p *plan) apply(from *profile.Profile) *profile.Profile {
	if p.changesNothing() && from.Evidence() == nil {
		return from
	}
	to := from.Relocate(p.relocation)
	p.remember(from, to)
	p.moveEvidence(from, to)
	return to
}

// remember stores fingerprints of the new source lines (marks) in a moved profile, for the
// functions that had marks of the old lines.
func (p *plan) remember(from, to *profile.Profile) {
	units := make(map[string]profile.UnitRef, to.NumUnits())
	for u := range to.NumUnits() {
		units[to.UnitPath(profile.UnitRef(u))] = profile.UnitRef(u)
	}
	for s, c := range p.changes {
		unit, ok := units[c.path]
		if !ok || c.outcome == Lost || from.Marks(profile.SymbolRef(s)) == nil {
			continue
		}
		ref, ok := to.FindSymbol(unit, c.name)
		switch {
		case !ok:
		case c.new == nil:
			to.SetMarks(ref, from.Marks(profile.SymbolRef(s)))
			if p.old.unchanged(c.file) {
				to.SetUnitSum(unit, from.UnitSum(from.SymbolUnit(profile.SymbolRef(s))))
			}
		default:
			to.SetMarks(ref, outline.Marks(c.new.Lines()))
			c.new.forget()
			if file := p.new.fileOf(c.new.file); file != nil {
				to.SetUnitSum(unit, file.sum())
			}
		}
	}
}

// changesNothing reports whether the plan changes no symbol, path or line.
func (p *plan) changesNothing() bool {
	return !slices.ContainsFunc(p.changes, func(c *change) bool {
		return !c.same || c.outcome == Lost || c.name != c.symbol || c.path != c.file
	})
}

// relocation returns where the records of a symbol go: the new name and file of the function, and
// the new line offsets.
func (p *plan) relocation(s profile.SymbolRef) profile.Relocation {
	c := p.changes[s]
	r := profile.Relocation{Path: c.path, Name: c.name, Drop: c.outcome == Lost}
	if !c.same {
		r.Line = func(line uint32) (uint32, bool) {
			to, ok := c.line(wire.Offset(line))
			return wire.Line(to), ok
		}
	}
	if len(c.apart) > 0 {
		r.CallLine = func(line uint32, to profile.SymbolRef) (uint32, bool) {
			at, ok := c.callLine(wire.Offset(line), outline.Word(p.changes[to].spelled.name))
			return wire.Line(at), ok
		}
	}
	return r
}

// placesOf iterates over the records of a profile. Each comes with the symbol of the innermost
// function that contains it, which may be inlined.
func placesOf(p *profile.Profile) iter.Seq[place] {
	return func(yield func(place) bool) {
		var open []profile.SymbolRef
		for s, f := range p.Functions() {
			open = append(open[:0], s)
			w := profile.Walk(f.Records)
			for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
				open = open[:depth+1]
				at := place{symbol: int(open[depth]), line: wire.Offset(r.Line), callee: none}
				switch r.Kind {
				case profile.KindCount:
					at.count = r.Count
				case profile.KindInlined:
					open = append(open, r.Callee)
					fallthrough
				default:
					at.callee = int(r.Callee)
				}
				if !yield(at) {
					return
				}
			}
		}
	}
}
