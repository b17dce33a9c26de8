package v4

import "math"

// MaxSpelled is how many bytes the names of a file of a size may take, spelled out. Those of real
// files take a few times their size.
func MaxSpelled(size int64) int64 {
	const (
		perByte = 64
		free    = 16 << 20
	)
	return free + perByte*min(size, math.MaxInt64/(2*perByte))
}

// MaxNameBytes is how many bytes the names of one unit of a file of a size may take: what the
// option afdo.MaxNameBytes says, but no more than [MaxSpelled].
func MaxNameBytes(option int, size int64) int { return int(min(int64(option), MaxSpelled(size))) }

// MaxTableBytes is how many bytes the symbol tables of all units of a file of a size may take in a
// Reader, given the bound of one: four times that and eight times the file, but no more than
// [MaxSpelled].
func MaxTableBytes(maxNameBytes int, size int64) int64 {
	const perByte = 8
	return min(4*int64(maxNameBytes)+perByte*min(size, math.MaxInt64/(2*perByte)), MaxSpelled(size))
}
