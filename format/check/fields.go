package check

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A fields decodes the fields of one section. Its errors name the section.
type fields struct {
	sec afdo.Section
	wire.Fields
}

// faultAt returns an error about the byte at position pos of a section.
func faultAt(s afdo.Section, pos int, class error, format string, args ...any) *afdo.FormatError {
	return s.ErrorAt(s.Offset+int64(pos), class, format, args...)
}

// err returns the first error of decoding the section, or nil.
func (f *fields) err() error {
	if f.Err == nil {
		return nil
	}
	return faultAt(f.sec, f.Err.Pos, f.Err.Class, "%s", f.Err.Detail)
}
