package lines

import "math/bits"

// Number reads a number from the start of b and returns it with its length: 0 if there is none, and
// ok is false if 64 bits do not hold it.
func Number(b []byte, base uint64) (value uint64, length int, ok bool) {
	ok = true
	for _, c := range b {
		d := digit(c)
		if d >= base {
			break
		}
		hi, lo := bits.Mul64(value, base)
		sum, carry := bits.Add64(lo, d, 0)
		ok = ok && hi == 0 && carry == 0
		value = sum
		length++
	}
	return value, length, ok
}

// digit returns the value of a hexadecimal digit, 16 for what is none.
func digit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 16
}
