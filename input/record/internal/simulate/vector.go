package simulate

// A Vector is 128 bits of a vector register, the low half first.
type Vector [2]uint64

// place returns where an element of a size in bytes is: its half, its lowest bit there, and the
// bits of an element.
func place(size, i int) (half, shift int, mask uint64) {
	at := 8 * size * i
	return at >> 6, at & 63, ^uint64(0) >> (64 - 8*size)
}

// Get returns an element.
func (v *Vector) Get(size, i int) uint64 {
	half, shift, mask := place(size, i)
	return v[half] >> shift & mask
}

// Signed returns an element with its sign.
func (v *Vector) Signed(size, i int) int64 {
	unused := 64 - 8*size
	return int64(v.Get(size, i)<<unused) >> unused
}

// Put changes an element.
func (v *Vector) Put(size, i int, x uint64) {
	half, shift, mask := place(size, i)
	v[half] = v[half]&^(mask<<shift) | x&mask<<shift
}
