package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/saturating"
)

// LimitTargets returns a profile in which each location of a body has at most n call targets. It
// keeps the targets with the most calls; among targets with equal calls, the first by unit and
// name. Samples and inlined bodies do not change.
//
// removed is the number of removed targets, and calls the sum of their calls, saturating. Unused
// symbols are dropped. The result has no summary. p is not changed. LimitTargets takes O(n log n).
func (p *Profile) LimitTargets(n int) (q *Profile, removed int, calls uint64) {
	q = p.like()
	l := targetLimiter{profile: p, n: n}
	for s, f := range p.Functions() {
		q.AddFunction(s, Function{f.HeadCount, f.Timestamp, l.limit(f.Records)})
	}
	return q.pruned(), l.removed, l.calls
}

type targetLimiter struct {
	profile *Profile
	n       int
	removed int
	calls   uint64
	body    Body
	targets []Record // targets of the current location
}

// limit returns the records of a function with at most l.n call targets at each location. They are
// valid until the next call of limit.
func (l *targetLimiter) limit(records []Record) []Record {
	l.body.Reset()
	open := 0
	w := Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		if r.Kind == KindCall && depth == open && l.sameLocation(r) {
			l.targets = append(l.targets, *r)
			continue
		}
		l.flush()
		for ; open > depth; open-- {
			l.body.Leave()
		}
		switch r.Kind {
		case KindCount:
			l.body.Count(r.Line, r.Discriminator, r.Count)
		case KindCall:
			l.targets = append(l.targets, *r)
		case KindInlined:
			l.body.Enter(r.Line, r.Discriminator, r.Callee)
			open++
		}
	}
	l.flush()
	for ; open > 0; open-- {
		l.body.Leave()
	}
	return l.body.Records()
}

func (l *targetLimiter) sameLocation(r *Record) bool {
	return len(l.targets) > 0 && l.targets[0].place().where == r.place().where
}

// flush adds to the body those targets of the current location that have the most calls, at most as
// many as the limit.
func (l *targetLimiter) flush() {
	if len(l.targets) > l.n {
		slices.SortFunc(l.targets, l.hotter)
		for _, r := range l.targets[l.n:] {
			l.removed++
			l.calls = saturating.Add(l.calls, r.Count)
		}
		l.targets = l.targets[:l.n]
		slices.SortFunc(l.targets, func(a, b Record) int { return a.place().compare(b.place()) })
	}
	for _, r := range l.targets {
		l.body.Call(r.Line, r.Discriminator, r.Callee, r.Count)
	}
	l.targets = l.targets[:0]
}

// hotter compares two call targets, for sorting. The one with more calls comes first.
func (l *targetLimiter) hotter(a, b Record) int {
	p := l.profile
	return cmp.Or(
		cmp.Compare(b.Count, a.Count),
		strings.Compare(p.UnitPath(p.SymbolUnit(a.Callee)), p.UnitPath(p.SymbolUnit(b.Callee))),
		strings.Compare(p.SymbolName(a.Callee), p.SymbolName(b.Callee)),
	)
}
