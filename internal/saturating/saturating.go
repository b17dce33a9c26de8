// Package saturating adds and multiplies counts. A result that exceeds 64 bits becomes the largest
// number of 64 bits, because for a compiler both mean "very often".
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
