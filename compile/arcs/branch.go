package arcs

import (
	"slices"
)

// A branch is a conditional jump of the machine at the end of a block with a condition.
type branch struct {
	from   int32    // block of the machine
	to     [2]int32 // blocks of the machine
	counts [2]int64
}

// branchItems returns the evidence of conditional jumps for the arcs after a condition.
func (f *function) branchItems() (items []item) {
	seen := make(map[int32][]key) // by block of the machine
	for _, s := range f.sightings {
		seen[s.block] = append(seen[s.block], s.key)
	}
	sums := make([][2]int64, f.Blocks)
	f.decided = make([]bool, f.Blocks)
	for _, b := range f.branches {
		from, ok := f.tested(seen[b.from])
		if !ok {
			continue
		}
		votes := f.direction(from, b, seen)
		if votes == 0 {
			continue
		}
		if votes < 0 {
			b.counts[0], b.counts[1] = b.counts[1], b.counts[0]
		}
		for i := range sums[from] {
			sums[from][i] = count(uint64(sums[from][i] + b.counts[i]))
		}
	}
	for from, sum := range sums {
		if sum[0]+sum[1] == 0 {
			continue
		}
		for i, s := range f.body.blocks[from].successors {
			arc := f.arcs[[2]uint32{uint32(from), s.block}]
			items = append(items, item{arcs: []int32{arc}, low: sum[i], high: sum[i], fixed: true})
		}
	}
	return append(items, f.switchItems(seen)...)
}

// maxSeen is the number of positions in a block of the machine that are looked at. Most blocks have
// less than 10.
const maxSeen = 50

// tested returns the block whose condition decides a conditional jump, given the positions in the
// block of the machine: of the blocks with one of the conditions, the one with most positions of
// its own.
func (f *function) tested(seen []key) (block uint32, ok bool) {
	best, tie := -1, false
	for _, k := range seen[:min(len(seen), maxSeen)] {
		for _, b := range f.tests[k] {
			if b == block || !f.conditional(b) {
				continue
			}
			own := 0
			for _, k := range seen[:min(len(seen), maxSeen)] {
				if at := f.where[k]; len(at) == 1 && at[0] == b {
					own++
				}
			}
			f.decided[b] = true
			tie = own == best || tie && own < best
			if own > best {
				best, block = own, b
			}
		}
	}
	return block, best >= 0 && !tie
}

// dropConverted removes sightings that do not show how often code ran, because no jump decides the
// condition before it:
//   - code after the condition, in the same block of the machine as code before it: it runs whether
//     the condition holds or not
//   - a loop around the condition, in the same block of the machine as code outside of a loop: it
//     was unrolled, or became a call such as memset
func (f *function) dropConverted() {
	if len(f.branches) == 0 {
		return // the recording has no jumps
	}
	loops := make([]bool, f.Blocks)
	before := make(map[int32][]uint32) // blocks with conditions without jumps, by block of the machine
	undecided := func(b uint32) bool { return !f.decided[b] && f.conditional(b) }
	for b := range loops {
		for _, s := range f.body.blocks[b].successors {
			if undecided(uint32(b)) && f.returns(s.block, uint32(b)) {
				loops[b], loops[s.block] = true, true
			}
		}
	}
	outside := make(map[int32]bool) // blocks of the machine with code outside of such loops
	for _, s := range f.sightings {
		at := f.where[s.key]
		if len(at) == 1 && undecided(at[0]) {
			before[s.block] = append(before[s.block], at[0])
		}
		if len(at) == 1 && !loops[at[0]] {
			outside[s.block] = true
		}
	}
	f.sightings = slices.DeleteFunc(f.sightings, func(s sighting) bool {
		arcs := f.between[s.key]
		if at := f.where[s.key]; len(at) == 1 {
			if loops[at[0]] && outside[s.block] {
				return true
			}
			if arcs = f.into[at[0]]; len(arcs) > 1 {
				return false
			}
		}
		return slices.ContainsFunc(arcs[:min(len(arcs), nearby)], func(a int32) bool {
			return slices.Contains(before[s.block], f.Arcs[a].From)
		})
	})
}

// returns reports whether a block only leads to another one.
func (f *function) returns(b, to uint32) bool {
	for range nearby {
		next := f.body.blocks[b].successors
		if b == to || len(next) != 1 {
			break
		}
		b = next[0].block
	}
	return b == to
}

// direction compares the positions in the targets of a jump with those in the blocks after each
// successor of a block. The result is positive if the first target is the first successor, negative
// if it is the second one, and 0 if the positions do not show it.
func (f *function) direction(b uint32, jump branch, seen map[int32][]key) (votes int) {
	succ := f.body.blocks[b].successors
	after := [2][]uint32{f.after(b, succ[0].block), f.after(b, succ[1].block)}
	for i, to := range jump.to {
		sign := 1 - 2*i
		for _, k := range seen[to][:min(len(seen[to]), maxSeen)] {
			votes += sign * (f.vote(k, b, succ[0].block, after[0], after[1]) - f.vote(k, b, succ[1].block, after[1], after[0]))
		}
	}
	return votes
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
		next := f.body.blocks[blocks[i]].successors
		for _, s := range next[:min(len(next), nearby)] {
			if s.block > 1 && s.block != b && !slices.Contains(blocks, s.block) && len(blocks) < nearby {
				blocks = append(blocks, s.block)
			}
		}
	}
	return blocks
}
