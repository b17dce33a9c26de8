package duel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// naiveCritical computes criticalRank by trying all choices of signs.
func naiveCritical(n int) int {
	sums := make([]int, n*(n+1)/2+1)
	for signs := range 1 << n {
		sum := 0
		for rank := 1; rank <= n; rank++ {
			if signs>>(rank-1)&1 == 1 {
				sum += rank
			}
		}
		sums[sum]++
	}
	below, k := 0, 0
	for {
		below += sums[k]
		if float64(below)/float64(int(1)<<n) > 0.025 {
			return k
		}
		k++
	}
}

func TestCriticalRank(t *testing.T) {
	for n := 1; n <= 14; n++ {
		assert.Equal(t, naiveCritical(n), criticalRank(n, 0.05), n)
	}
	assert.Zero(t, criticalRank(5, 0.05), "fewer than 6 rounds can show nothing")
	assert.Equal(t, 1, criticalRank(6, 0.05))
	assert.Equal(t, 9, criticalRank(10, 0.05), "as tables of Wilcoxon's test have it: 8 is significant")
}

func TestSignedRank(t *testing.T) {
	middle, low, high := signedRank([]float64{-1, -2, -3, -4, -5, -6}, 0.05)
	assert.InDelta(t, -3.5, middle, 1e-9)
	assert.Equal(t, []float64{-6, -1}, []float64{low, high})
	_, low, high = signedRank([]float64{1, 2, 3}, 0.05)
	assert.True(t, math.IsInf(low, -1) && math.IsInf(high, 1))
	middle, _, _ = signedRank(nil, 0.05)
	assert.Zero(t, middle)
}
