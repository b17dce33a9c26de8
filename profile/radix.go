package profile

import "slices"

// A pass of sortCounts sorts by so many bits, the lowest first.
const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// sortCounts sorts counts in place or into a second array, which it returns.
// Passes over their digits take a fraction of the time that comparing millions of them
// does, and their number is that of the digits of the largest.
func sortCounts(counts []uint64) []uint64 {
	if len(counts) < 2*radixSize {
		slices.Sort(counts)
		return counts
	}
	all := uint64(0)
	for _, c := range counts {
		all |= c
	}
	sorted := make([]uint64, len(counts))
	for shift := 0; all>>shift != 0; shift += radixBits {
		distribute(sorted, counts, shift)
		counts, sorted = sorted, counts
	}
	return counts
}

// distribute copies counts to an array of their number, by their digit at shift and apart from that
// in their order.
func distribute(to, counts []uint64, shift int) {
	var starts [radixSize + 1]int
	for _, c := range counts {
		starts[c>>shift%radixSize+1]++
	}
	for digit := range radixSize {
		starts[digit+1] += starts[digit]
	}
	for _, c := range counts {
		at := &starts[c>>shift%radixSize]
		to[*at] = c
		*at++
	}
}
