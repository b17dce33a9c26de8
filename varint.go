package afdo

import "github.com/go-afdo/afdo/internal/v4/wire"

// Varints several at a time, for the records of a function. Package wire decodes them one by one.

// lowBits has the lowest n bits set, of which there are fewer than 64.
func lowBits(n uint32) uint64 { return 1<<(n&63) - 1 }

// varint28 decodes a varint of at most four bytes, which is all that w holds.
func varint28(w uint64) uint32 {
	return uint32(w&0x7f | w>>1&0x3f80 | w>>2&0x1fc000 | w>>3&0xfe00000)
}

// varint14 decodes a varint of at most two bytes, which is all that w holds.
func varint14(w uint64) uint32 { return uint32(w&0x7f | w>>1&0x3f80) }

// endsOf returns an entry of varintEnds for the seven bytes of w.
func endsOf(w uint64) uint32 {
	return varintEnds[(^w&(wire.VarintFlags>>8))*0x0002040810204081>>56&0x7f]
}

// varintEnds tells, for each set of bytes that end a varint among the seven behind a bitmask, after
// how many bits the first, second, third and fourth varint end: a byte each, more than 56 for one
// that does not end there.
var varintEnds = func() (table [128]uint32) {
	for set := range table {
		ends, n := uint32(0), 0
		for i := range 7 {
			if set>>i&1 != 0 && n < 4 {
				ends |= uint32(8*(i+1)) << (8 * n)
				n++
			}
		}
		for ; n < 4; n++ {
			ends |= 64 << (8 * n)
		}
		table[set] = ends
	}
	return table
}()
