package symbolize

import (
	"bytes"
	"encoding/binary"

	"github.com/go-afdo/afdo"
)

// A cursor decodes bytes of a section. Its first error sticks: from then on
// every value is 0 and nothing is left to read.
type cursor struct {
	data  []byte
	pos   int
	base  uint64 // of data[0] in the section
	order binary.ByteOrder
	sect  *section
	short bool // the error is that the data ended
	err   error
}

// offset returns the position in the section.
func (c *cursor) offset() uint64 { return c.base + uint64(c.pos) }

func (c *cursor) fail(class error, format string, args ...any) {
	if c.err == nil {
		c.err = c.sect.fault(c.offset(), class, format, args...)
	}
	c.pos = len(c.data)
}

func (c *cursor) truncated(n uint64) {
	if c.err == nil {
		c.short = true
		c.fail(afdo.ErrTruncated, "want %d bytes, %d are left", n, len(c.data)-c.pos)
	}
}

// bytes returns the next n bytes, which are not copied.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)-c.pos) {
		c.truncated(n)
		return nil
	}
	p := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return p
}

func (c *cursor) skip(n uint64) { c.bytes(n) }

func (c *cursor) u8() uint8 {
	if c.pos < len(c.data) {
		c.pos++
		return c.data[c.pos-1]
	}
	c.truncated(1)
	return 0
}

func (c *cursor) u16() uint16 {
	if p := c.bytes(2); p != nil {
		return c.order.Uint16(p)
	}
	return 0
}

func (c *cursor) u24() uint32 {
	p := c.bytes(3)
	switch {
	case p == nil:
		return 0
	case c.order == binary.BigEndian:
		return uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	}
	return uint32(p[2])<<16 | uint32(p[1])<<8 | uint32(p[0])
}

func (c *cursor) u32() uint32 {
	if p := c.bytes(4); p != nil {
		return c.order.Uint32(p)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if p := c.bytes(8); p != nil {
		return c.order.Uint64(p)
	}
	return 0
}

// uint returns an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.fail(ErrForm, "a number of %d bytes", size)
	return 0
}

// uleb returns an unsigned LEB128. One that does not fit 64 bits is refused.
func (c *cursor) uleb() uint64 {
	if c.pos < len(c.data) && c.data[c.pos] < 0x80 {
		c.pos++
		return uint64(c.data[c.pos-1])
	}
	return c.longULEB()
}

func (c *cursor) longULEB() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if c.err != nil {
			return 0
		}
		bits := uint64(b & 0x7f)
		if shift >= 64 && bits != 0 || shift < 64 && bits<<shift>>shift != bits {
			c.fail(afdo.ErrVarint, "an unsigned LEB128 of more than 64 bits")
			return 0
		}
		if shift < 64 {
			v |= bits << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// sleb returns a signed LEB128; bits above the 64th are dropped if they only repeat the sign.
func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if c.err != nil {
			return 0
		}
		bits := int64(b & 0x7f)
		switch {
		case shift < 63:
			v |= bits << shift
		case bits != 0 && bits != 0x7f:
			c.fail(afdo.ErrVarint, "a signed LEB128 of more than 64 bits")
			return 0
		case shift == 63:
			v |= bits << shift
		}
		if b < 0x80 {
			if shift += 7; shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// skipLEB skips a LEB128 of either kind.
func (c *cursor) skipLEB() {
	for c.u8() >= 0x80 {
	}
}

// str returns the next NUL-terminated string, which is not copied.
func (c *cursor) str() []byte {
	n := bytes.IndexByte(c.data[c.pos:], 0)
	if n < 0 {
		c.truncated(uint64(len(c.data)-c.pos) + 1)
		return nil
	}
	s := c.data[c.pos : c.pos+n]
	c.pos += n + 1
	return s
}

// initialLength returns the length of a unit or table, and whether its offsets have 64 bits.
func (c *cursor) initialLength() (n uint64, wide bool) {
	n = uint64(c.u32())
	switch {
	case n == 0xffffffff:
		return c.u64(), true
	case n >= 0xfffffff0:
		c.fail(ErrForm, "a length of %#x, which is reserved", n)
		return 0, false
	}
	return n, false
}

// word returns an offset of 4 or 8 bytes.
func (c *cursor) word(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

// fault returns the error about a place of a section.
func (s *section) fault(off uint64, class error, format string, args ...any) error {
	return fault(s.file, s.name, int64(off), class, format, args...)
}
