package sourcefmt

import "math/bits"

// A bitWriter appends numbers bit by bit, starting with the highest bit of a byte.
type bitWriter struct {
	data []byte
	free uint8 // unused bits in the last byte
}

// put appends the lowest width bits of a number.
func (w *bitWriter) put(v uint32, width uint8) {
	for width > 0 {
		if w.free == 0 {
			w.data, w.free = append(w.data, 0), 8
		}
		n := min(width, w.free)
		width -= n
		w.free -= n
		w.data[len(w.data)-1] |= byte(v>>width) & (1<<n - 1) << w.free
	}
}

// rice appends a Rice code: v>>low in unary (ones and a zero), then the lowest bits.
func (w *bitWriter) rice(v uint32, low uint8) {
	for range v >> low {
		w.put(1, 1)
	}
	w.put(0, 1)
	w.put(v, low)
}

// riceSize returns the size of a Rice code in bits.
func riceSize(v uint32, low uint8) int { return int(v>>low) + 1 + int(low) }

// A bitReader reads the output of a bitWriter. Beyond the end it reads zeros and sets over.
type bitReader struct {
	data []byte
	pos  int // in bits
	over bool
}

func (r *bitReader) left() int { return 8*len(r.data) - r.pos }

func (r *bitReader) take(width uint8) (v uint32) {
	if int(width) > r.left() {
		r.over = true
		return 0
	}
	for width > 0 {
		free := uint8(8 - r.pos%8)
		n := min(width, free)
		width -= n
		v = v<<n | uint32(r.data[r.pos/8])>>(free-n)&(1<<n-1)
		r.pos += int(n)
	}
	return v
}

// rice reads a Rice code.
func (r *bitReader) rice(low uint8) uint32 {
	ones := uint32(0)
	for {
		if r.left() == 0 {
			r.over = true
			return 0
		}
		ahead := r.data[r.pos/8] << (r.pos % 8)
		n := min(bits.LeadingZeros8(^ahead), 8-r.pos%8)
		r.pos += n
		ones += uint32(n)
		if r.pos%8 != 0 || n == 0 {
			break
		}
	}
	r.pos++ // skip the zero
	if ones > maxLines>>low {
		r.over = true
		return 0
	}
	return ones<<low | r.take(low)
}
