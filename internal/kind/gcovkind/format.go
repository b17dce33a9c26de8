// Package gcovkind is the glue between the verbs and the formats of GCOV AutoFDO profiles.
package gcovkind

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli/input"
)

// A Format is one of the forms in which a profile is stored. The zero format is none.
type Format uint8

// The formats, by their names.
const (
	V4 Format = iota + 1
	V4Compact
	V3
	V2
	Text
)

var formatNames = [...]string{
	V4:        "v4",
	V4Compact: "v4c",
	V3:        "v3",
	V2:        "v2",
	Text:      "text",
}

// String returns the name of the format. With Set and Type it makes a *Format the value of a flag.
func (f Format) String() string { return formatNames[f] }

// Set takes the format of a name.
func (f *Format) Set(name string) error {
	for i, n := range formatNames {
		if n != "" && n == name {
			*f = Format(i)
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
func FormatNames() []string { return formatNames[1:] }

// Recognise tells the format of a file from its first [input.HeadLen] bytes. For
// version 4 it is V4 whatever the encoding, which is the header's business.
func Recognise(head []byte) (Format, error) {
	switch {
	case hasMagic(head, "gcov"):
		return V4, nil
	case hasMagic(head, "adcg"), hasMagic(head, "gcda"):
		return recogniseOld(head)
	case looksLikeText(head):
		return Text, nil
	}
	return 0, errors.New("not a GCOV profile")
}

func recogniseOld(head []byte) (Format, error) {
	h, err := gcov.DecodeHeader(head)
	var version *gcov.VersionError
	// The version of a .gcda file is four characters like "B22*".
	if errors.As(err, &version) && version.Version&0xff == '*' {
		return 0, errors.New("not a profile: it is a .gcda file of gcc --coverage or -fprofile-generate")
	}
	if err != nil {
		return 0, err
	}
	if h.Version == 2 {
		return V2, nil
	}
	return V3, nil
}

// hasMagic tells whether a file begins with a magic number.
func hasMagic(head []byte, magic string) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic
}

// looksLikeText tells whether a file begins like the textual form: with a
// keyword and "=", or with a symbol's name. The parser has the last word.
func looksLikeText(head []byte) bool {
	text := strings.TrimLeft(string(head), " \t\r\n\v\f")
	if text == "" {
		return len(head) == input.HeadLen // blanks so far, and there is more
	}
	keyword := len(text) - len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz0123456789_"))
	if keyword == 0 {
		return text[0] == '"'
	}
	return strings.HasPrefix(strings.TrimLeft(text[keyword:], " \t\r\n\v\f"), "=")
}
