package arcs

import "slices"

// addFloor multiplies the counts of the function's arcs by factor, and adds a small count to each,
// the floor, so that few counts are 0. GCC assumes that a block with count 0 never runs, and makes
// it small and slow. But code without samples may have run in the recording, and code that did not
// run may run with other input.
//
// If sampled is true, the counts come from samples. Then the floor of each arc is what GCC guesses
// for one execution of the function, times factor. Otherwise the counts come from counted
// executions. Then the floor is what GCC guesses for one execution, rounded and not multiplied,
// which is 0 or little. A counted function that did not run has no floor.
func (p *problem) addFloor(flows []int64, factor int64, sampled bool) {
	executions, weight := int64(1), int64(1)
	if sampled {
		executions = min(16, factor)
		weight = factor / executions
	} else if slices.Max(append(flows, 0)) == 0 {
		return
	}
	floor, err := p.guessed(executions)
	if err != nil {
		return
	}
	for i := range flows {
		flows[i] = flows[i]*factor + floor[i]*weight
	}
}
