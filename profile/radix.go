package profile

import "slices"

// radixBits is the number of bits by which each pass of sortCounts sorts.
const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// sortCounts sorts counts, either in place or into a second array, and returns the sorted slice. It
// uses radix sort, which is several times faster than comparison for millions of counts. The number
// of passes depends on the largest count.
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

// distribute copies counts to an array of the same length, stably sorted by the digit at shift.
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
