package v4

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// HeaderSection is the index used for the header and the section table.
const HeaderSection = -1

// A Section describes a section and its position, like afdo.Section.
type Section struct {
	Index   int
	Type    byte
	Compact bool
	Offset  int64
	Size    int64
}

// header represents the header and the section table in errors.
var header = Section{Index: HeaderSection}

func newSection(index int, e extent, bitmask byte) Section {
	return Section{
		Index:   index,
		Type:    bitmask & wire.SectionTypeMask,
		Compact: bitmask&wire.CompactFlag != 0,
		Offset:  e.off,
		Size:    e.size,
	}
}

// Fault adds the position in the file to an error in the section.
func (s Section) Fault(f *wire.Fault) error {
	return &Fault{s, s.Offset + int64(f.Pos), f.Class, f.Detail}
}

// FaultAt returns a [Fault] about the byte at pos of the section.
func (s Section) FaultAt(pos int, class error, format string, args ...any) error {
	return s.Fault(&wire.Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)})
}

// Fields decodes the fields of a section or of the header.
type Fields struct {
	Section Section
	wire.Fields
}

// fieldsAt returns a decoder for the section with the given bytes, starting at pos.
func (s Section) fieldsAt(data []byte, pos int) Fields {
	return Fields{s, wire.Fields{Data: data, Pos: pos, Compact: s.Compact}}
}

// Fault returns the decoding error as a [Fault], or nil.
func (f *Fields) Fault() error {
	if f.Err == nil {
		return nil
	}
	return f.Section.Fault(f.Err)
}

// A Ref is a reference to a section, with the expected type.
type Ref struct {
	Index uint32
	Want  byte
}

// A Fault is an error in a file, with its position.
type Fault struct {
	Section Section
	Offset  int64 // file offset of the byte at fault
	Class   error
	Detail  string
}

func (e *Fault) Error() string {
	return fmt.Sprintf("section %d at offset %d: %v: %s", e.Section.Index, e.Offset, e.Class, e.Detail)
}

// Unwrap returns the class.
func (e *Fault) Unwrap() error { return e.Class }

// isChecksum reports whether an error is a checksum mismatch.
func isChecksum(err error) bool {
	e, ok := err.(*Fault)
	return ok && e.Class == fault.ErrChecksum
}

// A VersionError is the error for a file whose version is not 4.
type VersionError struct {
	Magic   string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("a %q file of version %d", e.Magic, e.Version)
}
