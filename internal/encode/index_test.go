package encode

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// Adding an index does not change the other sections of a file. Equal profiles give equal indexes.
func TestIndex(t *testing.T) {
	for seed := range uint64(testenv.Rounds(8, 200)) {
		r := rand.New(rand.NewPCG(seed, 0x1d))
		truth := draw(t, r)
		for _, compact := range []bool{false, true} {
			plain := write(t, model(r, truth), Options{Compact: compact})
			o := Options{Compact: compact, Index: &index.Options{Producer: "a test"}}
			indexed := write(t, model(r, truth), o)
			require.Equal(t, indexed, write(t, model(r, truth), o))

			want, err := naive.Decode(plain)
			require.NoError(t, err)
			got, err := naive.Decode(indexed)
			require.NoError(t, err)
			require.Equal(t, want.Units, got.Units)
			require.Equal(t, want.Summary, got.Summary)
			require.Len(t, got.Sections, len(want.Sections)+1)
			meaning, err := got.Canonical()
			require.NoError(t, err)
			require.Equal(t, truth, meaning)

			file := open(t, indexed)
			x, err := index.Read(file)
			require.NoError(t, err)
			info, err := x.Info()
			require.NoError(t, err)
			require.Equal(t, compact, info.Section.Compact)
			require.EqualValues(t, len(indexed), info.Section.Offset+info.Section.Size, "it is the last section")
			var again bytes.Buffer
			require.NoError(t, index.Write(&again, file, nil))
			require.Equal(t, plain, again.Bytes())
		}
	}
}

// Write returns an error of the caller's function Options.Index.Fingerprint.
func TestIndexError(t *testing.T) {
	fault := errors.New("a fault")
	o := Options{Index: &index.Options{Fingerprint: func(*afdo.Unit) (uint64, error) { return 0, fault }}}
	var b bytes.Buffer
	require.ErrorIs(t, Write(&b, profile.New(), o), fault)
	require.Zero(t, b.Len())
}
