package arcs

import (
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// A scale says how the counts of a profile are converted to counters of a .gcda file: each is
// divided by 1<<shift and multiplied by factor. One of the two is 1.
//
// The largest counter of a program must be less than 1<<32, because the file has 32 bits for it
// from GCC 9 on. With a factor above 1, [problem.addFloor] can add less than one execution. All
// units of a program have the same scale.
type scale struct {
	most   uint64 // the largest count of the program
	shift  int
	factor int64
}

// newScale returns the scale for a program whose largest count is most. The factor is as large as
// the file allows, but at most 1,024.
func newScale(most uint64) scale {
	n := bits.Len64(most)
	return scale{most, max(0, n-32), 1 << min(10, max(0, 32-n))}
}

// lessen returns a copy of c, the evidence of one symbol, with all counts divided by 1<<shift. The
// counts are divided before counters are inferred from them, so that the counters of a function are
// consistent with each other.
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
