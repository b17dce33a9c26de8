package gcda

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// FuzzRewrite reads notes or counters and writes them. The result reads back as the same values.
// Expanding counters and reducing the counts gives the same counters.
func FuzzRewrite(f *testing.F) {
	for _, path := range fixtures(f) {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := ReadNotes(data); !isFormatError(t, err) {
			written, err := WriteNotes(n)
			require.NoError(t, err)
			again, err := ReadNotes(written)
			require.NoError(t, err)
			require.Equal(t, n, again)
			for i := range n.Functions {
				checkFlow(t, &n.Functions[i])
			}
		}
		if c, err := ReadCounters(data); !isFormatError(t, err) {
			written, err := WriteCounters(c)
			require.NoError(t, err)
			again, err := ReadCounters(written)
			require.NoError(t, err)
			require.Equal(t, c, again)
			sum := *c
			_, err = sum.Add(c, 3)
			if err == nil {
				_, err = WriteCounters(&sum)
				require.NoError(t, err)
			}
		}
	})
}

// FuzzMatch reads notes and counters, which may be of the same compile, and matches them.
func FuzzMatch(f *testing.F) {
	for _, name := range []string{"gcc9", "gcc12", "s390x"} {
		notes, err := os.ReadFile(filepath.Join("testdata", name+".gcno"))
		require.NoError(f, err)
		counters, err := os.ReadFile(filepath.Join("testdata", name+".gcda"))
		require.NoError(f, err)
		f.Add(notes, counters)
	}
	f.Fuzz(func(t *testing.T, notes, counters []byte) {
		n, err := ReadNotes(notes)
		if isFormatError(t, err) {
			return
		}
		c, err := ReadCounters(counters)
		if isFormatError(t, err) {
			return
		}
		p, lost := Profile(c, n)
		require.LessOrEqual(t, p.NumFunctions()+lost.Functions, 2*len(n.Functions))
		faults := 0
		for problem := range Check(c, n) {
			if !problem.Remark {
				faults++
			}
		}
		require.GreaterOrEqual(t, faults, lost.Functions)
	})
}

func isFormatError(t *testing.T, err error) bool {
	if err == nil {
		return false
	}
	var format *afdo.FormatError
	var version *afdo.VersionError
	assert.True(t, errors.As(err, &format) || errors.As(err, &version), "%v", err)
	return true
}

func checkFlow(t *testing.T, f *Function) {
	counters := make([]int64, f.instrumented())
	for i := range counters {
		counters[i] = int64(i * i)
	}
	counts, err := f.Expand(counters)
	if err != nil {
		require.ErrorIs(t, err, afdo.ErrMalformed)
		return
	}
	require.Equal(t, counters, f.Reduce(counts))
	if f.Blocks >= 2 {
		surplus := make([]int64, f.Blocks)
		for i, a := range f.Arcs {
			surplus[a.To] += counts[i]
			surplus[a.From] -= counts[i]
		}
		surplus[0] += surplus[1]
		surplus[1] = 0
		require.Equal(t, make([]int64, f.Blocks), surplus)
	}
}
