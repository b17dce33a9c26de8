package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/go-afdo/afdo/internal/decode"
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

// MaxVarintLen is the maximum length of a varint in bytes. Overlong varints up to this length are
// accepted.
const MaxVarintLen = 10

// VarintFlags are the bits of eight bytes that are set if a varint continues after the byte.
const VarintFlags = 0x8080808080808080

// Varint decodes the varint at the start of p. It returns its length n, which is 0 if p ends before
// the varint does, and negative if the value exceeds 64 bits.
func Varint(p []byte) (v uint64, n int) {
	if len(p) >= 8 {
		w := binary.LittleEndian.Uint64(p)
		// The lowest clear continuation flag ends the varint.
		if ends := ^w & VarintFlags; ends != 0 {
			n = bits.TrailingZeros64(ends)/8 + 1
			return Gather7(w & (math.MaxUint64 >> (64 - 8*n))), n
		}
	}
	return binary.Uvarint(p)
}

// shortVarint decodes the varint at the start of p, which must have at least eight bytes. It
// returns its length n, which is 0 if the varint is longer than five bytes or exceeds 32 bits.
func shortVarint(p []byte) (v uint32, n int) {
	w := binary.LittleEndian.Uint64(p)
	ends := ^w & (VarintFlags & 0xffffffffff)
	if ends == 0 {
		return 0, 0
	}
	w &= ends ^ (ends - 1)
	w = w&0x7f | w>>1&0x3f80 | w>>2&0x1fc000 | w>>3&0xfe00000 | w>>4&0x7f0000000
	if w > math.MaxUint32 {
		return 0, 0
	}
	return uint32(w), bits.TrailingZeros64(ends)/8 + 1
}

// VarintLen returns the length of the shortest varint for a value.
func VarintLen[T ~uint32 | ~uint64](v T) int { return (bits.Len64(uint64(v)|1) + 6) / 7 }

// Spread7 is the inverse of Gather7 for a number of at most 56 bits.
func Spread7(v uint64) uint64 {
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	return v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
}

// Gather7 joins the low seven bits of each byte of w, least significant byte first.
func Gather7(w uint64) uint64 {
	w &= 0x7f7f7f7f7f7f7f7f
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}

// SkipVarints returns the length of the first n varints in p, or -1 if p has fewer. It finds the
// last bytes of varints, eight at a time, and does not decode values.
func SkipVarints(p []byte, n uint64) int {
	i := 0
	for ; n > 0 && len(p)-i >= 8; i += 8 {
		ends := ^binary.LittleEndian.Uint64(p[i:]) & VarintFlags
		if in := uint64(bits.OnesCount64(ends)); in < n {
			n -= in
			continue
		}
		for ; n > 1; n-- {
			ends &= ends - 1
		}
		return i + bits.TrailingZeros64(ends)/8 + 1
	}
	for ; n > 0; i++ {
		if i >= len(p) {
			return -1
		}
		if p[i] < 0x80 {
			n--
		}
	}
	return i
}

// A Fault describes an error in the bytes of a section. It does not implement error: the caller,
// which knows the section, converts it.
type Fault = decode.Fault
