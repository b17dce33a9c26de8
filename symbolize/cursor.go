package symbolize

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A cursor decodes a part of a section.
type cursor struct {
	decode.Buffer
	base uint64 // offset of the first byte in the section
	sect *section
}

// aField is the name of fields in error messages.
const aField = "a field"

// newCursor returns a cursor for data, which begins at offset base of the section.
func newCursor(data []byte, base uint64, s *section) *cursor {
	return &cursor{decode.Buffer{Data: data, Big: s.object.order == binary.BigEndian}, base, s}
}

// offset returns the current offset in the section.
func (c *cursor) offset() uint64 { return c.base + uint64(c.Pos) }

// fail records an error at the current position.
func (c *cursor) fail(class error, format string, args ...any) { c.Fail(c.Pos, class, format, args...) }

// short reports whether the first error is the end of the data.
func (c *cursor) short() bool { return c.Err != nil && c.Err.Class == fault.ErrTruncated }

// err returns the first error.
func (c *cursor) err() error {
	return c.Error(func(f *decode.Fault) error {
		return c.sect.faultAt(c.base+uint64(f.Pos), f.Class, "%s", f.Detail)
	})
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.Uint8(aField))
	case 2:
		return uint64(c.Uint16(aField))
	case 4:
		return uint64(c.Uint32(aField))
	case 8:
		return c.Uint64(aField)
	}
	c.fail(ErrForm, "a number of %d bytes", size)
	return 0
}

// initialLength reads the length of a unit or table. wide reports whether its offsets have 64 bits.
func (c *cursor) initialLength() (n uint64, wide bool) {
	n = uint64(c.Uint32(aField))
	switch {
	case n == 0xffffffff:
		return c.Uint64(aField), true
	case n >= 0xfffffff0:
		c.fail(ErrForm, "a length of %#x, which is reserved", n)
		return 0, false
	}
	return n, false
}

// word reads an offset of 4 or 8 bytes.
func (c *cursor) word(wide bool) uint64 {
	if wide {
		return c.Uint64(aField)
	}
	return uint64(c.Uint32(aField))
}

// faultAt returns an error about an offset of the section.
func (s *section) faultAt(off uint64, class error, format string, args ...any) error {
	return faultAt(s.file, s.name, int64(off), class, format, args...)
}
