package gcda

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// The sum of two files is the same as that of gcov-tool.
func TestAddAgreesWithGcovTool(t *testing.T) {
	tool := testenv.Tool(t, "gcov-tool", "gcov-tool-12")
	_, c := fixture(t, "gcc12")
	other := clone(t, c)
	counters := other.Functions[0].Counters
	counters[0].Values[9] = 1000
	counters[1].Values = []int64{10, 1, 5, 10, -20, 2, 2, 7, 3, 13, 4, 1, 17, 4} // values of three places
	dir := t.TempDir()
	for name, c := range map[string]*Counters{"a": c, "b": other} {
		data, err := WriteCounters(c)
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "x.gcda"), data, 0o666))
	}
	cmd := exec.Command(tool, "merge", "-o", "sum", "a", "b")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(dir, "sum", "x.gcda"))
	require.NoError(t, err)
	want, err := ReadCounters(data)
	require.NoError(t, err)
	dropped, err := c.Add(other, 1)
	require.NoError(t, err)
	assert.Zero(t, dropped)
	assert.Equal(t, dumpCounters(want), dumpCounters(c))
}

func clone(t *testing.T, c *Counters) *Counters {
	data, err := WriteCounters(c)
	require.NoError(t, err)
	c, err = ReadCounters(data)
	require.NoError(t, err)
	return c
}

// Adding a file with times n gives the same sum as adding it n times.
func TestAddTimes(t *testing.T) {
	for _, name := range []string{"gcc9", "gcc10", "gcc11", "gcc16"} {
		_, c := fixture(t, name)
		once, times := &Counters{Header: c.Header}, &Counters{Header: c.Header}
		for range 3 {
			_, err := once.Add(c, 1)
			require.NoError(t, err)
		}
		dropped, err := times.Add(c, 3)
		require.NoError(t, err)
		assert.Equal(t, once, times, name)
		assert.Equal(t, map[string]int{"gcc9": 2, "gcc10": 2}[name], dropped, name)
		assert.Equal(t, []Summary{{Runs: 3, SumMax: 3 * 289}}, times.Summaries)
	}
}

func TestAddMismatch(t *testing.T) {
	for want, change := range map[string]func(*Counters){
		"gcda: files of different compiles: version B22* and stamp 1, before it version B22* and stamp 512329051": func(c *Counters) { c.Stamp = 1 },
		"gcda: files of different compiles: function 0x67072eb has other checksums":                               func(c *Counters) { c.Functions[0].CFGChecksum++ },
		"gcda: files of different compiles: function 0x67072eb has other counters of kind 0":                      func(c *Counters) { c.Functions[0].Counters[0].Values = []int64{1} },
		"gcda: files of different compiles: function 0x67072eb has other counters of kind 3":                      func(c *Counters) { c.Functions[0].Counters[1].Values[1] = 9 },
		"gcda: files of different compiles: function 0x67072eb has other counters of kind 7":                      func(c *Counters) { f := &c.Functions[0]; f.Counters = f.Counters[:5] },
	} {
		_, c := fixture(t, "gcc12")
		other := clone(t, c)
		change(other)
		before := clone(t, c)
		_, err := c.Add(other, 1)
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, errOtherCompile)
		assert.Equal(t, before, c)
	}
}

func TestSaturation(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		v     int64
		times uint64
		want  int64
	}{{5, 0, 0}, {5, 3, 15}, {-5, 3, -15}, {most, 2, most}, {least, 2, least}, {1, 1 << 63, most}, {least, 1, least}, {1 << 32, 1 << 31, most}} {
		assert.Equal(t, c.want, scale(c.v, c.times), c)
	}
	assert.Equal(t, int64(most), add(most, 1))
	assert.Equal(t, int64(least), add(least, -1))
	assert.Equal(t, int64(-1), add(most, least))
}

func TestCheck(t *testing.T) {
	n, c := fixture(t, "gcc12")
	for p := range Check(c, n) {
		assert.NoError(t, p.Err)
	}
	c.Functions[0].CFGChecksum = 1
	c.Functions[1].Ident = 7
	c.Functions[3].Counters[0].Values[0] = -100
	var got []string
	for p := range Check(c, n) {
		kind := "fault: "
		if p.Remark {
			kind = "remark: "
		}
		got = append(got, kind+p.Err.Error())
	}
	assert.Equal(t, []string{
		`fault: gcda: graph: files of different compiles: function "main": the checksums are 0x72bfca71 and 0x1, but 0x72bfca71 and 0xbe567ec4 in the notes`,
		`remark: gcda: function "sum": 4 of 10 arcs have negative counts`,
		`fault: gcda: files of different compiles: the notes have no function 0x7`,
	}, got)
}
