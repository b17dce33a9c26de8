package sampleprof

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-afdo/afdo"
)

// fields decodes the fields of a section or of a part of one, in order. The first fault sticks;
// what is read after it is 0.
type fields struct {
	section *Section // nil for the header
	data    []byte
	start   int64 // offset of data: in the file, or in the raw bytes of a compressed section
	pos     int
	err     error
}

// fail records a fault at a position, unless there is one already, and ends the section.
func (f *fields) fail(pos int, class error, format string, args ...any) {
	if f.err == nil {
		f.err = f.section.fault(f.start+int64(pos), class, format, args...)
	}
	f.pos = len(f.data)
}

func (f *fields) rest() int { return len(f.data) - f.pos }

// uint64 reads a ULEB128.
func (f *fields) uint64() uint64 {
	if f.pos < len(f.data) && f.data[f.pos] < 0x80 {
		b := f.data[f.pos]
		f.pos++
		return uint64(b)
	}
	return f.longUint64()
}

func (f *fields) longUint64() uint64 {
	x := uint64(0)
	for i := f.pos; i < len(f.data); i++ {
		b := f.data[i]
		if shift := uint(7 * (i - f.pos)); shift < 63 {
			x |= uint64(b&0x7f) << shift
		} else if shift == 63 && b&0x7f <= 1 {
			x |= uint64(b) << 63
		} else if b&0x7f != 0 {
			f.fail(f.pos, afdo.ErrVarint, "more than 64 bits")
			return 0
		}
		if b < 0x80 {
			f.pos = i + 1
			return x
		}
	}
	f.fail(len(f.data), afdo.ErrTruncated, "the section ends within a number")
	return 0
}

// uint32 reads a ULEB128 of at most 32 bits.
func (f *fields) uint32(what string) uint32 {
	pos := f.pos
	x := f.uint64()
	if x > math.MaxUint32 {
		f.fail(pos, afdo.ErrVarint, "%s %d has more than 32 bits", what, x)
		return 0
	}
	return uint32(x)
}

// line reads a line offset.
func (f *fields) line() uint16 {
	pos := f.pos
	x := f.uint64()
	if x > math.MaxUint16 {
		f.fail(pos, ErrLine, "%d has more than 16 bits", x)
		return 0
	}
	return uint16(x)
}

// fixed64 reads 8 bytes, little-endian.
func (f *fields) fixed64() uint64 {
	if f.rest() < 8 {
		f.fail(len(f.data), afdo.ErrTruncated, "%d bytes left for a number of 8", f.rest())
		return 0
	}
	x := binary.LittleEndian.Uint64(f.data[f.pos:])
	f.pos += 8
	return x
}

// count reads a number of items, each of which takes at least so many bytes. Nothing is ever
// allocated or looped for by a count that has not passed here.
func (f *fields) count(least int, what string) int {
	pos := f.pos
	n := f.uint64()
	if f.err == nil && n > uint64(f.rest()/least) {
		f.fail(pos, afdo.ErrCount, "%d %s, the %d bytes left hold at most %d", n, what, f.rest(), f.rest()/least)
	}
	if f.err != nil {
		return 0
	}
	return int(n)
}

// skipString skips a NUL-terminated string.
func (f *fields) skipString() {
	n := bytes.IndexByte(f.data[f.pos:], 0)
	if n < 0 {
		f.fail(len(f.data), afdo.ErrTruncated, "no NUL ends the last name")
		return
	}
	f.pos += n + 1
}

// end checks that nothing is left.
func (f *fields) end() error {
	if f.err == nil && f.rest() > 0 {
		f.fail(f.pos, afdo.ErrUnused, "%d bytes after the end of the data", f.rest())
	}
	return f.err
}

func (s *Section) fault(off int64, class error, format string, args ...any) error {
	e := &afdo.FormatError{
		Format: formatName, Section: afdo.HeaderSection, Part: "header", Offset: off, Err: class, Detail: fmt.Sprintf(format, args...),
	}
	if s != nil {
		e.Section, e.Part, e.Inflated = s.Index, s.Type.String(), s.Compressed()
	}
	return e
}
