package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// MaxVarintLen is the maximum length of a varint in bytes. Overlong varints up to this length are
// accepted.
const MaxVarintLen = 10

// VarintFlags are the bits of eight bytes that are set if a varint continues after the byte.
const VarintFlags = 0x8080808080808080

// Varint decodes the varint at the start of p. It returns its length n, which is 0 if p ends before
// the varint does, and negative if the value exceeds 64 bits.
func Varint(p []byte) (v uint64, n int) {
	if len(p) >= 8 {
		w := binary.LittleEndian.Uint64(p)
		// The lowest clear continuation flag ends the varint.
		if ends := ^w & VarintFlags; ends != 0 {
			n = bits.TrailingZeros64(ends)/8 + 1
			return Gather7(w & (math.MaxUint64 >> (64 - 8*n))), n
		}
	}
	return binary.Uvarint(p)
}

// shortVarint decodes the varint at the start of p, which must have at least eight bytes. It
// returns its length n, which is 0 if the varint is longer than five bytes or exceeds 32 bits.
func shortVarint(p []byte) (v uint32, n int) {
	w := binary.LittleEndian.Uint64(p)
	ends := ^w & (VarintFlags & 0xffffffffff)
	if ends == 0 {
		return 0, 0
	}
	w &= ends ^ (ends - 1)
	w = w&0x7f | w>>1&0x3f80 | w>>2&0x1fc000 | w>>3&0xfe00000 | w>>4&0x7f0000000
	if w > math.MaxUint32 {
		return 0, 0
	}
	return uint32(w), bits.TrailingZeros64(ends)/8 + 1
}

// VarintLen returns the length of the shortest varint for a value.
func VarintLen[T ~uint32 | ~uint64](v T) int { return (bits.Len64(uint64(v)|1) + 6) / 7 }

// Spread7 is the inverse of Gather7 for a number of at most 56 bits.
func Spread7(v uint64) uint64 {
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	return v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
}

// Gather7 joins the low seven bits of each byte of w, least significant byte first.
func Gather7(w uint64) uint64 {
	w &= 0x7f7f7f7f7f7f7f7f
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}

// SkipVarints returns the length of the first n varints in p, or -1 if p has fewer. It finds the
// last bytes of varints, eight at a time, and does not decode values.
func SkipVarints(p []byte, n uint64) int {
	i := 0
	for ; n > 0 && len(p)-i >= 8; i += 8 {
		ends := ^binary.LittleEndian.Uint64(p[i:]) & VarintFlags
		if in := uint64(bits.OnesCount64(ends)); in < n {
			n -= in
			continue
		}
		for ; n > 1; n-- {
			ends &= ends - 1
		}
		return i + bits.TrailingZeros64(ends)/8 + 1
	}
	for ; n > 0; i++ {
		if i >= len(p) {
			return -1
		}
		if p[i] < 0x80 {
			n--
		}
	}
	return i
}
