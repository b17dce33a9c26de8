package arcs

import (
	"io"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
)

// Guess returns the counters that GCC's own guesses of frequencies give, if each function runs the
// given number of times. They show what the options that -fprofile-use turns on gain without a
// profile. See [Infer] for notes and dump.
func Guess(notes *gcda.Notes, dump io.Reader, executions uint64) (*gcda.Counters, error) {
	u, _, err := newUnit(notes, dump)
	if err != nil {
		return nil, err
	}
	c := &gcda.Counters{Header: notes.Header, Ended: true}
	largest := int64(0)
	for i := range notes.Functions {
		f := u.functions[notes.Functions[i].Name]
		if f == nil || f.Function != &notes.Functions[i] {
			continue
		}
		flows, err := newProblem(f).guessed(count(executions))
		if err != nil {
			continue
		}
		largest = max(largest, addCounters(c, f, flows))
	}
	c.Summaries = []gcda.Summary{{Runs: 1, SumMax: uint64(largest)}}
	return c, nil
}

// guessed returns the counts of the function's arcs that GCC guesses if the function runs the given
// number of times.
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

// guessedUpTo returns the counts of the function's arcs that GCC guesses, scaled so that the
// largest one is about n. It returns nil if there are no guesses.
func (p *problem) guessedUpTo(n int64) []int64 {
	const some = 1000
	flows, _ := p.guessed(some)
	flows, _ = p.guessed(max(1, int64(float64(n)/float64(slices.Max(append(flows, 1)))*some)))
	return flows
}
