package arcs

import (
	"math"
	"slices"
)

// A branch is a recorded conditional jump. It ends a block of machine code that has the source
// position of a condition.
type branch struct {
	from   int32    // block of machine code
	to     [2]int32 // blocks of machine code: the target of the jump and the next block, in any order
	counts [2]int64 // how often each block of to came next
}

// branchItems converts the recorded jumps to evidence about arcs of the graph: how often each of
// the two arcs after a condition was taken, and how often each of the arcs after a switch was
// taken.
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
			items = append(items, item{arcs: true, numbers: []uint32{arc}, low: sum[i], high: sum[i], fixed: true})
		}
	}
	return append(items, f.switchItems(seen)...)
}

// maxSeen limits how many source positions of a block of machine code are compared with those of
// the control flow graph. Most blocks have less than 10.
const maxSeen = 50

// tested finds the condition that a conditional jump of the machine code decides. It returns the
// block of the control flow graph that ends with this condition, and the result of
// [function.direction] for that block. seen has the source positions in each block of machine code.
//
// The jump ends a block of machine code. Of the conditions with a source position in that block,
// tested chooses the one whose graph block has the most positions that no other graph block has. If
// several conditions have equally many, it chooses the one whose two successors are the two targets
// of the jump, see the result both of direction. votes is 0 if there is no condition, if two
// conditions are equally good in this respect as well, or if the successors of the condition do not
// lead to the targets of the jump.
func (f *function) tested(jump branch, seen map[int32][]key) (block uint32, votes int) {
	positions := seen[jump.from][:min(len(seen[jump.from]), maxSeen)]
	best, bestBoth := -1, false
	ways := make(map[uint32]int) // for each condition that is considered, the result of direction
	unclear := true
	for _, k := range positions {
		for _, b := range f.tests[k] {
			if _, ok := ways[b]; ok || !f.conditional(b) {
				continue
			}
			own := 0
			way, both := f.direction(b, jump, seen)
			ways[b], unclear = way, unclear && way == 0
			for _, k := range positions {
				if at := f.where[k]; len(at) == 1 && at[0] == b {
					own++
				}
			}
			if own > best || own == best && both && !bestBoth {
				best, bestBoth, block, votes = own, both, b, way
			} else if own == best && both == bestBoth {
				votes = 0
			}
		}
	}
	for b, way := range ways {
		f.decided[b] = f.decided[b] || unclear || way != 0
	}
	return block, votes
}

// dropConverted removes counts that do not show how often code ran, because the compiler has
// replaced the jump of a condition. It removes the counts of three kinds of machine code:
//
//   - code that runs after only one outcome of a condition in the source, but that is in the same
//     block of machine code as the condition: this block runs for both outcomes
//   - code that runs after only one outcome, and is in a block of machine code together with code
//     of other blocks of the graph: the compiler moves constants, and whatever else does not change
//     in a loop, out of the loop
//   - a loop around the condition that is in the same block of machine code as code outside of a
//     loop: the loop was unrolled, or became a call such as memset
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
		return slices.ContainsFunc(f.arcsTo(s.key), func(a uint32) bool {
			from, code := f.Arcs[a].From, codeOf[s.block]
			return converted[from] && (code == several || code == from)
		})
	})
}

// arcsTo returns arcs of the control flow graph that show how often code at source position k ran:
// control takes one of them each time before it reaches the code. If a single block has the
// position, the result is the arc into that block, or none if there are several. Otherwise the
// result is the arcs that have the position themselves, at most nearby of them, see [nearby].
func (f *function) arcsTo(k key) []uint32 {
	arcs := f.between[k]
	if at := f.where[k]; len(at) == 1 {
		if arcs = f.into[at[0]]; len(arcs) > 1 {
			return nil
		}
	}
	return arcs[:min(len(arcs), nearby)]
}

// returns reports whether control that reaches block b always goes on to block to: each block on
// the path has a single successor. It looks at no more than nearby blocks, see [nearby].
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

// direction finds out which way a conditional jump goes. The jump decides the condition at the end
// of block b, which has two successors in the graph, and the jump has two targets in the machine
// code. direction compares the source positions in each target with those in the blocks after each
// successor. Each position is a vote. votes is positive if the first target is the first successor,
// negative if it is the second successor, and 0 if the positions do not show it. If the blocks
// after the successors do not show it, the positions in the two successors alone decide, see
// [function.nearest]. both reports whether one target has code of one successor, and the other
// target has code of the other successor.
func (f *function) direction(b uint32, jump branch, seen map[int32][]key) (votes int, both bool) {
	succ := f.body.blocks[b].successors
	after := [2][]uint32{f.after(b, succ[0].block), f.after(b, succ[1].block)}
	for i, to := range jump.to {
		sign := 1 - 2*i
		for _, k := range seen[to][:min(len(seen[to]), maxSeen)] {
			votes += sign * (f.vote(k, b, succ[0].block, after[0], after[1]) - f.vote(k, b, succ[1].block, after[1], after[0]))
		}
	}
	first, second := f.nearest(succ, seen[jump.to[0]]), f.nearest(succ, seen[jump.to[1]])
	if votes == 0 {
		votes = first - second
	}
	return votes, first*second < 0
}

// nearest returns how many of the source positions in a block of machine code are in the first of
// two successors and not in the second, minus how many are in the second alone. A block that
// follows both successors decides nothing in [function.vote], even if it is one of them. So the
// code behind an if statement does not show that its condition was false, but it does here, if the
// target has none of the code that the if statement guards.
func (f *function) nearest(succ []successor, positions []key) (votes int) {
	for _, k := range positions[:min(len(positions), maxSeen)] {
		first, second := slices.Contains(f.where[k], succ[0].block), slices.Contains(f.where[k], succ[1].block)
		if first && !second {
			votes++
		} else if second && !first {
			votes--
		}
	}
	return votes
}

// vote judges by one source position k, found in the target of a jump, whether the jump takes the
// arc from block from to block to. It returns 1 if the position is that of the arc, or if it is in
// a block that follows this arc and in no other block. Otherwise it returns 0. after are the blocks
// that follow this arc, and other are the blocks that follow the other arc out of block from.
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

// nearby is the number of blocks after which a search in the control flow graph stops.
const nearby = 12

// after returns the blocks of the graph that control can reach after it has taken the arc from
// block b to block first, before it reaches b again. The nearest blocks come first, and there are
// at most nearby of them, see [nearby].
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
