package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/profile"
)

// A byteSource is a source of random numbers that returns given bytes first, and pseudorandom
// numbers after their end.
type byteSource struct {
	data []byte
	then *rand.PCG
}

func (s *byteSource) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.then.Uint64()
	}
	b := s.data[0]
	s.data = s.data[1:]
	return uint64(b) * 0x0101010101010101
}

// FuzzBuilderRoundTrip writes a profile that the input determines. profile.Read and the naive
// decoder read the same profile back.
func FuzzBuilderRoundTrip(f *testing.F) {
	for n := range 8 {
		seed := make([]byte, 64*n)
		r := rand.New(rand.NewPCG(uint64(n), 7))
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	shapes := gen.All()
	shapes.Units, shapes.Symbols, shapes.Records = 3, 4, 5
	shapes.LongNames, shapes.Deep = false, false
	f.Fuzz(func(t *testing.T, data []byte) {
		r := rand.New(&byteSource{data, rand.NewPCG(uint64(len(data)), 8)})
		o := Options{Compact: r.IntN(2) == 1}
		truth := drawWith(t, r, shapes)
		p := model(r, truth)
		file := write(t, p, o)
		require.True(t, bytes.Equal(file, write(t, model(r, truth), o)), "the order of adding changes the file")

		got, err := decode(t, file, o).Canonical()
		require.NoError(t, err)
		require.Equal(t, truth, got)

		back, err := profile.Read(open(t, file))
		require.NoError(t, err)
		require.NoError(t, profile.Compare(p, back))
		require.Equal(t, p.Summarize(), back.Summary)
		require.True(t, bytes.Equal(file, write(t, back, o)), "what was read makes another file")
	})
}
