package samples

import (
	"encoding/binary"
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
)

// Wire types of protocol buffers.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// A field is a field of a protocol buffers message. A whole message is also represented as a field.
type field struct {
	format Format // of the data
	number int
	wire   int
	value  uint64 // of numbers of variable length
	bytes  []byte // of strings, messages and packed numbers; nil for numbers
	offset int64  // of bytes, or of the field if it is a number
}

// wholeMessage returns the field that contains a whole message, which begins at an offset of the
// input.
func wholeMessage(format Format, data []byte, offset int64) field {
	return field{format: format, wire: wireBytes, bytes: data, offset: offset}
}

// fields yields the fields of the message that f contains.
func (f field) fields() iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		for rest, at := f.bytes, f.offset; len(rest) > 0; {
			part, n, err := f.readField(rest, at)
			if !yield(part, err) || err != nil {
				return
			}
			rest, at = rest[n:], at+int64(n)
		}
	}
}

// each calls use for each field with the given number in the message that f contains.
func (f field) each(number int, use func(field) error) error {
	for part, err := range f.fields() {
		if err == nil && part.number == number {
			err = use(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scan reads the integers of the message that f contains: field 1 into the first variable, field 2
// into the second, and so on.
func (f field) scan(into ...*uint64) error {
	for part, err := range f.fields() {
		if err != nil {
			return err
		}
		if i := part.number - 1; i >= 0 && i < len(into) && part.wire == wireVarint {
			*into[i] = part.value
		}
	}
	return nil
}

// readField reads the first field in b, which begins at offset at of the input. It also returns the
// field's length in bytes.
func (f field) readField(b []byte, at int64) (field, int, error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return field{}, 0, f.faultAt(at, fault.ErrSyntax, "the tag of a field is due")
	}
	part := field{format: f.format, number: int(tag >> 3 & 0x1fffffff), wire: int(tag & 7), offset: at}
	rest := b[n:]
	switch part.wire {
	case wireVarint:
		v, m := binary.Uvarint(rest)
		if m <= 0 {
			return part, 0, f.faultAt(at+int64(n), fault.ErrSyntax, "a number is due")
		}
		part.value = v
		return part, n + m, nil
	case wireBytes:
		size, m := binary.Uvarint(rest)
		if m <= 0 || size > uint64(len(rest)-m) {
			return part, 0, f.faultAt(at+int64(n), fault.ErrTruncated, "a field of %d bytes, where %d are left", size, len(rest)-max(m, 0))
		}
		part.bytes = rest[m:][:size:size]
		part.offset = at + int64(n+m)
		return part, n + m + int(size), nil
	case wire64, wire32:
		size := part.fixedSize()
		if len(rest) < size {
			return part, 0, f.faultAt(at+int64(n), fault.ErrTruncated, "a number of %d bytes, where %d are left", size, len(rest))
		}
		return part, n + size, nil
	}
	return part, 0, f.faultAt(at, fault.ErrSyntax, "a field of unknown wire type %d", tag&7)
}

// fixedSize returns the length in bytes of a field that is a number of fixed length, 4 or 8.
func (f field) fixedSize() int {
	if f.wire == wire32 {
		return 4
	}
	return 8
}

// numFixed returns how many numbers of 8 bytes a repeated field has: one, or several if they are
// packed.
func (f field) numFixed() int {
	if f.wire == wireBytes {
		return len(f.bytes) / 8
	}
	return 1
}

// numbers yields the numbers of a repeated field: one, or several if they are packed.
func (f field) numbers() iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if f.wire != wireBytes {
			yield(f.value, nil)
			return
		}
		for at := 0; at < len(f.bytes); {
			v, n := binary.Uvarint(f.bytes[at:])
			if n <= 0 {
				yield(0, f.faultAt(f.offset+int64(at), fault.ErrSyntax, "a number is due"))
				return
			}
			if !yield(v, nil) {
				return
			}
			at += n
		}
	}
}

// maxText is the longest name that is read. No path of Linux is longer.
const maxText = 4096

// text returns the value of a string field.
func (f field) text() (string, error) {
	if len(f.bytes) > maxText {
		return "", f.faultAt(f.offset, fault.ErrLimit, "a name of %d bytes, more than %d", len(f.bytes), maxText)
	}
	return string(f.bytes), nil
}

// faultAt returns an error about the data at an offset of the recording, whose format is that of f.
func (f field) faultAt(offset int64, class error, detail string, args ...any) error {
	return faultAt(f.format.String(), offset, class, detail, args...)
}
