package tune

import (
	"math"
	"slices"
)

// confidence is that of the interval in which a difference is. It may be wrong once in 20 times.
const confidence = 0.95

// signedRank returns what is typical of differences that scatter around it, and the interval that
// holds it with 95% confidence: the estimate of Hodges and Lehmann and its interval, by the signed
// ranks of Wilcoxon. Nothing is supposed of how they scatter but that it is to both sides alike. Of
// too few the interval has no bounds.
func signedRank(differences []float64) (middle, low, high float64) {
	n := len(differences)
	if n == 0 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	var means []float64 // of each two, and of each with itself
	for i, a := range differences {
		for _, b := range differences[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	k := criticalRank(n)
	if k == 0 {
		return median(means), math.Inf(-1), math.Inf(1)
	}
	return median(means), means[k-1], means[len(means)-k]
}

// criticalRank returns the largest k for which the sum of the ranks of the positive differences is
// less than k in no more than half of the cases that may be wrong, if there is no difference. It is
// 0 for fewer than 6.
func criticalRank(n int) int {
	ways := make([]float64, n*(n+1)/2+1) // shares of the 2^n choices of signs, by the sum of ranks
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(ways) - 1; sum >= 0; sum-- {
			with := 0.0
			if sum >= rank {
				with = ways[sum-rank]
			}
			ways[sum] = (ways[sum] + with) / 2
		}
	}
	k, below := 0, 0.0
	for below += ways[0]; below <= (1-confidence)/2; below += ways[k] {
		k++
	}
	return k
}

// median returns the middle one of numbers, 0 of none.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
