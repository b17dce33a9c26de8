// Package poisson draws random numbers of samples for bench/arcs and bench/pays, which make short
// recordings from exact counts.
package poisson

import (
	"math"
	"math/rand/v2"
)

// Draw returns a random number of events whose expected number is n.
func Draw(random *rand.Rand, n float64) uint64 {
	if n > 50 {
		return uint64(max(0, math.Round(n+math.Sqrt(n)*random.NormFloat64())))
	}
	count := uint64(0)
	for p := random.Float64(); p > math.Exp(-n); p *= random.Float64() {
		count++
	}
	return count
}
