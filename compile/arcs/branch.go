package arcs

import "slices"

// branchItems returns the evidence of conditional jumps for the arcs after a condition.
func (f *function) branchItems() (items []item) {
	seen := make(map[int32][]key) // by block of the machine
	for _, s := range f.sightings {
		seen[s.block] = append(seen[s.block], s.key)
	}
	sums := make(map[uint32][2]int64)
	var blocks []uint32
	for _, b := range f.branches {
		at := f.tests[b.key]
		if len(at) != 1 || len(f.body.blocks[at[0]].successors) != 2 {
			continue
		}
		swapped, ok := f.direction(at[0], b, seen)
		if !ok {
			continue
		}
		if swapped {
			b.counts[0], b.counts[1] = b.counts[1], b.counts[0]
		}
		if _, known := sums[at[0]]; !known {
			blocks = append(blocks, at[0])
		}
		sum := sums[at[0]]
		sums[at[0]] = [2]int64{count(uint64(sum[0] + b.counts[0])), count(uint64(sum[1] + b.counts[1]))}
	}
	for _, b := range blocks {
		for i, s := range f.body.blocks[b].successors {
			arc := f.arcs[[2]uint32{b, s.block}]
			items = append(items, item{arcs: []int32{arc}, low: sums[b][i], high: sums[b][i], fixed: true})
		}
	}
	return items
}

// direction reports whether the first target of a jump is the second successor of a block. It compares the
// positions in the targets with those of the blocks after each successor.
func (f *function) direction(b uint32, jump branch, seen map[int32][]key) (swapped, ok bool) {
	succ := f.body.blocks[b].successors
	after := [2][]uint32{f.after(b, succ[0].block), f.after(b, succ[1].block)}
	votes := 0
	for i, to := range jump.to {
		sign := 1 - 2*i
		for _, k := range seen[to] {
			votes += sign * (f.vote(k, b, succ[0].block, after[0], after[1]) - f.vote(k, b, succ[1].block, after[1], after[0]))
		}
	}
	return votes < 0, votes != 0
}

// vote is 1 if a position is only in blocks after one successor, and not in those after the other.
func (f *function) vote(k key, from, to uint32, after, other []uint32) int {
	if arcs := f.between[k]; len(arcs) == 1 {
		if a := f.Arcs[arcs[0]]; a.From == from && a.To == to {
			return 1
		}
	}
	if len(f.where[k]) == 0 {
		return 0
	}
	for _, b := range f.where[k] {
		if !slices.Contains(after, b) || slices.Contains(other, b) {
			return 0
		}
	}
	return 1
}

// nearby is the number of blocks that after returns at most.
const nearby = 12

// after returns the next blocks from a successor of a block on.
func (f *function) after(b, first uint32) []uint32 {
	blocks := []uint32{first}
	for i := 0; i < len(blocks); i++ {
		for _, s := range f.body.blocks[blocks[i]].successors {
			if s.block > 1 && s.block != b && !slices.Contains(blocks, s.block) && len(blocks) < nearby {
				blocks = append(blocks, s.block)
			}
		}
	}
	return blocks
}
