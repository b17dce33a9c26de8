// Package saturating adds and multiplies counts. Where a result does not fit, it is the largest
// number: a profile that has counted that far says "very often" either way.
package saturating

import (
	"math"
	"math/bits"
)

// Add returns x+y, at most [math.MaxUint64].
func Add(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// Mul returns x*y, at most [math.MaxUint64].
func Mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}
