package rebase

import (
	"math"
	"math/bits"

	"github.com/go-afdo/afdo/rebase/internal/outline"
)

// A line of which only a mark is known says little. What makes it known again is the row of lines
// around it.

// spareBits is how much more lines must say than it takes to tell all pairs of two functions apart.
const spareBits = 6

// maxRadius bounds how far a row reaches.
const maxRadius = 12

// bitsOf returns how much lines must say that are to be the only ones of so many that are the same.
func bitsOf(n, m int) int { return bits.Len(uint(n)) + bits.Len(uint(m)) + spareBits }

// beyond stands for a line before the first or behind the last one.
const beyond = math.MaxUint64

// rows returns a key for each of some lines: of the shortest row with the line in the middle that
// says so much. A row ends where the lines do.
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
