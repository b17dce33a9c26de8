package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSortCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 2*radixSize - 1, 2 * radixSize, 5 * radixSize} {
		for _, bits := range []int{1, 8, radixBits, radixBits + 1, 33, 55, 63, 64} {
			counts := make([]uint64, n)
			for i := range counts {
				counts[i] = rng.Uint64() >> (64 - 1 - rng.IntN(bits))
			}
			want := slices.Sorted(slices.Values(counts))
			assert.Equal(t, want, slices.Clone(sortCounts(counts)), "%d counts of %d bits", n, bits)
		}
	}
	same := slices.Repeat([]uint64{math.MaxUint64}, 3*radixSize)
	assert.Equal(t, same, sortCounts(slices.Clone(same)))
	zeros := make([]uint64, 3*radixSize)
	assert.Equal(t, zeros, sortCounts(slices.Clone(zeros)))
}
