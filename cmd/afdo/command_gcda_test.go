package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const countersDir = "../../format/gcda/testdata/"

func TestCounterFiles(t *testing.T) {
	counters := countersDir + "gcc12.gcda"
	var shown map[string]any
	mustJSON(t, &shown, "show", "--json", counters)
	assert.Equal(t, "B22*", shown["version"])
	assert.Equal(t, map[string]any{"functions": 4.0, "blocks": 34.0, "arcs": 44.0, "matched": 4.0, "mismatched": 0.0}, shown["notes"])
	assert.Contains(t, must(t, "show", counters), "counters of a program instrumented by GCC 12 (B22*), little-endian\n")
	assert.Empty(t, must(t, "check", counters))

	r := afdoRun("convert", counters, "--to", "text")
	assert.Zero(t, r.status)
	assert.Contains(t, r.out, "\"sum\":0(3:145:0) = {\n  locations = {\n    0 = 145,\n    2 = 578,\n    3 = 433,\n    4 = 186,\n    6 = 247,\n    8 = 145\n")
	assert.Equal(t, "afdo: lines of inlined functions without notes that were left out: 2\n", r.err)

	sum := filepath.Join(t.TempDir(), "sum.gcda")
	must(t, "merge", counters, counters+"=3", "-o", sum)
	mustJSON(t, &shown, "show", "--json", sum)
	assert.Equal(t, 4.0, shown["runs"])
	r = afdoRun("merge", counters, countersDir+"gcc16.gcda", "--to", "text")
	assert.Contains(t, r.out, "\"sum\":0(3:290:0) = {\n")
}

// TestCountersWithoutNotes checks that a .gcda file without its .gcno file can be shown, checked
// and merged, but not converted.
func TestCountersWithoutNotes(t *testing.T) {
	data, err := os.ReadFile(countersDir + "gcc12.gcda")
	require.NoError(t, err)
	path := writeFile(t, "x.gcda", data)
	assert.NotContains(t, must(t, "show", path), "notes")
	assert.Empty(t, must(t, "check", path))
	r := afdoRun("convert", path, "--to", "v3", "-o", path+".afdo")
	assert.Equal(t, result{1, "", "afdo: " + path + ": there are no notes beside the file: give the .gcno file, which gcc writes with -ftest-coverage, with --notes\n"}, r)
	r = afdoRun("check", path, "--notes", countersDir+"gcc9.gcno")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.out, "files of different compiles")
	r = afdoRun("show", path, "--notes", countersDir)
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "x.gcno: no such file")
}
