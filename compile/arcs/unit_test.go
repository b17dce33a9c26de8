package arcs

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

func readUnit(t testing.TB, version string) *unit {
	u, _, err := newUnit(readNotes(t, version), bytes.NewReader(read(t, "gcc"+version+".profile")))
	require.NoError(t, err)
	return u
}

func position(line, column uint32) profile.Position {
	return profile.Position{File: "a.c", Line: line, Column: column}
}

// TestOwner finds the graph that contains the code of an inlined call. GCC inlined sq into f before
// it made the graphs, so the code of sq is in f's graph. It inlined g later, so f's graph has the
// call of g, and the code is in g's own graph.
func TestOwner(t *testing.T) {
	u := readUnit(t, "12")
	c := &profile.CodeCopy{
		Symbol: "f.part.0",
		Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, {Function: "sq", Call: position(6, 48)}, {Function: "g", Call: position(7, 31)}},
		Blocks: []profile.CodeBlock{
			{Count: 5, Size: 1, Places: []profile.Place{{Frame: 1, Position: position(3, 51)}}},
			{Count: 7, Size: 1, Places: []profile.Place{{Frame: 2, Position: position(6, 41)}}},
		},
	}
	u.add(c)
	f := u.functions["f"]
	require.Len(t, f.sightings, 1)
	require.Equal(t, uint32(51), f.sightings[0].column)
	require.Equal(t, []uint64{12, 5}, []uint64{u.counted, u.owned})
	require.True(t, f.inlined && !f.called, "the entry is not in a part")
}

func TestOtherUnitsDoNotCount(t *testing.T) {
	u := readUnit(t, "12")
	u.source = "b.c"
	u.add(&counted().Copies[0])
	require.Zero(t, u.counted)
}

// TestBranch has a conditional jump for the condition of block 13 of the graph. It goes to the
// loop, block 3, or to the code after the loop, block 14.
func TestBranch(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		u := readUnit(t, "16")
		c := &profile.CodeCopy{
			Symbol: "f", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}},
			Blocks: []profile.CodeBlock{
				{Count: 10, Size: 1, Places: []profile.Place{{Position: position(6, 21)}}},
				{Count: 8, Size: 1, Places: []profile.Place{{Position: position(6, 41)}}},
				{Count: 2, Size: 1, Places: []profile.Place{{Position: position(7, 3)}}},
			},
			Jumps: []profile.CodeJump{{From: 0, To: 1, Count: 8}, {From: 0, To: 2, Count: 2}},
		}
		if swapped {
			c.Blocks[1], c.Blocks[2] = c.Blocks[2], c.Blocks[1]
			c.Jumps[0].Count, c.Jumps[1].Count = 2, 8
		}
		u.add(c)
		f := u.functions["f"]
		f.items()
		var got []int64
		for _, i := range f.branchItems() {
			require.Equal(t, uint32(13), f.Arcs[i.numbers[0]].From)
			got = append(got, int64(f.Arcs[i.numbers[0]].To), i.low)
		}
		require.Equal(t, []int64{3, 8, 14, 2}, got)
	}
}

// TestNearest has a jump for the condition of block 7, which guards blocks 8 to 11. Code of block
// 12, after them, can follow either way. Since the target of the jump has only that code, the jump
// goes there directly.
func TestNearest(t *testing.T) {
	u := readUnit(t, "16")
	c := &profile.CodeCopy{
		Symbol: "f", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, {Function: "sq", Call: position(6, 93)}},
		Blocks: []profile.CodeBlock{
			{Count: 10, Size: 1, Places: []profile.Place{{Position: position(6, 62)}}},
			{Count: 8, Size: 1, Places: []profile.Place{{Position: position(6, 27)}}},
			{Count: 2, Size: 1, Places: []profile.Place{{Frame: 1, Position: position(3, 34)}}},
		},
		Jumps: []profile.CodeJump{{From: 0, To: 1, Count: 8}, {From: 0, To: 2, Count: 2}},
	}
	u.add(c)
	f := u.functions["f"]
	f.items()
	var got []int64
	for _, i := range f.branchItems() {
		a := f.Arcs[i.numbers[0]]
		got = append(got, int64(a.From), int64(a.To), i.low)
	}
	require.Equal(t, []int64{7, 8, 2, 7, 12, 8}, got)
}

// TestEqualConditions has the graph of "if (a && f(b))" in a loop, where the condition and the call
// in the next block have the same source position. The jump whose targets are the call and the end
// of the loop is that of the first condition.
func TestEqualConditions(t *testing.T) {
	condition, end := key{line: 1}, key{line: 2}
	blocks := make([]block, 6)
	for from, to := range map[int][]uint32{2: {3, 5}, 3: {4, 5}, 4: {5}, 5: {2, 1}} {
		for _, b := range to {
			blocks[from].successors = append(blocks[from].successors, successor{block: b})
		}
	}
	f := &function{
		body:  &body{blocks: blocks, tests: map[key][]uint32{condition: {2, 3}}},
		where: map[key][]uint32{condition: {2, 3}, end: {5}},
	}
	f.decided = make([]bool, len(blocks))
	seen := map[int32][]key{0: {condition}, 1: {condition}, 2: {end}}
	block, votes := f.tested(branch{from: 0, to: [2]int32{1, 2}}, seen)
	require.Equal(t, uint32(2), block)
	require.Positive(t, votes)
	block, votes = f.tested(branch{from: 0, to: [2]int32{2, 1}}, seen)
	require.Equal(t, uint32(2), block)
	require.Negative(t, votes)
}

// TestConverted has code of the conditions 3 and 7 in one block of machine code, whose jump goes to
// block 11 or 12. Only condition 7 leads to one of them and not to the other, so condition 3 has no
// jump. Condition 13 has none, either. So code after condition 13 may have been moved to where it
// is, and its count does not show how often it ran.
func TestConverted(t *testing.T) {
	for _, moved := range []bool{false, true} {
		u := readUnit(t, "16")
		c := &profile.CodeCopy{
			Symbol: "f", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}},
			Blocks: []profile.CodeBlock{
				{Count: 50, Size: 1, Places: []profile.Place{{Position: position(6, 54)}, {Position: position(6, 62)}}},
				{Count: 20, Size: 1, Places: []profile.Place{{Position: position(6, 93)}}},
				{Count: 30, Size: 1, Places: []profile.Place{{Position: position(6, 27)}}},
				{Count: 100, Size: 1, Places: []profile.Place{{Position: position(6, 21)}}},
				{Count: 1, Size: 1, Places: []profile.Place{{Position: position(7, 3)}}},
			},
			Jumps: []profile.CodeJump{{From: 0, To: 1, Count: 20}, {From: 0, To: 2, Count: 30}},
		}
		if moved {
			c.Blocks[4].Places = append(c.Blocks[4].Places, profile.Place{Position: position(6, 27)})
		}
		u.add(c)
		f := u.functions["f"]
		f.items()
		require.True(t, f.decided[7])
		require.False(t, f.decided[3])
		seen := slices.ContainsFunc(f.sightings, func(s sighting) bool { return s.line == 7 })
		require.Equal(t, !moved, seen)
	}
}

func TestUnqualified(t *testing.T) {
	for name, want := range map[string]string{"f": "f", "a::f": "f", "a::b::f<c::d>": "f<c::d>", "f<c::d>": "f<c::d>", "a<b>::f": "a<b>::f"} {
		require.Equal(t, want, unqualified(name))
	}
}

// FuzzMachineEvidence infers counts from any evidence for testdata/f.c. The flow into each block
// must equal the flow out of it, and a second run must have the same result.
func FuzzMachineEvidence(f *testing.F) {
	f.Add([]byte{6, 41, 10, 6, 54, 3, 3, 51, 200, 7, 31, 0})
	data := [2][]byte{read(f, "gcc12.profile"), read(f, "gcc16.profile")}
	f.Fuzz(func(t *testing.T, text []byte) {
		e := &profile.Evidence{Copies: []profile.CodeCopy{{Symbol: "f", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, {Function: "sq", Call: position(6, 48)}}}}}
		c := &e.Copies[0]
		for ; len(text) >= 3; text = text[3:] {
			n := int32(len(c.Blocks))
			p := profile.Place{Frame: int32(text[0] >> 7), Position: position(uint32(text[0]&0x7f), uint32(text[1]))}
			c.Blocks = append(c.Blocks, profile.CodeBlock{Count: uint64(text[2]) << (text[2] % 60), Size: 1, Places: []profile.Place{p}})
			c.Jumps = append(c.Jumps, profile.CodeJump{From: n, To: n / 2, Count: uint64(text[1])}, profile.CodeJump{From: n, To: 0, Count: uint64(text[2])})
		}
		for i, version := range []string{"12", "16"} {
			notes := readNotes(t, version)
			first, _, err := Infer(notes, bytes.NewReader(data[i]), withEvidence(e), Options{})
			require.NoError(t, err)
			second, _, err := Infer(notes, bytes.NewReader(data[i]), withEvidence(e), Options{})
			require.NoError(t, err)
			require.Equal(t, first, second)
			for _, n := range first.Functions[0].Counters[0].Values {
				require.GreaterOrEqual(t, n, int64(0))
			}
		}
	})
}

// The recorded jumps of a switch show how often each arc was taken, unless the source positions in
// the target belong to several successors. A jump to more code of the switch itself shows nothing.
func TestSwitchItems(t *testing.T) {
	at := func(line uint32) key { return key{1, line, 1} }
	blocks := make([]block, 6)
	for b := range blocks {
		blocks[b].places = []place{{key: at(uint32(b))}, {key: at(100)}}
	}
	blocks[2].successors = []successor{{block: 3}, {block: 4}, {block: 5}}
	f := &function{
		body: &body{blocks: blocks, switches: map[key][]uint32{at(2): {2}}},
		arcs: map[[2]uint32]uint32{{2, 3}: 7, {2, 4}: 8, {2, 5}: 9},
		jumps: []jump{
			{2, 0, 1, 30}, {2, 0, 2, 4}, {2, 0, 3, 5}, // no successor alone has the position of the last one
			{2, 0, 4, 60}, {2, 4, 1, 2},
		},
	}
	seen := map[int32][]key{0: {at(2)}, 1: {at(3), at(100)}, 2: {at(4)}, 3: {at(100)}, 4: {at(2)}}
	one := func(arc uint32, low, high int64) item {
		return item{arcs: true, numbers: []uint32{arc}, low: low, high: high, fixed: true}
	}
	require.Equal(t, []item{one(7, 32, 37), one(8, 4, 9), one(9, 0, 5)}, f.switchItems(seen))
}

// The count of an inlined body limits how often the call ran, although no machine code of the call
// is left.
func TestLimitCalls(t *testing.T) {
	at := key{1, 5, 1}
	f := &function{
		Function: &gcda.Function{Blocks: 4}, limits: map[key]int64{}, where: map[key][]uint32{at: {3}}, follows: make([]uint32, 4),
		body: &body{blocks: make([]block, 4), calls: map[key]bool{at: true}},
	}
	u := &unit{files: map[string]uint32{"a.c": 1}, paths: map[string]uint32{}, copies: map[copyOf]int32{}, functions: map[string]*function{"f": f}}
	call := profile.InlineFrame{Parent: 0, Function: "g", Call: profile.Position{File: "a.c", Line: 5, Column: 1}}
	block := func(count uint64) profile.CodeBlock {
		return profile.CodeBlock{Count: count, Places: []profile.Place{{Frame: 1, Position: profile.Position{File: "a.c", Line: 9}}}}
	}
	for _, symbol := range []string{"f", "h"} {
		u.add(&profile.CodeCopy{Symbol: symbol, Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, call}, Blocks: []profile.CodeBlock{block(38), block(0)}})
	}
	require.Equal(t, []item{{numbers: []uint32{3}, high: 76, spread: 1, fixed: true}}, f.limitItems())
}

// Of several functions with the same unqualified name, a frame belongs to the one whose declaration
// is at the frame's line.
func TestFunctionsOfOneName(t *testing.T) {
	u := &unit{functions: map[string]*function{}}
	names := map[string]string{"axis": "step<(a::(anonymous namespace)::axis)2>", "write1": "a::write", "write2": "(anonymous namespace)::write", "write3": "a::write", "put1": "a::put", "put2": "b::put", "only": "a::one"}
	for name, line := range map[string]uint32{"axis": 3, "write1": 7, "write2": 9, "write3": 11, "put1": 7, "put2": 7, "only": 3} {
		u.functions[name] = &function{Function: &gcda.Function{Name: name, Start: gcda.Position{Line: line}}, body: &body{name: names[name]}}
	}
	u.addNames()
	require.Same(t, u.functions["write1"], u.function("write", 7))
	require.Same(t, u.functions["write2"], u.function("write", 9))
	require.Same(t, u.functions["write3"], u.function("write", 11))
	require.Same(t, u.functions["axis"], u.function("step<(a::<unnamed>::axis)2>", 3))
	require.Same(t, u.functions["only"], u.function("one", 100))
	require.Same(t, u.functions["put1"], u.function("put1", 0))
	for _, name := range []string{"write", "put", "none"} {
		require.Nil(t, u.function(name, 8), name)
	}
	require.Nil(t, u.function("put", 7))
}
