package arcs

import (
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
)

// guessed returns the counts that GCC guesses for the function's arcs if the function runs the
// given number of times.
func (p *problem) guessed(executions int64) ([]int64, error) {
	counters := make([]int64, 0, len(p.Arcs))
	for i, a := range p.Arcs {
		if a.Flags&gcda.Tree == 0 {
			counters = append(counters, int64(min(maxCount, float64(p.guess[i]/p.block[0])*float64(executions)+0.5)))
		}
	}
	flows, err := p.Expand(counters)
	for i := range flows {
		flows[i] = max(0, flows[i])
	}
	return flows, err
}

// guessedUpTo returns the counts that GCC guesses for the function's arcs, scaled so that the
// largest one is about n. It returns nil if GCC has no guesses.
func (p *problem) guessedUpTo(n int64) []int64 {
	const some = 1000
	flows, _ := p.guessed(some)
	flows, _ = p.guessed(max(1, int64(float64(n)/float64(slices.Max(append(flows, 1)))*some)))
	return flows
}
