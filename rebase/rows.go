package rebase

import (
	"math"
	"math/bits"

	"github.com/go-afdo/afdo/rebase/internal/outline"
)

// A line that is only known by its mark cannot be recognised alone. The row of lines around it
// makes it unique.

// spareBits is the number of bits of evidence required beyond the number that distinguishes all
// pairs of lines of two functions.
const spareBits = 6

// maxRadius bounds how far a row reaches.
const maxRadius = 12

// bitsOf returns how many bits of evidence make a match unique among n × m candidates.
func bitsOf(n, m int) int { return bits.Len(uint(n)) + bits.Len(uint(m)) + spareBits }

// beyond is the mark of a line before the first or after the last one.
const beyond = math.MaxUint64

// rows returns a key for each of the lines from low to high. The key is made from the shortest row,
// with the line in its middle, that has enough bits of evidence. A row ends at the first and the
// last line.
func rows(lines []outline.Line, low, high, enough int) []uint64 {
	keys := make([]uint64, high-low)
	for i := low; i < high; i++ {
		key, known := lines[i].Hash, int(lines[i].Bits)
		for radius := 1; known < enough && radius <= maxRadius; radius++ {
			for _, at := range [...]int{i - radius, i + radius} {
				if at < low || at >= high {
					key = mix(key, beyond)
					continue
				}
				key = mix(key, lines[at].Hash)
				known += int(lines[at].Bits)
			}
		}
		keys[i-low] = max(key, 1)
	}
	return keys
}

// mix makes a key of a key and one more line.
func mix(key, line uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(key^odd, line+odd)
	return hi ^ bits.RotateLeft64(lo, 23)
}
