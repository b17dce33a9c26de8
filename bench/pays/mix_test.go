package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/profile"
)

// mixed writes a profile with a function of three lines and a body that is inlined in it.
func mixed(t *testing.T, name string, head uint64, counts ...uint64) string {
	t.Helper()
	p := profile.New()
	f, inlined := p.AddSymbol(0, "f"), p.AddSymbol(0, "inlined")
	var b profile.Body
	b.Count(1, 0, counts[0])
	b.Count(2, 0, counts[1])
	b.Enter(3, 0, inlined)
	b.Count(0, 0, counts[2])
	b.Leave()
	p.AddFunction(f, profile.Function{HeadCount: head, Records: b.Records()})
	var out bytes.Buffer
	_, err := gcov.Write(&out, p, gcov.WriteOptions{Version: 2})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// Mixtures have the facts of either profile that they say.
func TestMix(t *testing.T) {
	sampled := mixed(t, "sampled", 0, 30, 0, 30)
	exact := mixed(t, "exact", 40, 400, 8, 192) // ten times as many
	for what, want := range map[string][]uint64{
		"heads":     {4, 30, 0, 30},
		"zeros":     {0, 30, 1, 30},
		"shape":     {4, 40, 1, 20},
		"functions": {0, 30, 0, 30},
		"scaled":    {4, 40, 1, 20},
		"rounded":   {4, 40, 1, 19},
	} {
		to := filepath.Join(t.TempDir(), "mixed")
		require.NoError(t, run([]string{"mix", what, sampled, exact, to}))
		p, err := readProfile(to)
		require.NoError(t, err)
		var got []uint64
		for _, f := range p.Functions() {
			got = append(got, f.HeadCount)
		}
		eachPlace(p, func(_ string, n uint64) { got = append(got, n) })
		require.Equal(t, want, got, what)
	}
	require.ErrorContains(t, run([]string{"mix", "none", sampled, exact, "x"}), "no mixture")
}

// The instructions of a block share its samples. A branch and another count end a block.
func TestAverage(t *testing.T) {
	f := flow{
		counts: map[uint64]uint64{0: 5, 4: 5, 8: 5, 12: 7, 16: 7},
		taken:  map[uint64]map[uint64]uint64{4: {16: 2}},
	}
	set := new(samples.Set)
	set.AddAddress(0, 3)
	set.AddAddress(16, 1)
	got := maps.Collect(f.average(set).Addresses())
	require.Equal(t, map[uint64]uint64{0: 24, 4: 24, 12: 8, 16: 8}, got)
}
