package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// compress compresses a file as output.Write does for names that end with .zst.
func compress(t testing.TB, data []byte) []byte {
	var packed bytes.Buffer
	c, err := anyprof.NewCompressor(&packed)
	require.NoError(t, err)
	_, err = c.Write(data)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	return packed.Bytes()
}

// TestRequestsOfCompressed looks up a unit in a compressed file on a server: that fetches only a
// part of the file, and the output is that for the file before compression.
func TestRequestsOfCompressed(t *testing.T) {
	profiles := map[string]func() *profile.Profile{
		"small": func() *profile.Profile { return synth.Profile(synth.Small) },
	}
	if testenv.Sweep() {
		profiles["medium"] = func() *profile.Profile { return synth.Profile(synth.Medium) }
		profiles["android"] = func() *profile.Profile { return synth.Profile(synth.Android) }
		merged := profile.New()
		for _, name := range []string{"libgui", "libart_arm", "keystore2"} {
			p, err := gcov.ParseBytes(testenv.CorpusData(t, name+".v3"))
			require.NoError(t, err)
			merged.Merge(p)
			profiles[name] = func() *profile.Profile { return p }
		}
		profiles["merged"] = func() *profile.Profile { return merged }
	}
	for name, made := range profiles {
		t.Run(name, func(t *testing.T) {
			p := made()
			data := indexedData(t, p)
			plain, packed := writeFile(t, "plain.afdo", data), serveFile(t, compress(t, data))
			var requests, sizes []int64
			for i := range testenv.Rounds(2, 60, 100) {
				path := p.UnitPath(profile.UnitRef(i * 7919 % p.NumUnits()))
				args := []string{"lookup", "FILE", "--unit", path}
				r, b := packed.run(t, args...)
				requests, sizes = append(requests, r), append(sizes, b)
				require.Equal(t, afdoRun("lookup", plain, "--unit", path).out, afdoRun("lookup", packed.path, "--unit", path).out)
			}
			slices.Sort(requests)
			slices.Sort(sizes)
			n := len(sizes)
			t.Logf("%s: %d bytes, compressed %d; median %d requests and %d bytes (%.1f%% of the compressed file), at most %d and %d",
				name, len(data), packed.size, requests[n/2], sizes[n/2], 100*float64(sizes[n/2])/float64(packed.size), requests[n-1], sizes[n-1])
			assert.LessOrEqual(t, sizes[n-1], packed.size)
			if name == "merged" { // most units of the others need names of large ones
				assert.LessOrEqual(t, requests[n/2], int64(4))
				assert.LessOrEqual(t, sizes[n/2], packed.size/10)
			}
		})
	}
}
