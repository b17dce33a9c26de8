package create

import (
	"math/bits"

	"github.com/go-afdo/afdo/internal/saturating"
)

// estimateCalls turns the number of samples taken during calls into a number of calls. A long call
// has many samples but may have run once, so samples show who calls a function, not how often. A
// function is called as often as it is entered, and the calls are divided among its callers in
// proportion to their samples.
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

// estimateHead adds up how often the copies of a function were entered. A copy was entered at least
// once if the function was on a sampled call stack.
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

// share returns the estimated number of calls of the group's function by a caller, given n, the
// number of samples during calls by this caller.
func (g *group) share(n uint64) uint64 {
	hi, lo := bits.Mul64(g.head, min(n, g.during))
	calls, _ := bits.Div64(hi, lo, max(g.during, 1))
	return max(calls, 1)
}
