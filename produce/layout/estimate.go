package layout

import (
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/saturating"
)

// estimates sets the counts of blocks from the counts of their instructions, for recordings without
// branches. The targets of jumps are unknown then, so it counts no edges, and blocks keep their
// order in the layout.
//
// With exact counts, the count of a block is that of its most frequent instruction, and a block
// without a count did not run. Samples cover only few executions, so a block without samples may
// have run. Then all blocks of a sampled function count as executed.
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
