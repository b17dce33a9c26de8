package testenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// skips reports whether a test that calls need is skipped.
func skips(t *testing.T, need func(testing.TB)) bool {
	skipped := true
	t.Run("", func(t *testing.T) {
		need(t)
		skipped = false
	})
	return skipped
}

func TestSweep(t *testing.T) {
	t.Setenv(sweepFlag, "")
	assert.True(t, skips(t, NeedSweep))
	assert.Equal(t, 3, Rounds(3, 50))
	t.Setenv(sweepFlag, "1")
	assert.False(t, skips(t, NeedSweep))
	assert.Equal(t, 50, Rounds(3, 50))
	assert.Equal(t, 50, Rounds(3, 50, 600))
	t.Setenv(sweepFlag, "all")
	assert.Equal(t, 50, Rounds(3, 50))
	assert.Equal(t, 600, Rounds(3, 50, 600))
}

func TestSome(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	t.Setenv(sweepFlag, "1")
	assert.Equal(t, []int{0, 2, 4}, Some(all, 3))
	assert.Equal(t, all, Some(all, 7))
	t.Setenv(sweepFlag, "all")
	assert.Equal(t, all, Some(all, 3))
}

func TestIsTestRun(t *testing.T) {
	assert.True(t, isTestRun([]string{"x.test", "-test.timeout=10m0s", "-test.run=A"}))
	assert.False(t, isTestRun([]string{"x.test", "-test.timeout=10m0s", "-test.bench=."}))
	assert.False(t, isTestRun([]string{"afdo", "merge"}))
	assert.False(t, isTestRun([]string{"afdo"}))
}

func TestTool(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tool-2"), nil, 0o777))
	t.Setenv("PATH", dir)
	t.Setenv("CI", "")
	assert.Equal(t, filepath.Join(dir, "tool-2"), Tool(t, "tool-1", "tool-2"))
	assert.True(t, skips(t, func(t testing.TB) { Tool(t, "tool-1") }))
	assert.Equal(t, filepath.Join(dir, "tool-2"), Optional(t, "tool-2"))
	t.Setenv("CI", "true")
	assert.True(t, skips(t, func(t testing.TB) { Optional(t, "tool-1") }))
}

func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "llvm"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "llvm", "a"), nil, 0o666))
	t.Setenv("AFDO_CORPUS", dir)
	assert.Equal(t, filepath.Join(dir, "llvm", "a"), Corpus(t, "llvm", "a"))
	assert.True(t, skips(t, func(t testing.TB) { Corpus(t, "b") }))
}
