package perfdata

import (
	"encoding/binary"
	"math/bits"
)

// A cursor reads the fields of a record. Reading past the end gives zeros and sets short.
type cursor struct {
	b     []byte // what is not read yet
	big   bool   // byte order
	short bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.b, c.short = nil, true
		return nil
	}
	taken := c.b[:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) u16() uint16 {
	b := c.take(2)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (c *cursor) u32() uint32 {
	b := c.take(4)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (c *cursor) u64() uint64 {
	if len(c.b) < 8 {
		c.b, c.short = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	if c.big {
		return bits.ReverseBytes64(v)
	}
	return v
}

// flags reads a word of bit fields, of which widths lists the used ones from the first on. A
// big-endian machine puts the first field at the top. A word that has bits where that machine would
// leave them unused comes from a tool that turned a little-endian file around.
func (c *cursor) flags(widths []uint8) uint64 {
	v := c.u64()
	if !c.big {
		return v
	}
	used := uint8(0)
	for _, w := range widths {
		used += w
	}
	if v&(1<<(64-used)-1) != 0 {
		return v
	}
	turned, from, to := uint64(0), uint8(64), uint8(0)
	for _, w := range widths {
		from -= w
		turned |= v >> from & (1<<w - 1) << to
		to += w
	}
	return turned
}
