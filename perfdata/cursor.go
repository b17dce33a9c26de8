package perfdata

import "github.com/go-afdo/afdo/internal/decode"

// A cursor reads the fields of a record. If a field exceeds the record, the cursor keeps the error;
// callers report it for the whole record.
type cursor struct{ decode.Buffer }

func newCursor(data []byte, big bool) cursor { return cursor{decode.Buffer{Data: data, Big: big}} }

// left returns the bytes that have not been read.
func (c *cursor) left() []byte { return c.Data[c.Pos:] }

// field is the name of every field in error messages.
const field = "a field"

// flags reads a 64-bit word of bit fields. widths lists the widths of the fields in use, starting
// with the first field. A big-endian machine stores the first field in the highest bits. If bits
// are set in a word that a big-endian machine would leave unused, then a tool converted a
// little-endian file without moving the fields, and flags returns the word as it is.
func (c *cursor) flags(widths []uint8) uint64 {
	v := c.Uint64(field)
	if !c.Big {
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
