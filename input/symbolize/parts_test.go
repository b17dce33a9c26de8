package symbolize

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// With -fbasic-block-sections, clang splits functions into parts whose symbols are not marked as
// functions. Symbols returns these parts, so that all code has a symbol.
func TestPartsOfFunctions(t *testing.T) {
	testenv.NeedSweep(t)
	clang := optional(t, "clang++-22", "/usr/lib/llvm-22/bin/clang++", "clang++")
	optional(t, "ld.lld-22", "/usr/lib/llvm-22/bin/ld.lld", "ld.lld")
	prog := build(t, clang, "-O2", "-g", "-fbasic-block-sections=all", "-fuse-ld=lld")
	f, err := Open(prog)
	assert.NoError(t, err)
	defer f.Close()
	kinds := make(map[string]int)
	for _, s := range allSymbols(t, f) {
		_, kind, _ := strings.Cut(s.Names[0], ".")
		kinds[strings.TrimRight(kind, "0123456789")]++
	}
	assert.Positive(t, kinds["__part."])
	assert.Positive(t, kinds["eh"])
	a := compareWithLLVM(t, prog)
	assert.Zero(t, a.different+a.low, strings.Join(a.examples, "\n"))
}

const parallel = `#include <stddef.h>
void scale(double *x, size_t n, double by) {

#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    x[i] *= by;
}
`

// GCC makes a function of the body of an OpenMP construct. Debug info does not declare it, and its
// Function.Line is the line of the construct.
func TestBodiesOfConstructs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "parallel.c"), []byte(parallel), 0o600))
	runTool(t, dir, optional(t, "gcc"), "-O2", "-g", "-fopenmp", "-c", "parallel.c")
	f, err := Open(filepath.Join(dir, "parallel.o"))
	require.NoError(t, err)
	defer f.Close()
	lines := make(map[string]uint32)
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		root := code.Spans[0].Instance.Chain()[0].Function
		lines[code.Symbol.Names[0]] = root.Line
		assert.Equal(t, "parallel.c", filepath.Base(root.File))
	}
	assert.Equal(t, map[string]uint32{"scale": 2, "scale._omp_fn.0": 4}, lines)
}
