package v4

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// HeaderSection is the index of what stands for the header and the section table.
const HeaderSection = -1

// A Section says where a section is and what it holds, as afdo.Section does.
type Section struct {
	Index   int
	Type    byte
	Compact bool
	Offset  int64
	Size    int64
}

// header stands for the header and the section table.
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

// Fault gives a fault in the section its place in the file.
func (s Section) Fault(f *wire.Fault) error {
	return &Fault{s, s.Offset + int64(f.Pos), f.Class, f.Detail}
}

// FaultAt returns a [Fault] of the byte at pos of the section.
func (s Section) FaultAt(pos int, class error, format string, args ...any) error {
	return s.Fault(&wire.Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)})
}

// Fields decodes the fields of a section, or of the header, and knows which one it is.
type Fields struct {
	Section Section
	wire.Fields
}

// fieldsAt returns the fields of the section whose bytes are data, from pos on.
func (s Section) fieldsAt(data []byte, pos int) Fields {
	return Fields{s, wire.Fields{Data: data, Pos: pos, Compact: s.Compact}}
}

// Fault returns the [Fault] that was found, if there is one.
func (f *Fields) Fault() error {
	if f.Err == nil {
		return nil
	}
	return f.Section.Fault(f.Err)
}

// A Ref is a reference to a section by index, and the type that it must have.
type Ref struct {
	Index uint32
	Want  byte
}
