package simulate

// A Vector is 128 bits of a vector register, the low half first.
type Vector [2]uint64

// place returns the position of element i in a vector of elements of size bytes: the half of the
// vector, the lowest bit of the element in this half, and a mask with the bits of an element.
func place(size, i int) (half, shift int, mask uint64) {
	at := 8 * size * i
	return at >> 6, at & 63, ^uint64(0) >> (64 - 8*size)
}

// Get returns element i, for elements of size bytes.
func (v *Vector) Get(size, i int) uint64 {
	half, shift, mask := place(size, i)
	return v[half] >> shift & mask
}

// Signed returns element i as a signed number, for elements of size bytes.
func (v *Vector) Signed(size, i int) int64 {
	unused := 64 - 8*size
	return int64(v.Get(size, i)<<unused) >> unused
}

// Put sets element i to x, for elements of size bytes.
func (v *Vector) Put(size, i int, x uint64) {
	half, shift, mask := place(size, i)
	v[half] = v[half]&^(mask<<shift) | x&mask<<shift
}
