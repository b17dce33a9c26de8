package arcs

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// indirectDump is GCC's dump of a function with six statements whose values GCC counts. One copies
// memory, one divides, and four are indirect calls, of which one has no source position and two are
// in the same line. The name f_2 in the dump is that of a function, not of a variable.
const indirectDump = `
;; Function calls (calls, funcdef_no=1, decl_uid=1, cgraph_uid=1, symbol_order=1)
{
;;   basic block 2, loop depth 0
;;    starting at line 5, discriminator 3
  [a.cc:5:3] f_2 (1);
  [a.cc:5:3] # .MEM_3 = VDEF <.MEM_1>
  [a.cc:6:9] _9 = OBJ_TYPE_REF(_2;(struct S)_6->2B) (_6, [a.cc:6:9] &e);
  [a.cc:7:9] memcpy (a_1(D), b_2(D), n_3(D));
  memset (a_1(D), 0, 16);
  c_25(D) (_10);
;;    succ:       EXIT [always]  count:1 (estimated locally)
;;   basic block 3, loop depth 0
  [a.cc:8:9 discrim 1] _4 = _3 (x_1);
  [a.cc:8:9 discrim 2] _5 = _3 (x_2);
;;    succ:       EXIT [always]  count:1 (estimated locally)
}


Stmt _9 = OBJ_TYPE_REF(_2;_6->2B) (_6, &e);
Stmt memcpy (a_1(D), b_2(D), n_3(D));
Stmt memcpy (a_1(D), b_2(D), n_3(D));
Stmt memcpy (a_1(D), b_2(D), n_3(D));
Stmt c_25(D) (_10);
Stmt _4 = _3 (x_1);
Stmt _5 = _3 (x_2);
Stmt iftmp.2_16 = _15 / _12;
Profile info is missing; giving up

;; Function other (other, funcdef_no=2, decl_uid=1, cgraph_uid=1, symbol_order=1)
{
}
Stmt _1 = _2 (x_1);
`

// readSites returns the unit that is dumped in indirectDump, and the contents of its .gcno file.
func readSites(t testing.TB) (*unit, *gcda.Notes) {
	d, err := readDump(bytes.NewReader([]byte(indirectDump)), map[string]uint32{"calls": 4})
	require.NoError(t, err)
	notes := &gcda.Notes{Functions: []gcda.Function{{ID: gcda.ID{Ident: 77}, Name: "calls", Source: "a.cc", Start: gcda.Position{Line: 4}}}}
	f := &function{Function: &notes.Functions[0], body: d.functions["calls"]}
	return &unit{files: d.files, paths: make(map[string]uint32), copies: make(map[copyOf]int32), functions: map[string]*function{"calls": f}}, notes
}

func TestSites(t *testing.T) {
	u, _ := readSites(t)
	file := u.files["a.cc"]
	require.Equal(t, []site{
		{place: place{key{file, 6, 9}, 3}, block: 2, callee: "OBJ_TYPE_REF(_2"},
		{place: place{discriminator: 3}, block: 2, callee: "c_25(D)"},
		{place: place{key{file, 8, 9}, 1}, block: 3, callee: "_3"},
		{place: place{key{file, 8, 9}, 2}, block: 3, callee: "_3"},
	}, u.functions["calls"].sites)
	require.Equal(t, []site{
		{place: place{key{file, 7, 9}, 3}, block: 2, callee: "memcpy"},
		{callee: "_15 / _12"},
	}, u.functions["calls"].valued)
}

// The call targets of a line are added to the calls with the same discriminator, or if there are
// none, to all calls of the line.
func TestTargets(t *testing.T) {
	u, notes := readSites(t)
	f := u.functions["calls"]
	blocks := []int64{0, 0, 100, 40}
	require.Nil(t, f.valueCounters(blocks))
	p := profile.New()
	own := p.AddUnit("a.cc")
	calls, often, rare := p.AddSymbol(own, "calls"), p.AddSymbol(own, "often"), p.AddSymbol(own, "rare")
	outer := p.AddSymbol(own, "outer")
	var body profile.Body
	body.Call(2, 0, calls, 5)
	body.Call(4, 2, rare, 10)
	body.Call(4, 2, often, 30)
	p.AddFunction(calls, profile.Function{Records: body.Records()})
	body.Reset()
	body.Enter(1, 0, calls)
	body.Call(2, 7, calls, 1)
	body.Call(3, 7, calls, 1)
	body.Leave()
	p.AddFunction(outer, profile.Function{Records: body.Records()})
	u.addTargets(p, notes)
	require.Equal(t, []gcda.Counter{{Kind: gcda.TopValues, Values: make([]int64, 4)}, {Kind: gcda.IndirectCalls, Values: []int64{
		100, 1, 77, 100,
		0, 0,
		0, 0,
		40, 2, int64(u.identifier("often")), 30, int64(u.identifier("rare")), 10,
	}}}, f.valueCounters(blocks))
}

// The sizes of a call of memcpy have the same share of the count of its block as in the profile.
// They belong to the function into which the caller was inlined before GCC made the graph.
func TestSizes(t *testing.T) {
	u, _ := readSites(t)
	f := u.functions["calls"]
	at := profile.Place{Frame: 1, Position: profile.Position{File: "dir/a.cc", Line: 7, Discriminator: 3}}
	c := &profile.CodeCopy{Symbol: "calls", Frames: []profile.InlineFrame{{Parent: -1, Function: "calls"}, {Function: "inner"}}}
	c.AddSize(profile.CallSize{Place: at, Bytes: 1, Count: 60})
	c.AddSize(profile.CallSize{Place: at, Bytes: 8, Count: 120})
	c.AddSize(profile.CallSize{Place: at, Bytes: profile.OtherSizes, Count: 20})
	c.AddSize(profile.CallSize{Place: profile.Place{Position: position(99, 1)}, Bytes: 7, Count: 9})
	u.addSizes(c, u.frames(c))
	require.Equal(t, []gcda.Counter{
		{Kind: gcda.TopValues, Values: []int64{100, 2, 8, 60, 1, 30, 0, 0}},
		{Kind: gcda.IndirectCalls, Values: make([]int64, 8)},
	}, f.valueCounters([]int64{0, 0, 100, 40}))
}

// GCC's identifier of a function that other units can call is the checksum of its name.
func TestIdentifier(t *testing.T) {
	for _, version := range []string{"12", "14", "16"} {
		notes := readNotes(t, version)
		require.Equal(t, "f", notes.Functions[0].Name)
		require.Equal(t, uint64(notes.Functions[0].Ident), (&unit{}).identifier("f"))
	}
}
