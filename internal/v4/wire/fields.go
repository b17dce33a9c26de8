package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
)

// There are two integer encodings (RFC 4, 4.9): big-endian with a fixed width, and varint. A varint
// must fit the width of its field in normal mode (format note 5), so each compact file has an exact
// equivalent in normal mode.

// Fields decodes the fields of a section, or of the header, in order. It keeps the first error;
// afterwards every field reads as zero. So callers check Err once where it matters, at the latest
// before they use a count.
type Fields struct {
	Data    []byte // the section including its bitmask; empty after an error
	Pos     int    // position in Data of the next field
	Compact bool
	Err     *Fault
}

// Fail records an error at pos, unless there is one already.
func (f *Fields) Fail(pos int, class error, format string, args ...any) {
	if f.Err != nil {
		return
	}
	f.Err = &Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)}
	f.Data, f.Pos = f.Data[:0], 0
}

// Rest returns the number of bytes left.
func (f *Fields) Rest() int { return len(f.Data) - f.Pos }

// Byte decodes a one-byte field, which is the same in both modes.
func (f *Fields) Byte() byte {
	if f.Pos >= len(f.Data) {
		f.Fail(f.Pos, fault.ErrTruncated, "a one-byte field is missing")
		return 0
	}
	f.Pos++
	return f.Data[f.Pos-1]
}

// Take returns the next n bytes.
func (f *Fields) Take(n int, what string) []byte {
	if n > f.Rest() {
		f.Fail(f.Pos, fault.ErrTruncated, "%s of %d bytes, %d left", what, n, f.Rest())
		return nil
	}
	f.Pos += n
	return f.Data[f.Pos-n : f.Pos]
}

// Uint16, Uint24, Uint32 and Uint64 decode fields of two, three, four and eight bytes in normal
// mode.
func (f *Fields) Uint16() uint16 { return uint16(f.Uint(2)) }
func (f *Fields) Uint24() uint32 { return uint32(f.Uint(3)) }
func (f *Fields) Uint32() uint32 { return uint32(f.Uint(4)) }
func (f *Fields) Uint64() uint64 { return f.Uint(8) }

// Uint decodes a field that takes width bytes in normal mode.
func (f *Fields) Uint(width int) uint64 {
	if f.Compact {
		if f.Pos < len(f.Data) && f.Data[f.Pos] < 0x80 {
			f.Pos++
			return uint64(f.Data[f.Pos-1])
		}
		return f.varint(width)
	}
	if f.Rest() < width {
		f.Fail(f.Pos, fault.ErrTruncated, "a %d-byte field, %d left", width, f.Rest())
		return 0
	}
	var v uint64
	switch p := f.Data[f.Pos:]; width {
	case 2:
		v = uint64(binary.BigEndian.Uint16(p))
	case 4:
		v = uint64(binary.BigEndian.Uint32(p))
	case 8:
		v = binary.BigEndian.Uint64(p)
	default:
		for _, b := range p[:width] {
			v = v<<8 | uint64(b)
		}
	}
	f.Pos += width
	return v
}

func (f *Fields) varint(width int) uint64 {
	v, n := Varint(f.Data[f.Pos:])
	if n <= 0 || v > math.MaxUint64>>(64-8*width) {
		detail, class := varintFault(f.Data[f.Pos:], width)
		f.Fail(f.Pos, class, "%s", detail)
		return 0
	}
	f.Pos += n
	return v
}

// varintFault describes the error in the varint at the start of p, in a field of the given width.
func varintFault(p []byte, width int) (detail string, class error) {
	if _, n := binary.Uvarint(p); n == 0 {
		return fmt.Sprintf("a varint does not end within the %d bytes left", len(p)), fault.ErrTruncated
	}
	return fmt.Sprintf("a varint does not fit a %d-byte field", width), fault.ErrVarint
}

// Count checks a count that has just been read. Each item takes at least normal bytes in normal
// mode and compact bytes in compact mode, and all items must fit into the rest of the data. Every
// allocation and loop is bounded by a count checked here.
func (f *Fields) Count(n uint64, normal, compact int, what string) int {
	least := normal
	if f.Compact {
		least = compact
	}
	if f.Err == nil && n > uint64(f.Rest()/least) {
		f.Fail(f.Pos, fault.ErrCount, "%d %s, the %d bytes left hold at most %d", n, what, f.Rest(), f.Rest()/least)
	}
	if f.Err != nil || n > math.MaxInt {
		return 0
	}
	return int(n)
}

// An Encoder appends the fields of a section or of the header. Callers make sure that values fit
// their fields.
type Encoder struct {
	Data    []byte
	Compact bool
}

// Byte encodes a one-byte field, which is the same in both modes.
func (e *Encoder) Byte(v byte) { e.Data = append(e.Data, v) }

// Bytes and String append their argument unchanged.
func (e *Encoder) Bytes(p []byte)  { e.Data = append(e.Data, p...) }
func (e *Encoder) String(s string) { e.Data = append(e.Data, s...) }

// Uint16, Uint24, Uint32 and Uint64 encode fields of two, three, four and eight bytes in normal
// mode.
func (e *Encoder) Uint16(v uint16) { e.Uint(2, uint64(v)) }
func (e *Encoder) Uint24(v uint32) { e.Uint(3, uint64(v)) }
func (e *Encoder) Uint32(v uint32) { e.Uint(4, uint64(v)) }
func (e *Encoder) Uint64(v uint64) { e.Uint(8, v) }

// Uint encodes a field that takes width bytes in normal mode.
func (e *Encoder) Uint(width int, v uint64) {
	if e.Compact {
		e.Data = binary.AppendUvarint(e.Data, v)
		return
	}
	for shift := 8 * (width - 1); shift >= 0; shift -= 8 {
		e.Data = append(e.Data, byte(v>>shift))
	}
}
