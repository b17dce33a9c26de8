package arcs

import (
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// A scale is how counts become counters: they are divided by 1<<shift and multiplied by factor. All
// units of a program have the same one. The factor makes room for a floor of less than one
// execution. From GCC 9 on, a file has 32 bits for the largest counter.
type scale struct {
	most   uint64 // the largest count of the program
	shift  int
	factor int64
}

// newScale returns the scale with the largest factor, up to 1,024.
func newScale(most uint64) scale {
	n := bits.Len64(most)
	return scale{most, max(0, n-32), 1 << min(10, max(0, 32-n))}
}

// largest is the largest counter of the program.
func (s scale) largest() uint64 { return s.most >> s.shift * uint64(s.factor) }

// lessen returns a copy of code with its counts divided, before the flow is inferred from them.
func (s scale) lessen(c *profile.CodeCopy) *profile.CodeCopy {
	if s.shift == 0 {
		return c
	}
	less := *c
	less.Blocks, less.Jumps = slices.Clone(c.Blocks), slices.Clone(c.Jumps)
	for i := range less.Blocks {
		less.Blocks[i].Count >>= s.shift
	}
	for i := range less.Jumps {
		less.Jumps[i].Count >>= s.shift
	}
	return &less
}

// addFloor multiplies the counts of a function by a factor and adds a floor. GCC takes a block with
// count 0 for one that never runs, and makes it small and slow. A few samples do not show that, and
// the training does not show it for other inputs. The floor of samples is what GCC guesses for one
// execution. A function with counted executions has a smaller floor: the factor does not apply to
// it, and a block has none that GCC expects in less than half of the executions. A function without
// them has no floor.
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
