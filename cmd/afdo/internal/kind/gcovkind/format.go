// Package gcovkind is the glue between the verbs and the formats of GCOV AutoFDO profiles.
package gcovkind

import (
	"slices"

	"github.com/go-afdo/afdo/anyprof"
)

// A Format is one of the forms in which a profile is stored. The zero format is none.
type Format anyprof.Format

// The formats, by their names.
const (
	V4        = Format(anyprof.V4)
	V4Compact = Format(anyprof.V4Compact)
	V3        = Format(anyprof.V3)
	V2        = Format(anyprof.V2)
	Text      = Format(anyprof.Text)
)

var formats = [...]Format{V4, V4Compact, V3, V2, Text}

// FormatNamed returns the format of a name, none for that of another kind.
func FormatNamed(name string) Format {
	i := slices.IndexFunc(formats[:], func(f Format) bool { return f.String() == name })
	if i < 0 {
		return 0
	}
	return formats[i]
}

// String returns the name of the format.
func (f Format) String() string {
	if f == 0 {
		return ""
	}
	return anyprof.Format(f).String()
}

// Old tells whether package gcov is in charge.
func (f Format) Old() bool { return f == V2 || f == V3 }

// V4 tells whether package afdo is in charge.
func (f Format) V4() bool { return f == V4 || f == V4Compact }
