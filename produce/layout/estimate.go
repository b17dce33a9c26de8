package layout

import (
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/saturating"
)

// estimates counts blocks, given counts of instructions alone. It has no edges: the targets of
// jumps are not known, so that blocks keep their order.
//
// Exact counts are executions, so that a block ran as often as its most frequent instruction, and a
// block without a count did not run. A sample is one of many executions. A block without samples
// may have run, so that all blocks of a sampled function count as hot.
func (p *program) estimates(set *samples.Set) {
	p.eachBlock(set, func(f *function, b *block, _, n uint64) {
		if set.Exact {
			b.count = max(b.count, n)
		} else {
			b.count = saturating.Add(b.count, n)
			f.entries = saturating.Add(f.entries, n)
		}
	})
	if set.Exact {
		return
	}
	for _, f := range p.hot {
		for i := range f.blocks {
			if f.entries > 0 {
				f.blocks[i].count = max(f.blocks[i].count, 1)
			}
		}
	}
}
