package afdo

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// fields decodes the fields of a section, or of the header, and knows which one it is: wire.Fields
// has where a fault is in the section, and fields makes a [FormatError] of that.
type fields struct {
	sec Section
	wire.Fields
}

// fieldsAt returns the fields of the section whose bytes are data, from pos on.
func (s Section) fieldsAt(data []byte, pos int) fields {
	return fields{s, wire.Fields{Data: data, Pos: pos, Compact: s.Compact}}
}

// err is the error of the fault that was found, if there is one.
func (f *fields) err() error {
	if f.Err == nil {
		return nil
	}
	return f.sec.errorOf(f.Err)
}

// errorOf returns a FormatError for a fault in the section.
func (s Section) errorOf(f *wire.Fault) error {
	return &FormatError{Section: s.Index, Type: s.Type, Offset: s.Offset + int64(f.Pos), Err: f.Class, Detail: f.Detail}
}

// errorAt returns a FormatError for the byte at pos of the section.
func (s Section) errorAt(pos int, class error, format string, args ...any) error {
	return s.errorOf(&wire.Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)})
}
