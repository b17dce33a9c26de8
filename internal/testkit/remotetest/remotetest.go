// Package remotetest creates files for tests of remote reading.
package remotetest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile/index"
)

// Written returns a version 4 file with a synthetic profile, with an index if indexed is true.
func Written(t testing.TB, o synth.Options, indexed bool) []byte {
	t.Helper()
	return written(t, o, indexed, builder.Options{})
}

// Compact returns a compact version 4 file with a synthetic profile, with an index if indexed is
// true.
func Compact(t testing.TB, o synth.Options, indexed bool) []byte {
	t.Helper()
	return written(t, o, indexed, builder.Options{Compact: true})
}

func written(t testing.TB, o synth.Options, indexed bool, options builder.Options) []byte {
	t.Helper()
	if indexed {
		options.Index = &index.Options{}
	}
	var b bytes.Buffer
	require.NoError(t, builder.Write(&b, synth.Profile(o), options))
	return b.Bytes()
}

// SomeUnits returns the paths of n units, distributed over a file.
func SomeUnits(t testing.TB, data []byte, n int) (paths []string) {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	var all []string
	for u, err := range r.Units() {
		require.NoError(t, err)
		all = append(all, u.Path())
	}
	for i := range n {
		paths = append(paths, all[i*len(all)/n])
	}
	return paths
}
