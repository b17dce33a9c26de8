package perfdata

import "github.com/go-afdo/afdo/internal/decode"

// A cursor reads the fields of a record. That one reaches past the end is told by its first fault;
// what is said of it is about the whole record.
type cursor struct{ decode.Buffer }

func newCursor(data []byte, big bool) cursor { return cursor{decode.Buffer{Data: data, Big: big}} }

// left is what is not read yet.
func (c *cursor) left() []byte { return c.Data[c.Pos:] }

// field is what the fields of records are called.
const field = "a field"

// flags reads a word of bit fields, of which widths lists the used ones from the first on. A
// big-endian machine puts the first field at the top. A word that has bits where that machine would
// leave them unused comes from a tool that turned a little-endian file around.
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
