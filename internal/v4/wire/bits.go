package wire

import "math"

// A BitWriter appends numbers bit by bit. The first number is in the highest bits of the first
// byte.
type BitWriter struct {
	Data []byte
	bits uint64 // bits not appended yet
	n    uint8  // their number, below 8
}

// Put appends the lowest width bits of a number, at most 56.
func (w *BitWriter) Put(v uint64, width uint8) {
	w.bits = w.bits<<width | v&(math.MaxUint64>>(64-width))
	for w.n += width; w.n >= 8; w.n -= 8 {
		w.Data = append(w.Data, byte(w.bits>>(w.n-8)))
	}
}

// Align appends zeros up to the next whole byte.
func (w *BitWriter) Align() {
	if w.n > 0 {
		w.Put(0, 8-w.n)
	}
}
