package arcs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
)

// loop returns a function that contains a loop, and whose declaration is in the given line of the
// source.
func loop(t testing.TB, name string, line uint32) *function {
	notes := &gcda.Function{
		ID: gcda.ID{Ident: line}, Name: name, Start: gcda.Position{Line: line}, End: gcda.Position{Line: line + 4}, Blocks: 4,
		Arcs: []gcda.Arc{{From: 0, To: 2}, {From: 2, To: 2}, {From: 2, To: 3}, {From: 3, To: 1}},
	}
	b := &body{blocks: make([]block, 4)}
	for _, a := range notes.Arcs {
		b.blocks[a.From].successors = append(b.blocks[a.From].successors, successor{block: a.To, guess: 50})
	}
	b.blocks[2].places = []place{{key: key{1, line + 1, 5}}, {key: key{2, line, 5}}}
	b.blocks[3].places = []place{{key: key{1, line + 4, 1}}}
	f := newFunction(notes, b)
	require.NotNil(t, f)
	return f
}

// If the compiler has merged two equal functions, both get counts: their callers show how often
// each ran.
func TestMergedFunctions(t *testing.T) {
	other := loop(t, "other", 210)
	other.blocks[3].places[0].column = 2
	u := &unit{names: map[string]string{"Merged": "merged", "Other": "other"}, functions: make(map[string]*function)}
	var problems []*problem
	for _, f := range []*function{loop(t, "seen", 10), loop(t, "merged", 110), other, loop(t, "caller", 310)} {
		u.functions[f.Name] = f
		problems = append(problems, newProblem(f))
	}
	seen, merged, caller := problems[0], problems[1], problems[3]
	seen.result, seen.items = []int64{20, 180, 20, 20}, []item{{numbers: []uint32{2}, low: 200, high: 200}}
	caller.result = []int64{1, 14, 1, 1}
	caller.callees = []callee{{2, "Merged"}, {2, "Other"}, {3, "unknown"}}
	u.addMerged(problems)
	require.Equal(t, []int64{15, 135, 15, 15}, merged.result)
	require.Equal(t, []int64{5, 45, 5, 5}, seen.result)
	require.Nil(t, problems[2].result)
}
