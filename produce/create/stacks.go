package create

import (
	"math/bits"

	"github.com/go-afdo/afdo/internal/saturating"
)

// estimateCalls replaces numbers of samples taken during calls by estimated numbers of calls. A
// long call has many samples but may have run once, so samples show who calls a function, not how
// often. A function is called as often as it is entered. estimateCalls divides this number among
// the callers in proportion to their samples.
func estimateCalls(groups []*group) {
	called := make(map[*function]*group)
	for _, g := range groups {
		g.estimateHead()
		for _, f := range g.parts {
			called[f] = g
		}
	}
	for _, g := range groups {
		for _, w := range g.copies {
			for b := range w.body.all {
				for i, c := range b.calls {
					b.calls[i].n = called[c.callee].share(c.n)
				}
			}
		}
	}
}

// estimateHead sets the head count of a function to the number of times that its copies were
// entered. If the function was on a sampled call stack, the number is at least 1.
func (g *group) estimateHead() {
	for _, f := range g.parts {
		g.during = saturating.Add(g.during, f.during)
	}
	for _, w := range g.copies {
		if g.during > 0 {
			w.head = max(w.head, 1)
		}
		g.head = saturating.Add(g.head, w.head)
	}
}

// share returns the estimated number of calls of a function by one caller. n is the number of
// samples that were taken during calls by this caller.
func (g *group) share(n uint64) uint64 {
	hi, lo := bits.Mul64(g.head, min(n, g.during))
	calls, _ := bits.Div64(hi, lo, max(g.during, 1))
	return max(calls, 1)
}
