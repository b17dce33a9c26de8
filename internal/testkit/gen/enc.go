// Package gen generates version 4 files for tests: random legal files of every shape with their
// meaning ([Random]), given files ([Encode], [Lay]), large and hostile files ([Big], [Nested],
// [TrieChain], [HugeNames]), and parts for creating malformed files by hand ([Enc], [Layout]). It
// has its own encoder, written from the RFC. It imports only package naive, whose types describe
// the meaning of a file.
package gen

// An Enc appends the fields of the header or of a section to Buf (RFC 4.9). In compact mode,
// integers of more than one byte are varints.
type Enc struct {
	Buf     []byte
	Compact bool

	// Stretch, if not nil, returns the minimum length of the next varint, up to ten bytes. Overlong
	// varints are legal to read (format note 5).
	Stretch func() int
}

// U8 appends a one-byte field, which is the same in both modes.
func (e *Enc) U8(v uint8) { e.Buf = append(e.Buf, v) }

// U16 appends a field of two bytes.
func (e *Enc) U16(v uint16) { e.uint(uint64(v), 2) }

// U24 appends a field of three bytes. It panics in normal mode if v needs more.
func (e *Enc) U24(v uint32) { e.uint(uint64(v), 3) }

// U32 appends a field of four bytes.
func (e *Enc) U32(v uint32) { e.uint(uint64(v), 4) }

// U56 appends a field of seven bytes. It panics in normal mode if v needs more.
func (e *Enc) U56(v uint64) { e.uint(v, 7) }

// U64 appends a field of eight bytes.
func (e *Enc) U64(v uint64) { e.uint(v, 8) }

// Bytes appends bytes unchanged.
func (e *Enc) Bytes(b []byte) { e.Buf = append(e.Buf, b...) }

// String appends bytes unchanged.
func (e *Enc) String(s string) { e.Buf = append(e.Buf, s...) }

// Varint appends a varint of at least n bytes in either mode, regardless of the field's width. A
// varint of more than ten bytes is malformed.
func (e *Enc) Varint(v uint64, n int) {
	for i := 1; v >= 0x80 || i < n; i++ {
		e.Buf = append(e.Buf, byte(v)|0x80)
		v >>= 7
	}
	e.Buf = append(e.Buf, byte(v))
}

func (e *Enc) uint(v uint64, width int) {
	if e.Compact {
		n := 0
		if e.Stretch != nil {
			n = min(e.Stretch(), 10)
		}
		e.Varint(v, n)
		return
	}
	if width < 8 && v>>(8*width) != 0 {
		panic("gen: value does not fit its field")
	}
	for i := width - 1; i >= 0; i-- {
		e.Buf = append(e.Buf, byte(v>>(8*i)))
	}
}
