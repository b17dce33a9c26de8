package afdo

import "github.com/go-afdo/afdo/internal/v4/wire"

// This file decodes several varints of a record at once. Package wire decodes them one by one, and
// refuses those that are too long.

// lowBits returns a word whose lowest n bits are set. n must be below 64.
func lowBits(n uint32) uint64 { return 1<<(n&63) - 1 }

// varint28 decodes a varint of at most four bytes. w must hold nothing else.
func varint28(w uint64) uint32 {
	return uint32(w&0x7f | w>>1&0x3f80 | w>>2&0x1fc000 | w>>3&0xfe00000)
}

// varint14 decodes a varint of at most two bytes. w must hold nothing else.
func varint14(w uint64) uint32 { return uint32(w&0x7f | w>>1&0x3f80) }

// endsOf returns where the first varints in the low seven bytes of w end. The result is packed like
// all entries of varintEnds.
func endsOf(w uint64) uint32 {
	return varintEnds[(^w&(wire.VarintFlags>>8))*0x0002040810204081>>56&0x7f]
}

// varintEnds maps the set of bytes that end a varint, among the seven bytes after a bitmask, to the
// ends of the first four varints. Each end takes one byte, the first in the lowest byte, and counts
// bits after the bitmask. An end above 56 means that the varint does not end within the seven
// bytes.
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
