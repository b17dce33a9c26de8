package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Buffer decodes fields in order. It keeps the first fault: after that, no bytes are left and
// every field is zero. So callers check Err once, at the latest before they use what they have
// read.
//
// The parameter what of a method is the name of the field, for the message of a fault. The position
// of a fault is the start of the field.
type Buffer struct {
	Data []byte
	Pos  int    // of the next field in Data, its end after a fault
	Big  bool   // the byte order is big-endian
	Part string // name of the part of the file, if its format names parts
	Err  *Fault // the first fault
}

// Fail records a fault at position pos of the bytes, unless an earlier fault was recorded. class is
// the error that the fault matches.
func (b *Buffer) Fail(pos int, class error, format string, args ...any) {
	b.record(Fault{Part: b.Part, Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)})
}

// Stop records an error that is not a fault in the bytes. It does nothing if err is nil or if there
// is an earlier fault.
func (b *Buffer) Stop(err error) {
	if err != nil {
		b.record(Fault{Other: err})
	}
}

func (b *Buffer) record(f Fault) {
	if b.Err == nil {
		b.Err = &f
	}
	b.Pos = len(b.Data)
}

// Error returns the first fault of decoding as an error, to which the function place converts it.
// If decoding was ended by Stop, it returns the error that was given to Stop. It returns nil if
// there was neither.
func (b *Buffer) Error(place func(*Fault) error) error {
	switch {
	case b.Err == nil:
		return nil
	case b.Err.Other != nil:
		return b.Err.Other
	}
	return place(b.Err)
}

// Rest returns the number of bytes that have not been decoded.
func (b *Buffer) Rest() int { return len(b.Data) - b.Pos }

// Has reports whether n bytes are left. If not, it records a fault; what is the name of the field
// for the fault's message.
func (b *Buffer) Has(n uint64, what string) bool {
	if n > uint64(b.Rest()) {
		b.truncated(n, what)
	}
	return b.Err == nil
}

// Take returns the next n bytes without copying them, or nil after a fault.
func (b *Buffer) Take(n uint64, what string) []byte {
	if !b.Has(n, what) {
		return nil
	}
	b.Pos += int(n)
	return b.Data[b.Pos-int(n) : b.Pos : b.Pos]
}

func (b *Buffer) truncated(n uint64, what string) {
	b.Fail(b.Pos, fault.ErrTruncated, "%s takes %d bytes, %d are left", what, n, b.Rest())
}

// Uint8 decodes an unsigned integer of one byte.
func (b *Buffer) Uint8(what string) uint8 {
	if b.Pos == len(b.Data) {
		b.truncated(1, what)
		return 0
	}
	b.Pos++
	return b.Data[b.Pos-1]
}

// Uint16 decodes an unsigned integer of two bytes.
func (b *Buffer) Uint16(what string) uint16 {
	if b.Rest() < 2 {
		b.truncated(2, what)
		return 0
	}
	v := binary.LittleEndian.Uint16(b.Data[b.Pos:])
	b.Pos += 2
	if b.Big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// Uint24 decodes an unsigned integer of three bytes.
func (b *Buffer) Uint24(what string) uint32 {
	p := b.Take(3, what)
	switch {
	case p == nil:
		return 0
	case b.Big:
		return uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	}
	return uint32(p[2])<<16 | uint32(p[1])<<8 | uint32(p[0])
}

// Uint32 decodes an unsigned integer of four bytes.
func (b *Buffer) Uint32(what string) uint32 {
	if b.Rest() < 4 {
		b.truncated(4, what)
		return 0
	}
	v := binary.LittleEndian.Uint32(b.Data[b.Pos:])
	b.Pos += 4
	if b.Big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// Uint64 decodes an unsigned integer of eight bytes.
func (b *Buffer) Uint64(what string) uint64 {
	if b.Rest() < 8 {
		b.truncated(8, what)
		return 0
	}
	v := binary.LittleEndian.Uint64(b.Data[b.Pos:])
	b.Pos += 8
	if b.Big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// ULEB decodes an unsigned LEB128. It may have more bytes than it needs, but not more than 64 bits.
func (b *Buffer) ULEB() uint64 {
	p := b.Pos
	if p >= len(b.Data) || b.Data[p] >= 0x80 {
		return b.longULEB()
	}
	b.Pos++
	return uint64(b.Data[p])
}

func (b *Buffer) longULEB() (v uint64) {
	for i, c := range b.Data[b.Pos:] {
		low := uint64(c & 0x7f)
		if low<<(7*i)>>(7*i) != low {
			b.Fail(b.Pos, fault.ErrVarint, "a LEB128 of more than 64 bits")
			return 0
		}
		v |= low << (7 * i)
		if c < 0x80 {
			b.Pos += i + 1
			return v
		}
	}
	b.unended("a LEB128")
	return 0
}

// SLEB decodes a signed LEB128. Its bits above the 64th only repeat the sign.
func (b *Buffer) SLEB() (v int64) {
	for i, c := range b.Data[b.Pos:] {
		shift, low := 7*i, int64(c&0x7f)
		if shift >= 63 && low != 0 && low != 0x7f {
			b.Fail(b.Pos, fault.ErrVarint, "a LEB128 of more than 64 bits")
			return 0
		}
		v |= low << shift
		if c < 0x80 {
			b.Pos += i + 1
			if shift += 7; c&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
	b.unended("a LEB128")
	return 0
}

func (b *Buffer) unended(what string) {
	b.Fail(b.Pos, fault.ErrTruncated, "%s does not end within the %d bytes left", what, b.Rest())
}

// SkipLEB skips the bytes of a LEB128 number, which may be signed or unsigned.
func (b *Buffer) SkipLEB() {
	for i, c := range b.Data[b.Pos:] {
		if c < 0x80 {
			b.Pos += i + 1
			return
		}
	}
	b.unended("a LEB128")
}

// Count checks a number of items, read at pos: the remaining bytes must have room for n items of at
// least size bytes each. No count from a file may size an allocation or a loop before it has passed
// this check.
func (b *Buffer) Count(pos int, n uint64, size int, what string) int {
	if n > uint64(b.Rest()/size) {
		b.Fail(pos, fault.ErrCount, "%d %s, the %d bytes left hold at most %d", n, what, b.Rest(), b.Rest()/size)
	}
	if b.Err != nil {
		return 0
	}
	return int(n)
}

// String decodes a string that ends in NUL, and returns its bytes without the NUL and without
// copying them.
func (b *Buffer) String(what string) []byte {
	n := bytes.IndexByte(b.Data[b.Pos:], 0)
	if n < 0 {
		b.unended(what)
		return nil
	}
	b.Pos += n + 1
	return b.Data[b.Pos-n-1 : b.Pos-1 : b.Pos-1]
}

// A Fault describes a fault in some bytes. It is not an error: the caller, which knows the file
// that the bytes come from, converts it to an error.
type Fault struct {
	Part   string // name of the part that was being read, if the format has such names
	Pos    int    // of the faulty byte
	Class  error  // such as fault.ErrTruncated
	Detail string
	Other  error // if set, an error that is not about these bytes; the other fields are unused
}

// Reworded returns an error with the given text that matches class under errors.Is.
func Reworded(class error, text string) error { return &reworded{class, text} }

type reworded struct {
	class error
	text  string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.class }
