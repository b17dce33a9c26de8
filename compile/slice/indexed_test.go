package slice

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	fileindex "github.com/go-afdo/afdo/profile/index"
)

// TestIndexed compares slices and keys that are made with the index of a file with those of the
// same profile in memory.
func TestIndexed(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 150)) {
		p := randomProfile(seed)
		inMemory := FromProfile(p)
		var file bytes.Buffer
		require.NoError(t, builder.Write(&file, p, builder.Options{Compact: seed%2 == 0, Index: &fileindex.Options{Unqualified: Names}}))
		r, err := afdo.OpenBytes(file.Bytes(), afdo.RequireChecksums(), afdo.TrustIndex())
		require.NoError(t, err)
		program, err := FromReader(r)
		require.NoError(t, err)
		require.True(t, program.whole.Indexed())
		for q := range randomRequests(p, seed) {
			want, err := inMemory.Select(q)
			require.NoError(t, err)
			got, err := program.Select(q)
			require.NoError(t, err)
			require.NoError(t, profile.Compare(want, got), "seed %d, %+v", seed, q)
			key, err := inMemory.Fingerprint(q)
			require.NoError(t, err)
			other, err := program.Fingerprint(q)
			require.NoError(t, err)
			require.Equal(t, key, other, "seed %d, %+v", seed, q)
		}
	}
}

// An index with keys of another scheme is not used for slices.
func TestIndexOfAnotherScheme(t *testing.T) {
	p := randomProfile(1)
	for _, scheme := range []fileindex.Scheme{{}, {Name: "another", Unqualified: func(string) string { return "" }}} {
		var file bytes.Buffer
		require.NoError(t, builder.Write(&file, p, builder.Options{Index: &fileindex.Options{Unqualified: scheme}}))
		r, err := afdo.OpenBytes(file.Bytes(), afdo.TrustIndex())
		require.NoError(t, err)
		program, err := FromReader(r)
		require.NoError(t, err)
		require.False(t, program.whole.Indexed())
	}
}
