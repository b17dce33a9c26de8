package duel

import (
	"math"
	"slices"
)

// signedRank returns the Hodges-Lehmann estimate of the typical difference and a confidence
// interval for it by Wilcoxon's signed ranks. The interval misses the true difference with a
// probability of at most alpha. It assumes only that differences are distributed symmetrically.
// With too few differences, the interval is unbounded.
func signedRank(differences []float64, alpha float64) (middle, low, high float64) {
	n := len(differences)
	if n == 0 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	var means []float64 // means of all pairs, including each difference with itself
	for i, a := range differences {
		for _, b := range differences[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	k := criticalRank(n, alpha)
	if k == 0 {
		return Median(means), math.Inf(-1), math.Inf(1)
	}
	return Median(means), means[k-1], means[len(means)-k]
}

// criticalRank returns the largest k such that, if there is no difference, the sum of the ranks of
// positive differences is below k with a probability of at most alpha/2. It is 0 if n is too small.
func criticalRank(n int, alpha float64) int {
	ways := make([]float64, n*(n+1)/2+1) // by sum of ranks, its share of the 2^n choices of signs
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
	for below += ways[0]; below <= alpha/2; below += ways[k] {
		k++
	}
	return k
}

// Median returns the median, 0 if there are no numbers.
func Median(numbers []float64) float64 {
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
