package profile

import (
	"cmp"
	"math/bits"

	"github.com/go-afdo/afdo/internal/saturating"
)

// shareOf returns part divided by whole. It is exactly 1 if they are equal, and 0 if whole is 0.
func shareOf(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// compareShares compares the fraction part/whole with otherPart/otherWhole, without rounding.
func compareShares(part, whole, otherPart, otherWhole uint64) int {
	hi, lo := bits.Mul64(part, otherWhole)
	otherHi, otherLo := bits.Mul64(otherPart, whole)
	return cmp.Or(cmp.Compare(hi, otherHi), cmp.Compare(lo, otherLo))
}

// samplesOf returns the sum of all counts in a body, including inlined bodies. The sum saturates.
func samplesOf(records []Record) uint64 {
	sum := uint64(0)
	for i := range records {
		if r := &records[i]; r.Kind == KindCount {
			sum = saturating.Add(sum, r.Count)
		}
	}
	return sum
}
