package sampleprof

import (
	"bytes"
	"fmt"
	"math"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A fields decodes the integers and strings of a section, or of a part of it.
type fields struct {
	decode.Buffer
	section *Section // nil for the header
	start   int64    // offset of Data: in the file or, for a compressed section, in its uncompressed bytes
}

// err returns the first error that decoding met, with the section and its offset.
func (f *fields) err() error {
	return f.Error(func(e *decode.Fault) error { return f.section.fault(f.start+int64(e.Pos), e.Class, "%s", e.Detail) })
}

// uint64 reads a ULEB128 number.
func (f *fields) uint64() uint64 { return f.ULEB() }

// uint32 reads a ULEB128 number of at most 32 bits.
func (f *fields) uint32(what string) uint32 {
	pos := f.Pos
	x := f.uint64()
	if x > math.MaxUint32 {
		f.Fail(pos, fault.ErrVarint, "%s %d has more than 32 bits", what, x)
		return 0
	}
	return uint32(x)
}

// line reads a line offset, which must fit into 16 bits.
func (f *fields) line() uint16 {
	pos := f.Pos
	x := f.uint64()
	if x > math.MaxUint16 {
		f.Fail(pos, errLine, "%d has more than 16 bits", x)
		return 0
	}
	return uint16(x)
}

// count reads a number of entries. It checks that this many entries, of at least least bytes each,
// fit into the remaining bytes. Every allocation and loop is bounded by a number checked here. what
// names the number in errors.
func (f *fields) count(least int, what string) int {
	pos := f.Pos
	return f.Count(pos, f.uint64(), least, what)
}

// skipString skips a NUL-terminated string.
func (f *fields) skipString() {
	n := bytes.IndexByte(f.Data[f.Pos:], 0)
	if n < 0 {
		f.Fail(len(f.Data), fault.ErrTruncated, "no NUL ends the last name")
		return
	}
	f.Pos += n + 1
}

// end returns an error if bytes are left in the section after its last field, or the error of
// decoding.
func (f *fields) end() error {
	if f.Rest() > 0 {
		f.Fail(f.Pos, fault.ErrUnused, "%d bytes after the end of the data", f.Rest())
	}
	return f.err()
}

func (s *Section) fault(off int64, class error, format string, args ...any) error {
	e := &fault.FormatError{
		Format: formatName, Section: fault.HeaderSection, Part: "header", Offset: off, Err: class, Detail: fmt.Sprintf(format, args...),
	}
	if s != nil {
		e.Section, e.Part, e.Inflated = s.Index, s.Type.String(), s.compressed()
	}
	return e
}
