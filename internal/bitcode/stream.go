package bitcode

import (
	"math/bits"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Abbreviation IDs that every block has. A record begins with an abbreviation ID.
const (
	idEndBlock = iota
	idEnterBlock
	idDefine
	idUnabbreviated
	idFirstOwn
)

// An encoding says how a field of a record is encoded.
type encoding uint8

const (
	encodedLiteral encoding = iota // not encoded: the value is in the abbreviation
	encodedFixed
	encodedVBR
	encodedArray
	encodedChar6
	encodedBlob
)

// An operand of an abbreviation describes one field of a record.
type operand struct {
	encoding encoding
	value    uint64 // of a literal, or the width of a field in bits
}

// An abbreviation describes the encoding of the fields of a record.
type abbreviation []operand

// A stream reads bits, beginning with the lowest bit of each byte. After the first fault, all bits
// are zero.
type stream struct {
	data  []byte
	pos   uint64 // in bits
	fault *decode.Fault
}

func (s *stream) fail(class error, detail string) {
	if s.fault == nil {
		s.fault = &decode.Fault{Pos: int(s.pos / 8), Class: class, Detail: detail}
	}
}

// left returns the number of bits of the bitcode that have not been read. After a fault it returns
// 0.
func (s *stream) left() uint64 {
	if s.fault != nil {
		return 0
	}
	return uint64(len(s.data))*8 - s.pos
}

// fixed reads a number of the given width in bits, at most 64.
func (s *stream) fixed(width uint64) (v uint64) {
	if width > s.left() {
		s.fail(fault.ErrTruncated, "the file ends in a field")
		return 0
	}
	for got := uint64(0); got < width; {
		at := s.pos % 8
		n := min(8-at, width-got)
		v |= uint64(s.data[s.pos/8]) >> at & (1<<n - 1) << got
		got, s.pos = got+n, s.pos+n
	}
	return v
}

// vbr reads a variable-width number, in chunks of width bits. The highest bit of a chunk is set if
// another chunk follows.
func (s *stream) vbr(width uint64) (v uint64) {
	more := uint64(1) << (width - 1)
	for shift := uint64(0); ; shift += width - 1 {
		chunk := s.fixed(width)
		part := chunk & (more - 1)
		if bits.Len64(part)+int(shift) > 64 && part != 0 {
			s.fail(fault.ErrVarint, "a number of more than 64 bits")
		}
		if s.fault != nil {
			return 0
		}
		v |= part << shift
		if chunk&more == 0 {
			return v
		}
	}
}

// align skips the bits up to the next multiple of 32 bits of the stream.
func (s *stream) align() { s.fixed(-s.pos & 31) }

// skip returns the next n bytes of the stream, and skips them.
func (s *stream) skip(n uint64) []byte {
	if n > s.left()/8 {
		s.fail(fault.ErrTruncated, "the file ends in a block")
		return nil
	}
	start := s.pos / 8
	s.pos += 8 * n
	return s.data[start : start+n]
}

// define reads an abbreviation: the description of how the fields of certain records are encoded.
func (s *stream) define() (a abbreviation) {
	for range s.vbr(5) {
		if s.left() == 0 {
			break
		}
		o := operand{}
		if s.fixed(1) == 1 {
			o.value = s.vbr(8)
		} else {
			o.encoding = encoding(s.fixed(3))
			if o.encoding == encodedFixed || o.encoding == encodedVBR {
				o.value = s.vbr(5)
			}
		}
		if o.encoding > encodedBlob || o.encoding == encodedFixed && o.value > 64 || o.encoding == encodedVBR && (o.value == 1 || o.value > 32) {
			s.fail(fault.ErrSyntax, "an abbreviation that is not known")
		}
		a = append(a, o)
	}
	if len(a) == 0 {
		s.fail(fault.ErrSyntax, "an abbreviation without operands")
	}
	return a
}

// A record is a record of LLVM bitcode as far as this package needs it: its code and first fields,
// or its blob if it ends with one.
type record struct {
	code   uint64
	fields [numFields]uint64
	count  int // number of fields in the file, -1 before the code has been read
	blob   []byte
}

// numFields is the number of fields that are kept of a record, as many as this package needs.
const numFields = 6

// add adds the next value of the record. The first value is the record's code, and fields follow.
func (r *record) add(v uint64) {
	switch {
	case r.count == -1:
		r.code = v
	case r.count < numFields:
		r.fields[r.count] = v
	}
	r.count++
}

// unabbreviated reads a record whose encoding no abbreviation describes: each field is a
// variable-width number.
func (s *stream) unabbreviated() record {
	r := record{code: s.vbr(6)}
	for n := s.vbr(6); n > 0 && s.fault == nil; n-- {
		r.add(s.vbr(6))
	}
	return r
}

// abbreviated reads a record whose encoding an abbreviation describes.
func (s *stream) abbreviated(a abbreviation) record {
	r := record{count: -1}
	for i := 0; i < len(a) && s.fault == nil; i++ {
		switch a[i].encoding {
		case encodedArray:
			if i+2 != len(a) || !a[i+1].isElement() {
				s.fail(fault.ErrSyntax, "an abbreviation with an array that is not at its end, or whose elements take no bits")
				return r
			}
			for n := s.vbr(6); n > 0 && s.fault == nil; n-- {
				r.add(s.scalar(a[i+1]))
			}
			return r
		case encodedBlob:
			n := s.vbr(6)
			s.align()
			r.blob = s.skip(n)
			s.align()
		default:
			r.add(s.scalar(a[i]))
		}
	}
	return r
}

// isElement reports whether a field can be an element of an array. An element takes at least one
// bit, so the file bounds the length of an array.
func (o operand) isElement() bool {
	return o.encoding == encodedChar6 || (o.encoding == encodedFixed || o.encoding == encodedVBR) && o.value > 0
}

// scalar reads a field that is neither an array nor a blob. A field of width 0 takes no bits and is
// 0.
func (s *stream) scalar(o operand) uint64 {
	switch {
	case o.encoding == encodedLiteral:
		return o.value
	case o.encoding == encodedFixed && o.value > 0:
		return s.fixed(o.value)
	case o.encoding == encodedVBR && o.value > 0:
		return s.vbr(o.value)
	case o.encoding == encodedChar6:
		return s.fixed(6)
	}
	return 0
}
