package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/gcov"
)

// A format is one of the forms in which a profile is stored. The zero format is none.
type format uint8

const (
	formatV4 format = iota + 1
	formatV4Compact
	formatV3
	formatV2
	formatText
)

var formatNames = [...]string{
	formatV4:        "v4",
	formatV4Compact: "v4c",
	formatV3:        "v3",
	formatV2:        "v2",
	formatText:      "text",
}

// The methods String, Set and Type make a *format a flag's value.

func (f *format) String() string { return formatNames[*f] }

func (f *format) Set(name string) error {
	for i, n := range formatNames {
		if n != "" && n == name {
			*f = format(i)
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(formatNames[1:], ", "))
}

func (f *format) Type() string { return "FORMAT" }

// old tells whether package gcov is in charge.
func (f format) old() bool { return f == formatV2 || f == formatV3 }

// v4 tells whether package afdo is in charge.
func (f format) v4() bool { return f == formatV4 || f == formatV4Compact }

func completeFormats(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return formatNames[1:], cobra.ShellCompDirectiveNoFileComp
}

// sniffLen is how much of a file tells its format: white space and a keyword of a text; the rest take 12 bytes.
const sniffLen = 512

// recognise tells the format of a file from its first sniffLen bytes. For
// version 4 it is formatV4 whatever the encoding, which is the header's business.
func recognise(head []byte) (format, error) {
	switch {
	case hasMagic(head, "gcov"):
		return formatV4, nil
	case hasMagic(head, "adcg"), hasMagic(head, "gcda"):
		return recogniseOld(head)
	case looksLikeText(head):
		return formatText, nil
	}
	return 0, errors.New("not a profile: " + describeUnknown(head))
}

func recogniseOld(head []byte) (format, error) {
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
		return formatV2, nil
	}
	return formatV3, nil
}

func hasMagic(head []byte, magic string) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic
}

// looksLikeText tells whether a file begins like the textual form: with a
// keyword and "=", or with a symbol's name. The parser has the last word.
func looksLikeText(head []byte) bool {
	text := strings.TrimLeft(string(head), " \t\r\n\v\f")
	if text == "" {
		return len(head) == sniffLen // blanks so far, and there is more
	}
	keyword := len(text) - len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz0123456789_"))
	if keyword == 0 {
		return text[0] == '"'
	}
	return strings.HasPrefix(strings.TrimLeft(text[keyword:], " \t\r\n\v\f"), "=")
}

// unknownKinds are files that are taken for profiles easily.
var unknownKinds = [...]struct{ magic, what string }{
	{"\x1f\x8b", "it is compressed with gzip"},
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd"},
	{"\xfd7zXZ\x00", "it is compressed with xz"},
	{"PERFILE2", "it is a recording of perf, from which create_gcov makes profiles"},
	{"\x7fELF", "it is an ELF file"},
	{"\xfflprofi\x81", "it is an indexed profile of LLVM"},
}

func describeUnknown(head []byte) string {
	if strings.TrimSpace(string(head)) == "" {
		return "it is empty"
	}
	for _, k := range unknownKinds {
		if hasMagic(head, k.magic) {
			return k.what
		}
	}
	return fmt.Sprintf("it begins with %q", head[:min(len(head), 16)])
}
