package arcs

import "slices"

// addFloor multiplies the counts of the function's arcs by factor, and adds a small count, the
// floor, so that few of them are 0. GCC assumes that a block with count 0 never runs, and makes it
// small and slow. But code without samples may have run in the recording, and code that did not run
// may run with other input.
//
// If the counts are of samples, the floor of each arc is what GCC guesses for one execution of the
// function, times factor. If they are of counted executions, it is what GCC guesses for one
// execution, rounded and not multiplied: 0 or little. A function that was counted and did not run
// has no floor.
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
