package arcs

import (
	"math"
	"slices"
)

// A branch is a conditional jump at the end of a block of machine code that has the source position
// of a condition.
type branch struct {
	from   int32    // block of machine code
	to     [2]int32 // blocks of machine code: the target of the jump and the next block, in any order
	counts [2]int64 // how often each block of to came next
}

// branchItems returns how often the two arcs after each condition were taken, according to the
// recorded conditional jumps, and how often the arcs after each switch were.
func (f *function) branchItems() (items []item) {
	seen := make(map[int32][]key) // by block of machine code
	for _, s := range f.sightings {
		seen[s.block] = append(seen[s.block], s.key)
	}
	sums := make([][2]int64, f.Blocks)
	f.decided = make([]bool, f.Blocks)
	for _, b := range f.branches {
		from, votes := f.tested(b, seen)
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

// maxSeen limits the positions of a block of machine code that are compared with those of the
// graph. Most blocks have less than 10.
const maxSeen = 50

// tested returns the block of the graph whose condition decides a conditional jump, and the result
// of direction for it. seen has the source positions in each block of machine code. Of the blocks
// whose condition is at a position in the block that ends with the jump, it is the one that has
// most of the positions for itself alone. votes is 0 if there is none, if two have equally many, or
// if the successors do not lead to the targets of the jump.
func (f *function) tested(jump branch, seen map[int32][]key) (block uint32, votes int) {
	positions := seen[jump.from][:min(len(seen[jump.from]), maxSeen)]
	best := -1
	ways := make(map[uint32]int) // for each condition that is considered, the result of direction
	unclear := true
	for _, k := range positions {
		for _, b := range f.tests[k] {
			if _, ok := ways[b]; ok || !f.conditional(b) {
				continue
			}
			way, own := f.direction(b, jump, seen), 0
			ways[b], unclear = way, unclear && way == 0
			for _, k := range positions {
				if at := f.where[k]; len(at) == 1 && at[0] == b {
					own++
				}
			}
			if own > best {
				best, block, votes = own, b, way
			} else if own == best {
				votes = 0
			}
		}
	}
	for b, way := range ways {
		f.decided[b] = f.decided[b] || unclear || way != 0
	}
	return block, votes
}

// dropConverted removes counts of machine code (sightings) that do not show how often the code ran
// in the graph, because the compiler replaced the jump of a condition:
//
//   - code that only one way from the condition reaches, in the same block of machine code as the
//     condition: it runs whichever way control goes
//   - such code in a block of machine code with code of other blocks of the graph: constants and
//     what else does not change in a loop are moved out of the loop
//   - a loop around the condition, in the same block of machine code as code outside of a loop: it
//     was unrolled, or became a call such as memset
func (f *function) dropConverted() {
	if len(f.branches) == 0 {
		return // the recording has no jumps
	}
	loops := make([]bool, f.Blocks)
	undecided := func(b uint32) bool { return !f.decided[b] && f.conditional(b) }
	for b := range loops {
		for _, s := range f.body.blocks[b].successors {
			if undecided(uint32(b)) && f.returns(s.block, uint32(b)) {
				loops[b], loops[s.block] = true, true
			}
		}
	}
	const several = math.MaxUint32
	codeOf := make(map[int32]uint32)   // for each block of machine code, the block of the graph whose code it has, or several
	outside := make(map[int32]bool)    // blocks of machine code with code outside of such loops
	converted := make(map[uint32]bool) // blocks whose condition has code, but no jump
	for _, s := range f.sightings {
		at := f.where[s.key]
		if len(at) != 1 {
			continue
		}
		outside[s.block] = outside[s.block] || !loops[at[0]]
		converted[at[0]] = undecided(at[0])
		if first, ok := codeOf[s.block]; ok && first != at[0] {
			codeOf[s.block] = several
		} else {
			codeOf[s.block] = at[0]
		}
	}
	f.sightings = slices.DeleteFunc(f.sightings, func(s sighting) bool {
		if at := f.where[s.key]; len(at) == 1 && loops[at[0]] && outside[s.block] {
			return true
		}
		return slices.ContainsFunc(f.arcsTo(s.key), func(a int32) bool {
			from, code := f.Arcs[a].From, codeOf[s.block]
			return converted[from] && (code == several || code == from)
		})
	})
}

// arcsTo returns the arcs of the graph, at most nearby, of which control has taken one when it
// reaches code at source position k: the only arc into the only block that has the position, or the
// arcs that have it themselves. It returns none if several blocks have it or several arcs lead to
// the block.
func (f *function) arcsTo(k key) []int32 {
	arcs := f.between[k]
	if at := f.where[k]; len(at) == 1 {
		if arcs = f.into[at[0]]; len(arcs) > 1 {
			return nil
		}
	}
	return arcs[:min(len(arcs), nearby)]
}

// returns reports whether control always goes from block b to block to, in at most nearby steps and
// without a condition.
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

// direction finds out which target of a conditional jump is which successor of block b, whose
// condition it decides. It compares the source positions in the targets with those in the blocks
// that follow each successor. The result is positive if the first target is the first successor,
// negative if it is the second one, and 0 if the positions do not show it.
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

// vote returns 1 if code at source position k, seen in a target of a jump, shows that the jump
// takes the arc from block from to block to. It does if the position is of that arc, or if only
// blocks of after have it, which follow this successor, and none of other, which follow the other
// successor. Otherwise vote returns 0.
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

// nearby limits a search of the control flow graph that begins at one block: it looks at this many
// blocks at most.
const nearby = 12

// after returns the blocks that can be reached from first, a successor of b, without passing b. The
// nearest come first, at most nearby of them.
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
