package afdo

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
	v4 "github.com/go-afdo/afdo/internal/v4"
)

// Errors that are not about the content of a file.
var (
	ErrNotFound  = fault.ErrNotFound  // the profile does not contain the requested item
	ErrAmbiguous = fault.ErrAmbiguous // several units match, see AmbiguousError
	ErrClosed    = fault.ErrClosed    // a method has to read after Close
	ErrVersion   = fault.ErrVersion   // a version that is not read or written, see VersionError
	ErrLimit     = fault.ErrLimit     // a file needs more than the options allow
	ErrChanged   = fault.ErrChanged   // a mapped file was truncated or written to
)

// ErrUnrepresentable is matched by every error of a writer that is about the profile: the format
// cannot store a part of it. Writers never truncate a value to make it fit.
var ErrUnrepresentable = fault.ErrUnrepresentable

// ErrMalformed is matched by every [FormatError] except those of class [ErrLimit].
var ErrMalformed = fault.ErrMalformed

// Classes of [FormatError] that several formats share. The packages of the formats add their own.
var (
	ErrMagic      = fault.ErrMagic      // the file has another format; other formats than GCOV word this class differently
	ErrHeader     = fault.ErrHeader     // header or section table; the file may be truncated, or in another dialect
	ErrTruncated  = fault.ErrTruncated  // a field reaches past the end of its section, or a text ends too early
	ErrVarint     = fault.ErrVarint     // a varint exceeds the width of its field
	ErrCount      = fault.ErrCount      // a count exceeds what the rest of the section can hold
	ErrSection    = fault.ErrSection    // an index out of range, or of a section of another type
	ErrSymbol     = fault.ErrSymbol     // a symbol ID or string index out of range, or duplicate
	ErrName       = fault.ErrName       // a file name that is not one NUL-terminated string
	ErrTrie       = fault.ErrTrie       // not a trie that contains each of its strings once
	ErrChecksum   = fault.ErrChecksum   // bytes do not match the checksum in the index of the file
	ErrIndex      = fault.ErrIndex      // the index is malformed, or disagrees with the rest of the file
	ErrSyntax     = fault.ErrSyntax     // a text that cannot be parsed
	ErrOverflow   = fault.ErrOverflow   // a number or a name in a text exceeds its field, or a sum of numbers
	ErrCompressed = fault.ErrCompressed // compressed data that cannot be decompressed
	ErrHashTable  = fault.ErrHashTable  // an inconsistent chained hash table of LLVM
)

// Classes of [FormatError] that only checks report, such as package check.
var (
	ErrUnused   = fault.ErrUnused   // nothing refers to bytes or a section, or several things do
	ErrMissing  = fault.ErrMissing  // there is no unit of symbols with unknown file (RFC 4.5)
	ErrOverlong = fault.ErrOverlong // a varint longer than its value needs
	ErrSummary  = fault.ErrSummary  // the summary does not agree with the data
)

// HeaderSection is the Section of a [FormatError] outside of numbered sections: in the header, in
// the section table, and everywhere in a format that does not number its sections.
const HeaderSection = fault.HeaderSection // -1

// A FormatError describes a fault of an input and its place, in all formats of this module: Format,
// File, Section, Part, Offset, Inflated, Line, Column, the class Err and a Detail. Under errors.Is
// it matches its class and, unless the class is [ErrLimit], [ErrMalformed].
type FormatError = fault.FormatError

// A Problem is something that a check of a file finds, in all formats of this module: its Err, and
// whether it is only a Remark.
type Problem = fault.Problem

// A ReadError is a failure of the file or io.ReaderAt from which a [Reader] reads. It has the
// Offset and the Size of the read and wraps its Err.
type ReadError = fault.ReadError

// A VersionError describes a Version of a profile that its package does not read, or not write. It
// matches [ErrVersion].
type VersionError = fault.VersionError

// An AmbiguousError lists the units that match a lookup of one unit. It matches [ErrAmbiguous].
type AmbiguousError struct {
	Path  string   // the requested path
	Paths []string // paths of the matching units, in file order
}

// maxNamed is how many matching units the text of an AmbiguousError lists.
const maxNamed = 5

func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("afdo: unit %.200q: %v: %d units fit: ", e.Path, ErrAmbiguous, len(e.Paths))
	for i, path := range e.Paths {
		if i == maxNamed {
			return text + ", ..."
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.200q", path)
	}
	return text
}

func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// elsewhere returns a hint at the package that reads an older version.
func elsewhere(e *v4.VersionError) string {
	if e.Magic != "gcov" && (e.Version == 2 || e.Version == 3) {
		return "; package anyprof reads both"
	}
	return ""
}

// public converts an error of package v4 to one of this package.
func public(err error) error {
	switch e := err.(type) {
	case *v4.Fault:
		return newSection(e.Section).ErrorAt(e.Offset, e.Class, "%s", e.Detail)
	case *v4.VersionError:
		return &VersionError{
			Format: "afdo", Kind: e.Magic, Version: uint64(e.Version),
			Detail: fmt.Sprintf("a %q file of version %d, not a \"gcov\" file of version 4%s", e.Magic, e.Version, elsewhere(e)),
		}
	}
	return err
}
