package afdo

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// The two integer encodings (RFC 4, 4.9): big-endian of a fixed width, or
// varint. A varint must fit the width its field has in normal mode (format
// note 5), so each compact file has an exact normal twin.

// maxVarintLen is the most bytes a varint may take; over-long ones are accepted up to it.
const maxVarintLen = 10

// maxUint24 is the largest value of a 3-byte field.
const maxUint24 = 1<<24 - 1

// fields reads the fields of one section, or of the header, in order. The
// first error sticks: from then on every field reads as zero, so callers
// check err once where it matters, at the latest before they use a count.
type fields struct {
	sec  Section // where data comes from, for errors and the encoding
	data []byte  // the bytes of the section, its bitmask included
	pos  int     // of the next field in data
	err  error
}

// fail records a fault found at pos.
func (f *fields) fail(pos int, class error, format string, args ...any) {
	if f.err != nil {
		return
	}
	f.err = f.sec.errorAt(pos, class, format, args...)
	f.data, f.pos = f.data[:0], 0
}

// rest is the number of bytes left.
func (f *fields) rest() int { return len(f.data) - f.pos }

func (f *fields) byte() byte {
	if f.pos >= len(f.data) {
		f.fail(f.pos, ErrTruncated, "a one-byte field is missing")
		return 0
	}
	f.pos++
	return f.data[f.pos-1]
}

// take returns the next n bytes.
func (f *fields) take(n int, what string) []byte {
	if n > f.rest() {
		f.fail(f.pos, ErrTruncated, "%s of %d bytes, %d left", what, n, f.rest())
		return nil
	}
	f.pos += n
	return f.data[f.pos-n : f.pos]
}

func (f *fields) uint16() uint16 { return uint16(f.uint(2)) }
func (f *fields) uint24() uint32 { return uint32(f.uint(3)) }
func (f *fields) uint32() uint32 { return uint32(f.uint(4)) }
func (f *fields) uint64() uint64 { return f.uint(8) }

// uint reads a field that is width bytes wide in normal mode.
func (f *fields) uint(width int) uint64 {
	if f.sec.Compact {
		if f.pos < len(f.data) && f.data[f.pos] < 0x80 {
			f.pos++
			return uint64(f.data[f.pos-1])
		}
		return f.varint(width)
	}
	if f.rest() < width {
		f.fail(f.pos, ErrTruncated, "a %d-byte field, %d left", width, f.rest())
		return 0
	}
	var v uint64
	switch p := f.data[f.pos:]; width {
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
	f.pos += width
	return v
}

func (f *fields) varint(width int) uint64 {
	v, n := varint(f.data[f.pos:])
	if n <= 0 || v > math.MaxUint64>>(64-8*width) {
		detail, class := varintFault(f.data[f.pos:], width)
		f.fail(f.pos, class, "%s", detail)
		return 0
	}
	f.pos += n
	return v
}

// varint decodes the varint at the start of p and its length; n is 0 if p ends
// before the varint does and negative if it does not fit 64 bits.
func varint(p []byte) (v uint64, n int) {
	if len(p) >= 8 {
		w := binary.LittleEndian.Uint64(p)
		// The lowest clear continuation flag ends the varint.
		if ends := ^w & varintFlags; ends != 0 {
			n = bits.TrailingZeros64(ends)/8 + 1
			return gather7(w & (math.MaxUint64 >> (64 - 8*n))), n
		}
	}
	return binary.Uvarint(p)
}

// varintFlags are the bits that tell whether a varint goes on behind a byte.
const varintFlags = 0x8080808080808080

// spread7 is what gather7 makes a number of, if it has at most 56 bits.
func spread7(v uint64) uint64 {
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	return v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
}

// gather7 joins the low seven bits of each byte of w, least significant byte first.
func gather7(w uint64) uint64 {
	w &= 0x7f7f7f7f7f7f7f7f
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}

// varintFault says what is wrong with the varint at the start of p in a field of a width.
func varintFault(p []byte, width int) (detail string, class error) {
	if _, n := binary.Uvarint(p); n == 0 {
		return fmt.Sprintf("a varint does not end within the %d bytes left", len(p)), ErrTruncated
	}
	return fmt.Sprintf("a varint does not fit a %d-byte field", width), ErrVarint
}

// skipVarints returns the length of the first n varints of p, or -1 if p holds
// fewer. It finds the bytes that end a varint, eight at a time, and does not
// look at values.
func skipVarints(p []byte, n uint64) int {
	i := 0
	for ; n > 0 && len(p)-i >= 8; i += 8 {
		ends := ^binary.LittleEndian.Uint64(p[i:]) & varintFlags
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

// appendUint appends a field that is width bytes wide in normal mode. The value fits.
func appendUint(dst []byte, compact bool, width int, v uint64) []byte {
	if compact {
		return binary.AppendUvarint(dst, v)
	}
	for shift := 8 * (width - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(v>>shift))
	}
	return dst
}
