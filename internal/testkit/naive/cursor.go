package naive

import "fmt"

// A cursor reads the fields of the header or of a section. If a field cannot be read, it panics
// with an *Error, which catch converts to a returned error.
type cursor struct {
	data    []byte // the whole file
	pos     int
	end     int
	section int
	compact bool
}

func (c *cursor) fail(format string, args ...any) {
	panic(&Error{Kind: ErrMalformed, Section: c.section, Offset: int64(c.pos), Text: fmt.Sprintf(format, args...)})
}

func (c *cursor) limit(format string, args ...any) {
	panic(&Error{Kind: ErrLimit, Section: c.section, Offset: int64(c.pos), Text: fmt.Sprintf(format, args...)})
}

// catch is deferred by the exported functions of the package.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

// bytes returns the next n bytes.
func (c *cursor) bytes(n uint64) []byte {
	if left := uint64(c.end - c.pos); n > left {
		c.fail("%d bytes wanted, %d left", n, left)
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// byte reads a one-byte field, which is the same in both modes.
func (c *cursor) byte() uint8 { return c.bytes(1)[0] }

func (c *cursor) uint16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) uint24() uint32 { return uint32(c.uint(3)) }
func (c *cursor) uint32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) uint64() uint64 { return c.uint(8) }

// uint reads an integer that takes width bytes in normal mode.
func (c *cursor) uint(width int) uint64 {
	if c.compact {
		return c.varint(width)
	}
	var v uint64
	for _, b := range c.bytes(uint64(width)) {
		v = v<<8 | uint64(b)
	}
	return v
}

// varint reads a varint of at most ten bytes whose value must fit in width bytes (format note 5).
func (c *cursor) varint(width int) uint64 {
	var v uint64
	for i := range 10 {
		b := c.byte()
		if i == 9 && b > 1 {
			c.fail("varint is longer than ten bytes or 64 bits")
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			break
		}
	}
	if width < 8 && v>>(8*width) != 0 {
		c.fail("varint %d does not fit %d bytes", v, width)
	}
	return v
}
