package memprof_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// TestMergeTimes checks that merging a profile with weight n equals merging it n times.
func TestMergeTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		a, b := randomProfile(rng, 10, memprof.FullSchema()), randomProfile(rng, 10, memprof.FullSchema())
		times := 1 + rng.Uint64N(5)
		var want, got memprof.Profile
		require.NoError(t, want.Merge(a, 1))
		require.NoError(t, got.Merge(a, 1))
		for range times {
			require.NoError(t, want.Merge(b, 1))
		}
		require.NoError(t, got.Merge(b, times))
		require.Equal(t, plain(t, &want), plain(t, &got))
	}
	var most memprof.Profile
	require.NoError(t, most.Merge(randomProfile(rng, 10, memprof.DefaultSchema()), math.MaxUint64))
	for a := range most.Allocs() {
		require.EqualValues(t, uint64(math.MaxUint64), a.Block[memprof.AllocCount])
	}
	_, err := most.Section(3, 0)
	require.Error(t, err, "a number of allocations has 32 bits")
}
