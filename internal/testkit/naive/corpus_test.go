package naive_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// corpus reads a real profile.
func corpus(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, name))
	require.NoError(t, err)
	return data
}

func decode(t *testing.T, name string) *naive.File {
	t.Helper()
	f, err := naive.Decode(corpus(t, name))
	require.NoError(t, err)
	return f
}

func canonical(t *testing.T, f interface {
	Canonical() (*naive.Profile, error)
}) *naive.Profile {
	t.Helper()
	p, err := f.Canonical()
	require.NoError(t, err)
	return p
}

func TestCorpusNormalAndCompactAgree(t *testing.T) {
	testenv.NeedSweep(t)
	normal, compact := decode(t, "libgui.v4"), decode(t, "libgui.v4c")
	require.False(t, normal.Compact)
	require.True(t, compact.Compact)
	require.Len(t, compact.Sections, len(normal.Sections))
	for i, s := range normal.Sections {
		require.Equal(t, s.Type, compact.Sections[i].Type)
		require.Zero(t, s.Trailing)
		require.Zero(t, compact.Sections[i].Trailing)
		require.False(t, s.Compact)
		require.True(t, compact.Sections[i].Compact)
	}
	require.Equal(t, normal.Summary, compact.Summary)
	require.True(t, reflect.DeepEqual(normal.Units, compact.Units), "units differ")
	require.True(t, reflect.DeepEqual(canonical(t, normal), canonical(t, compact)), "meanings differ")
}

// The version 4 file holds some places twice, whose discriminators were cut to 16 bits; the version
// 3 file has only the last count of such a place. Apart from that, the two mean the same.
func TestCorpusVersion3And4Agree(t *testing.T) {
	testenv.NeedSweep(t)
	v4 := decode(t, "libgui.v4")
	v3, err := naive.DecodeV3(corpus(t, "libgui.v3"))
	require.NoError(t, err)
	require.Equal(t, *v3.Summary, v4.Summary)
	require.Equal(t, v4.Summary, v4.Summarize(), "the summary is that of the records as they stand")

	merged := canonical(t, v4)
	require.Equal(t, v4.Summary.TotalCount, merged.Summarize().TotalCount)

	dropped := 0
	for i := range v4.Units {
		for j := range v4.Units[i].Symbols {
			s := &v4.Units[i].Symbols[j]
			s.Locations = lastCounts(s.Locations, &dropped)
		}
	}
	require.Equal(t, 36, dropped)
	want, got := canonical(t, v3), canonical(t, v4)
	require.Equal(t, len(want.Functions), len(got.Functions))
	for k, fn := range want.Functions {
		require.Truef(t, reflect.DeepEqual(fn, got.Functions[k]), "%v", k)
	}
	require.True(t, reflect.DeepEqual(want.Symbols, got.Symbols), "symbols differ")

	differ := 0
	for k, fn := range want.Functions {
		if !reflect.DeepEqual(fn, merged.Functions[k]) {
			differ++
		}
	}
	require.Equal(t, 16, differ)
}

// lastCounts drops all count records but the last of each place.
func lastCounts(ls []naive.Location, dropped *int) []naive.Location {
	last := map[naive.Place]int{}
	for i, l := range ls {
		if l.Type <= naive.Wide {
			last[naive.Place{Line: l.Line, Disc: l.Disc}] = i
		}
	}
	var kept []naive.Location
	for i, l := range ls {
		if l.Type <= naive.Wide && last[naive.Place{Line: l.Line, Disc: l.Disc}] != i {
			*dropped++
			continue
		}
		l.Locations = lastCounts(l.Locations, dropped)
		kept = append(kept, l)
	}
	return kept
}

func TestCorpusFigures(t *testing.T) {
	for _, c := range []struct {
		name                      string
		units, symbols, functions int
	}{
		{"libgui.v3", 267, 7482, 1596},
		{"libart_arm.v3", 450, 15013, 1700},
		{"keystore2.v3", 277, 11700, 732},
	}[:testenv.Rounds(1, 3)] {
		f, err := naive.DecodeV3(corpus(t, c.name))
		require.NoError(t, err)
		require.Equal(t, uint32(3), f.Version)
		require.False(t, f.BigEndian)
		require.Len(t, f.Files, c.units)
		require.Len(t, f.Names, c.symbols+1)
		require.Len(t, f.Functions, c.functions)
		require.Len(t, f.WorkingSet, 128)
		p := canonical(t, f)
		require.Len(t, p.Symbols, c.symbols)
		require.Equal(t, uint64(c.functions), f.Summary.NumFunctions)
		if c.name != "libgui.v3" { // which lost some counts, see above
			s := p.Summarize()
			s.NumFunctions = f.Summary.NumFunctions // silent functions are counted there
			require.Equal(t, *f.Summary, s)
		}
	}
}
