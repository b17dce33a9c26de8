// Package gcovkind is the glue between the verbs and the formats of GCOV AutoFDO profiles.
package gcovkind

import (
	"fmt"
	"strings"

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

// String returns the name of the format. With Set and Type it makes a *Format the value of a flag.
func (f Format) String() string {
	if f == 0 {
		return ""
	}
	return anyprof.Format(f).String()
}

// Set takes the format of a name.
func (f *Format) Set(name string) error {
	for _, format := range formats {
		if format.String() == name {
			*f = format
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(FormatNames(), ", "))
}

// Type is what the help calls the value of a flag.
func (f *Format) Type() string { return "FORMAT" }

// Old tells whether package gcov is in charge.
func (f Format) Old() bool { return f == V2 || f == V3 }

// V4 tells whether package afdo is in charge.
func (f Format) V4() bool { return f == V4 || f == V4Compact }

// FormatNames returns the names of all formats.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.String()
	}
	return names
}
