package arcs

import (
	"maps"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// A jump is a recorded jump of a switch. It ends a block of machine code that has the source
// position of the switch.
type jump struct {
	block    uint32 // block of the graph that ends with the switch
	from, to int32  // blocks of machine code
	count    int64
}

// switches adds the recorded jumps at the end of block n of machine code to function f, if the
// source position at is that of a switch in the function's control flow graph.
func (u *unit) switches(f *function, at key, n int32, jumps []profile.CodeJump) {
	last := len(f.jumps) - 1
	if len(f.body.switches[at]) != 1 || last >= 0 && f.jumps[last].from == n {
		return
	}
	for _, j := range jumps {
		f.jumps = append(f.jumps, jump{f.body.switches[at][0], n, j.To + u.blocks, count(j.Count)})
	}
}

// switchItems converts the recorded jumps of switches to evidence about the arcs after each switch.
// seen has the source positions in each block of machine code. If the positions in the target of a
// jump do not belong to a single successor of the switch, the jump may have taken any of the arcs.
// It then raises the upper bound of all arcs after the switch.
func (f *function) switchItems(seen map[int32][]key) (items []item) {
	sums, open := make(map[uint32]int64), make(map[uint32]int64) // jumps that took each arc, and jumps of each block that may have taken any
	targets := make(map[uint32]map[key]int32)
	for _, j := range f.jumps {
		if targets[j.block] == nil {
			targets[j.block] = f.targets(j.block)
		}
		if arc, ok := f.target(targets[j.block], seen[j.to]); ok {
			sums[uint32(arc)] = count(uint64(sums[uint32(arc)] + j.count))
		} else if !slices.ContainsFunc(seen[j.to], func(k key) bool { return slices.Contains(f.switches[k], j.block) }) {
			open[j.block] = count(uint64(open[j.block] + j.count))
		}
	}
	for _, b := range slices.Sorted(maps.Keys(targets)) {
		for _, s := range f.body.blocks[b].successors {
			arc := f.arcs[[2]uint32{b, s.block}]
			items = append(items, item{arcs: true, numbers: []uint32{arc}, low: sums[arc], high: count(uint64(sums[arc] + open[b])), fixed: true})
		}
	}
	return items
}

// targets returns the source positions in the blocks after block b, which ends with a switch. The
// value of a position is the arc out of b that leads there, or none if several arcs do.
func (f *function) targets(b uint32) map[key]int32 {
	positions := make(map[key]int32)
	for _, s := range f.body.blocks[b].successors {
		arc := int32(f.arcs[[2]uint32{b, s.block}])
		for _, after := range f.after(b, s.block) {
			for _, p := range f.body.blocks[after].places {
				if old, ok := positions[p.key]; ok && old != arc {
					positions[p.key] = none
				} else {
					positions[p.key] = arc
				}
			}
		}
	}
	return positions
}

// target returns the arc of a switch that a recorded jump has taken. positions is the result of
// [function.targets] for the switch, and seen has the source positions in the target of the jump.
// ok is false if the source positions belong to several arcs or to none.
func (f *function) target(positions map[key]int32, seen []key) (arc int32, ok bool) {
	arc = none
	for _, k := range seen[:min(len(seen), maxSeen)] {
		at, known := positions[k]
		if !known || at == none {
			continue
		}
		if arc != none && arc != at {
			return 0, false
		}
		arc = at
	}
	return arc, arc != none
}
