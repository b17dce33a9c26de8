package tune

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The growth of a source function is divided among the symbols that contain it now, wherever it was
// inlined before. Symbols that are new are not compared.
func TestGrowth(t *testing.T) {
	plain := costs{{"main", "main"}: 100, {"main", "inlined"}: 50, {"f", "f"}: 200, {"g", "g"}: 40}
	with := costs{{"main", "main"}: 90, {"f", "f"}: 230, {"f", "inlined"}: 60, {"inlined", "inlined"}: 40, {"new", "g"}: 80}
	assert.InDelta(t, 390.0, plain.total(), 0)
	growth := with.growth(plain)
	assert.InDeltaMapValues(t, map[string]float64{"main": -10, "f": 30 + 30}, growth, 1e-9)
	assert.Equal(t, []string{"f"}, largest(growth, 0, 9))
	assert.Equal(t, []string{"c", "a"}, largest(map[string]float64{"a": 2, "b": 1, "c": 3, "d": 2}, 0.5, 2))
}

// The number of steps counts the ways that are tried in any case. It is the same before and after
// the first build if the build calls the compiler that its command, CC or CXX names.
func TestCountSteps(t *testing.T) {
	o, _ := newTree(t, nil)
	w, err := newTuning(o)
	require.NoError(t, err)
	w.compilers = map[string]string{"cc": w.compilers["cc"]}
	w.Build = []string{"make"}
	assert.Equal(t, []string{"cc"}, w.expected())
	assert.Equal(t, 8, w.countSteps(t.Context(), []string{"cc"}))
	w.Layout = true
	assert.Equal(t, 13, w.countSteps(t.Context(), []string{"cc"}))
	for _, build := range [][]string{{"sh", "-c", "make CC=/opt/my-cc"}, {"/opt/my-cc", "a.c"}, {"make"}} {
		w.Build = build
		w.compilers["my-cc"] = "/opt/my-cc"
		assert.Equal(t, map[bool]string{true: "cc", false: "my-cc"}[build[0] == "make"], w.expected()[0], build)
	}
	w.env = append(w.env, "CC=ccache my-cc -pipe")
	assert.Equal(t, []string{"my-cc"}, w.expected())
	w.rust = true
	assert.Equal(t, 11, w.countSteps(t.Context(), []string{"rustc"}))
}

// A way that modifies another one has a name that contains both.
func TestNamesOfWays(t *testing.T) {
	assert.Equal(t, Way("profile as arcs in part"), InPart.on(ByArcs))
	assert.Equal(t, Way("profile, plain options in part and layout"), WithLayout.on(InPart.on(OwnOptions)))
	assert.Equal(t, WithLayout, WithLayout.on(ByLines))
	assert.Equal(t, ByArcs, ByArcs.on(ByLines))
}
