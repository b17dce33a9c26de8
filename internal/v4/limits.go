package v4

import "math"

// MaxSpelled returns the limit on the total length of the expanded names in a file of the given
// size: 64 times the size plus 16 MiB. Names of real files take a few times the file size.
func MaxSpelled(size int64) int64 {
	const (
		perByte = 64
		free    = 16 << 20
	)
	return free + perByte*min(size, math.MaxInt64/(2*perByte))
}

// MaxNameBytes returns the limit on the names of one unit: the option afdo.MaxNameBytes, but at
// most [MaxSpelled].
func MaxNameBytes(option int, size int64) int { return int(min(int64(option), MaxSpelled(size))) }

// MaxTableBytes returns the limit on the symbol tables of all units in a Reader: four times the
// limit of one unit plus eight times the file size, but at most [MaxSpelled].
func MaxTableBytes(maxNameBytes int, size int64) int64 {
	const perByte = 8
	return min(4*int64(maxNameBytes)+perByte*min(size, math.MaxInt64/(2*perByte)), MaxSpelled(size))
}
