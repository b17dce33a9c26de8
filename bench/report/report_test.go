package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `date: 2026-08-01
cpu-model: not a fact
goos: linux
BenchmarkWalk/corpus=bootstrap/mode=normal-2   	     100	   1000 ns/op	     1200 MB/s	   900 cpu-ns/op	 0 allocs/op
BenchmarkWalk/corpus=bootstrap/mode=normal-2   	     100	   3000 ns/op	     1000 MB/s	   700 cpu-ns/op	 0 allocs/op
BenchmarkWalk/corpus=bootstrap/mode=normal-2   	     100	   2000 ns/op	     1400 MB/s	   800 cpu-ns/op	 0 allocs/op
BenchmarkSkipped
BenchmarkOld 1 5 ns/op 7 MB/s
goos: linux
PASS
`

func parseSample(t *testing.T) *results {
	t.Helper()
	r, err := parse(strings.NewReader(sample))
	require.NoError(t, err)
	return r
}

func TestParse(t *testing.T) {
	r := parseSample(t)
	assert.Equal(t, []string{"date: 2026-08-01", "goos: linux"}, r.config)
	assert.Equal(t, "2026-08-01", r.fact("date"))
	assert.Equal(t, "unknown", r.fact("load"))
	for unit, want := range map[string]float64{"ns/op": 2000, "MB/s": 1200, "cpu-ns/op": 800, "allocs/op": 0} {
		v, ok := r.median("Walk/corpus=bootstrap/mode=normal", unit)
		assert.True(t, ok)
		assert.InDelta(t, want, v, 0, unit)
	}
	_, ok := r.median("Skipped", "ns/op")
	assert.False(t, ok)
	_, err := parse(strings.NewReader("BenchmarkX 1 x ns/op\n"))
	assert.ErrorContains(t, err, "BenchmarkX")
}

func TestFormat(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 1.234: "1.23", 12.34: "12.3", 99.96: "100", 1234.5: "1,234", 1e6: "1,000,000", -1234: "-1,234"} {
		assert.Equal(t, want, digits(v))
	}
	assert.Equal(t, "150,000", count(150_000))
	assert.Equal(t, "0", count(0))
	assert.Equal(t, "999 ns", duration(999))
	assert.Equal(t, "1.00 µs", duration(999.6))
	assert.Equal(t, "1.50 s", duration(1.5e9))
	assert.Equal(t, "5,000 s", duration(5e12))
	assert.Equal(t, "17 B", size(17))
	assert.Equal(t, "57.5 MB", size(57_498_082))
	assert.Equal(t, "1.20 GB/s", rate(1200))
}

func TestByProcessorTime(t *testing.T) {
	r := parseSample(t)
	const walk = "Walk/corpus=bootstrap/mode=normal" // 2000 ns by the clock, 800 of the processor
	assert.Equal(t, "3.00 GB/s", r.speed(walk, rate))
	assert.Equal(t, missing, r.speed("Missing", rate))
	v, ok := r.adjusted(walk, "MB/s", false)
	assert.True(t, ok)
	assert.InDelta(t, 480, v, 0.1)
	const old = "Old" // without processor time
	v, ok = r.adjusted(old, "MB/s", true)
	assert.True(t, ok)
	assert.InDelta(t, 7, v, 0)
}

func TestTargets(t *testing.T) {
	r, err := parse(strings.NewReader(`BenchmarkRead/corpus=bootstrap/mode=normal/source=mmap/op=open+unit 1 2000 ns/op 1000 cpu-ns/op 66 allocs/op
BenchmarkCompile/corpus=bootstrap/profile=whole 1 9000000 ns/op 8000000 cpu-ns/op
BenchmarkCompile/corpus=bootstrap/profile=none 1 1000000 ns/op 1000000 cpu-ns/op
`))
	require.NoError(t, err)
	text := targets(r)
	assert.Contains(t, text, "| ≥ 2,000 | bootstrap | 7,000 | – |")
	assert.Contains(t, text, "| < 100 | bootstrap | 66 | – |")
}

func TestRowsDoNotRepeat(t *testing.T) {
	table := newTable("", "profile", "time")
	for _, cells := range [][]string{{"open", "large", "1 s"}, {"open", "small", "1 s"}, {"read", "small", "1 s"}} {
		table.row(cells...)
	}
	assert.True(t, strings.HasSuffix(table.String(), "| open | large | 1 s |\n|  | small | 1 s |\n| read | small | 1 s |\n"), table.String())
}

func TestFill(t *testing.T) {
	text, err := fill("a\n<!-- begin walk -->\nold\n<!-- end walk -->\nb\n", parseSample(t))
	require.NoError(t, err)
	assert.Contains(t, text, "a\n<!-- begin walk -->\n| ")
	assert.True(t, strings.HasSuffix(text, "<!-- end walk -->\nb\n"))
	assert.NotContains(t, text, "old")

	again, err := fill(text, parseSample(t))
	require.NoError(t, err)
	assert.Equal(t, text, again)

	_, err = fill("<!-- begin nothing -->\n<!-- end nothing -->", parseSample(t))
	require.ErrorContains(t, err, `no table is called "nothing"`)
	_, err = fill("<!-- begin index -->\n<!-- end walk -->", parseSample(t))
	require.ErrorContains(t, err, `"index" ends as "walk"`)
}

// TestDocuments checks that the documents have all tables, once each.
func TestDocuments(t *testing.T) {
	seen := map[string]int{}
	for _, path := range documents {
		text, err := os.ReadFile(filepath.Join("..", "..", path))
		require.NoError(t, err)
		for _, m := range marked.FindAllStringSubmatch(string(text), -1) {
			seen[m[2]]++
		}
		_, err = fill(string(text), parseSample(t))
		require.NoError(t, err)
	}
	for name := range tables {
		assert.Positive(t, seen[name], name)
	}
}
