package tune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// naiveCritical counts all choices of signs.
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
		assert.Equal(t, naiveCritical(n), criticalRank(n), n)
	}
	assert.Zero(t, criticalRank(5), "fewer than 6 rounds can show nothing")
	assert.Equal(t, 1, criticalRank(6))
	assert.Equal(t, 9, criticalRank(10), "as tables of Wilcoxon's test have it: 8 is significant")
}

func TestSignedRank(t *testing.T) {
	middle, low, high := signedRank([]float64{-1, -2, -3, -4, -5, -6})
	assert.InDelta(t, -3.5, middle, 1e-9)
	assert.Equal(t, []float64{-6, -1}, []float64{low, high})
	_, low, high = signedRank([]float64{1, 2, 3})
	assert.True(t, math.IsInf(low, -1) && math.IsInf(high, 1))
	middle, _, _ = signedRank(nil)
	assert.Zero(t, middle)
}

// Of programs that are alike, one in 20 is called different; a difference of three times the spread
// is never missed.
func TestVerdictsAreTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	wrong, missed := 0, 0
	const trials = 2000
	for range trials {
		var alike, faster []float64
		for range minRounds {
			alike = append(alike, random.NormFloat64())
			faster = append(faster, random.NormFloat64()-3)
		}
		if _, low, high := signedRank(alike); low > 0 || high < 0 {
			wrong++
		}
		if _, _, high := signedRank(faster); high >= 0 {
			missed++
		}
	}
	assert.Less(t, float64(wrong)/trials, 0.06)
	assert.Greater(t, float64(wrong)/trials, 0.03)
	assert.Zero(t, missed)
}
