package samples

import (
	"encoding/binary"
	"iter"

	"github.com/go-afdo/afdo"
)

// Wire types of protocol buffers.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// A field is a field of a message.
type field struct {
	number int
	value  uint64 // of numbers
	bytes  []byte // of strings, messages and packed numbers; nil for numbers
	offset int64  // of bytes, or of the field if it is a number
}

// fields yields the fields of a message that stands at an offset of the data.
func fields(message []byte, at int64) iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		for rest := message; len(rest) > 0; {
			f, n, err := readField(rest, at)
			if !yield(f, err) || err != nil {
				return
			}
			rest, at = rest[n:], at+int64(n)
		}
	}
}

// readField reads the first field of what is left of a message, and returns its length.
func readField(b []byte, at int64) (field, int, error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return field{}, 0, pprofFault(at, afdo.ErrSyntax, "the tag of a field is due")
	}
	f := field{number: int(tag >> 3 & 0x1fffffff), offset: at}
	rest := b[n:]
	switch tag & 7 {
	case wireVarint:
		v, m := binary.Uvarint(rest)
		if m <= 0 {
			return f, 0, pprofFault(at+int64(n), afdo.ErrSyntax, "a number is due")
		}
		f.value = v
		return f, n + m, nil
	case wireBytes:
		size, m := binary.Uvarint(rest)
		if m <= 0 || size > uint64(len(rest)-m) {
			return f, 0, pprofFault(at+int64(n), afdo.ErrTruncated, "a field of %d bytes, where %d are left", size, len(rest)-max(m, 0))
		}
		f.bytes = rest[m:][:size:size]
		f.offset = at + int64(n+m)
		return f, n + m + int(size), nil
	case wire64, wire32:
		size := 8
		if tag&7 == wire32 {
			size = 4
		}
		if len(rest) < size {
			return f, 0, pprofFault(at+int64(n), afdo.ErrTruncated, "a number of %d bytes, where %d are left", size, len(rest))
		}
		return f, n + size, nil
	}
	return f, 0, pprofFault(at, afdo.ErrSyntax, "a field of unknown wire type %d", tag&7)
}

// numbers yields the numbers of a repeated field: one, or several that are packed.
func (f field) numbers() iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if f.bytes == nil {
			yield(f.value, nil)
			return
		}
		for at := 0; at < len(f.bytes); {
			v, n := binary.Uvarint(f.bytes[at:])
			if n <= 0 {
				yield(0, pprofFault(f.offset+int64(at), afdo.ErrSyntax, "a number is due"))
				return
			}
			if !yield(v, nil) {
				return
			}
			at += n
		}
	}
}

func pprofFault(offset int64, class error, format string, args ...any) error {
	return fault(Pprof.String(), offset, class, format, args...)
}
