package layout

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/bbmap"
)

// newFunction returns a function with 5 blocks of 16 bytes, from address 0x1000 on. The last two
// blocks are in another range of addresses. Block 1 has calls, block 2 returns, and block 4 is a
// landing pad.
func newFunction() *function {
	f := &function{address: 0x1000, edges: make(map[[2]int32]uint64), calls: make(map[call]uint64), place: -1}
	for i := range uint64(5) {
		f.blocks = append(f.blocks, block{address: 0x1000 + 16*i, size: 16, id: uint32(i), flags: bbmap.CanFallThrough})
	}
	f.blocks[1].calls = true
	f.blocks[2].flags, f.blocks[2].ends = bbmap.HasReturn, true
	f.blocks[3].address, f.blocks[4].address = 0x2000, 0x2010
	f.blocks[4].flags, f.blocks[4].ends = bbmap.IsLandingPad, true
	return f
}

func TestTargets(t *testing.T) {
	f := newFunction()
	for address, want := range map[uint64]struct {
		block  int32
		begins bool
	}{0x1000: {0, true}, 0x1001: {0, false}, 0x1010: {1, true}, 0x1030: {2, false}, 0x1031: {-1, false}, 0x2000: {3, true}, 0x2020: {4, false}, 0xfff: {-1, false}} {
		block, begins := f.target(address)
		assert.Equal(t, want.block, block, "%#x", address)
		assert.Equal(t, want.begins, begins, "%#x", address)
	}
	for address, want := range map[uint64]int32{0xfff: -1, 0x1000: 0, 0x100f: 0, 0x1010: 1, 0x1030: -1, 0x2010: 4, 0x2020: -1} {
		assert.Equal(t, want, f.source(address), "%#x", address)
	}
	f.blocks[1].size = 0 // an empty block is a target, but no source
	f.blocks[2].address = 0x1010
	block, begins := f.target(0x1010)
	assert.True(t, begins)
	assert.EqualValues(t, 1, block)
	assert.EqualValues(t, 2, f.source(0x1010))
}

// TestBranches checks as what each branch counts: as an edge, a call, a return, or a branch into
// the middle of a block.
func TestBranches(t *testing.T) {
	for name, c := range map[string]struct {
		from, to uint64 // 0 is outside of the map; 0x5000 is in another function that returns
		kind     func(*Report) uint64
		edge     [2]int32
	}{
		"jump":                    {0x1008, 0x1020, func(r *Report) uint64 { return r.Edges }, [2]int32{0, 2}},
		"jump to another range":   {0x1008, 0x2000, func(r *Report) uint64 { return r.Edges }, [2]int32{0, 3}},
		"loop to the entry":       {0x1008, 0x1000, func(r *Report) uint64 { return r.Edges }, [2]int32{0, 0}},
		"recursive call":          {0x1018, 0x1000, func(r *Report) uint64 { return r.Calls }, [2]int32{-1}},
		"call from elsewhere":     {0, 0x1000, func(r *Report) uint64 { return r.Calls }, [2]int32{-1}},
		"call by another":         {0x5000, 0x1000, func(r *Report) uint64 { return r.Calls }, [2]int32{-1}},
		"return into a block":     {0x5000, 0x1018, func(r *Report) uint64 { return r.Returns }, [2]int32{-1}},
		"return to a block":       {0x5000, 0x1020, func(r *Report) uint64 { return r.Returns }, [2]int32{1, 2}},
		"return from elsewhere":   {0, 0x1020, func(r *Report) uint64 { return r.Returns }, [2]int32{1, 2}},
		"recursive return":        {0x1028, 0x1018, func(r *Report) uint64 { return r.Returns }, [2]int32{-1}},
		"exception":               {0, 0x2010, func(r *Report) uint64 { return r.Returns }, [2]int32{-1}},
		"to elsewhere":            {0x1008, 0, func(r *Report) uint64 { return r.Unmapped }, [2]int32{-1}},
		"from and to elsewhere":   {0, 0, func(r *Report) uint64 { return r.Unmapped }, [2]int32{-1}},
		"into the middle":         {0x1008, 0x1028, func(r *Report) uint64 { return r.Middle }, [2]int32{-1}},
		"from between two blocks": {0x1030, 0x1020, func(r *Report) uint64 { return r.Unmapped }, [2]int32{-1}},
	} {
		t.Run(name, func(t *testing.T) {
			f, other := newFunction(), newFunction()
			other.index, other.blocks = 1, []block{{address: 0x5000, size: 16, flags: bbmap.HasReturn, ends: true, calls: true}}
			spotAt := func(address uint64) spot {
				switch address {
				case 0:
					return spot{}
				case 0x5000:
					return spot{address, other, true}
				}
				return spot{address, f, address == 0x1000}
			}
			p := &program{report: new(Report), blocks: new(bbmap.Map)}
			*p.branch(spotAt(c.from), spotAt(c.to), 7) += 7
			assert.EqualValues(t, 7, c.kind(p.report))
			want := map[[2]int32]uint64{}
			if c.edge[0] >= 0 {
				want[c.edge] = 7
			}
			assert.Equal(t, want, f.edges)
		})
	}
}

// A range counts as an execution of each edge from block to block in it, if it can have run.
func TestFallThrough(t *testing.T) {
	f := newFunction()
	assert.True(t, f.fallThrough(0x1000, 0x102f, 3))
	assert.True(t, f.fallThrough(0x1014, 0x1020, 4))
	assert.True(t, f.fallThrough(0x1014, 0x1018, 5))
	assert.Equal(t, map[[2]int32]uint64{{0, 1}: 3, {1, 2}: 7}, f.edges)
	assert.False(t, f.fallThrough(0x1020, 0x2000, 1), "a block that returns is between them")
	assert.False(t, f.fallThrough(0x2000, 0x1000, 1), "backwards")
	assert.False(t, f.fallThrough(0x3000, 0x3001, 1), "no block")
	assert.True(t, f.finish())
	assert.EqualValues(t, []uint64{3, 7, 7, 0, 0}, counts(f))
}

func counts(f *function) (all []uint64) {
	for _, b := range f.blocks {
		all = append(all, b.count)
	}
	return all
}

// The cluster of a function contains the blocks that ran, the entry first. It contains all landing
// pads if one of them ran, and otherwise none.
func TestBlockOrder(t *testing.T) {
	f := newFunction()
	f.addEdge(0, 2, 9)
	f.addEdge(0, 1, 1)
	f.addEdge(1, 2, 1)
	f.finish()
	assert.Equal(t, []int{0, 2, 1}, f.order(true))
	assert.Equal(t, []int{0, 1, 2}, f.order(false))

	f.blocks[3].flags |= bbmap.IsLandingPad
	f.blocks[4].count = 1
	assert.Equal(t, []int{0, 2, 1, 4, 3}, f.order(true))

	f = newFunction()
	f.entries = 1
	f.blocks[3].count = 5
	f.finish()
	assert.Equal(t, []int{0, 3}, f.order(true), "the entry is hot if anything is")
}

func TestDrift(t *testing.T) {
	assert.ErrorIs(t, (&Report{}).check(), errNothing)
	assert.ErrorIs(t, (&Report{Hot: 1, Branches: 100, Middle: 31, Edges: 69}).check(), ErrDrift)
	assert.ErrorIs(t, (&Report{Hot: 1, Branches: 10000, Edges: 1, Calls: 1, Unmapped: 9998}).check(), ErrDrift)
	assert.NoError(t, (&Report{Hot: 1, Branches: 10000, Edges: 5000, Middle: 3000}).check())
	assert.NoError(t, (&Report{Hot: 1}).check())
	assert.InDelta(t, 0.5, (&Report{Branches: 10, Edges: 2, Calls: 2, Returns: 1}).EdgeShare(), 1e-9)
}
