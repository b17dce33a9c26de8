package afdo

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// Errors that do not concern the content of a file.
var (
	ErrNotFound  = fault.ErrNotFound  // the profile does not contain the requested item
	ErrAmbiguous = fault.ErrAmbiguous // several units match, see AmbiguousError
	ErrClosed    = fault.ErrClosed    // the Reader was closed before the data was read
	ErrVersion   = fault.ErrVersion   // the version is not supported, see VersionError
	ErrLimit     = fault.ErrLimit     // reading the file would exceed a limit of the options
	ErrChanged   = fault.ErrChanged   // a mapped file was truncated or modified
)

// ErrUnrepresentable matches every error of a writer caused by the profile: the format cannot store
// some part of it. Writers never truncate a value to make it fit.
var ErrUnrepresentable = fault.ErrUnrepresentable

// ErrMalformed matches every [FormatError] except those of class [ErrLimit].
var ErrMalformed = fault.ErrMalformed

// Classes of [FormatError] that several formats share. The packages of the formats define further
// classes.
var (
	ErrMagic      = fault.ErrMagic      // the file has another format
	ErrHeader     = fault.ErrHeader     // the header or section table is invalid; the file may be truncated or in another dialect
	ErrTruncated  = fault.ErrTruncated  // a field extends past the end of its section, or a text ends too early
	ErrVarint     = fault.ErrVarint     // a varint exceeds the width of its field
	ErrCount      = fault.ErrCount      // a count exceeds what the rest of the section can hold
	ErrSection    = fault.ErrSection    // a section index is out of range, or refers to a section of the wrong type
	ErrSymbol     = fault.ErrSymbol     // a symbol ID or string index is out of range or duplicate
	ErrName       = fault.ErrName       // a file name is not a single NUL-terminated string
	ErrTrie       = fault.ErrTrie       // a string table is not a trie that contains each string once
	ErrChecksum   = fault.ErrChecksum   // a section does not match its checksum in the index
	ErrIndex      = fault.ErrIndex      // the index is malformed or disagrees with the rest of the file
	ErrSyntax     = fault.ErrSyntax     // a text cannot be parsed
	ErrOverflow   = fault.ErrOverflow   // a number, a name or a sum exceeds its field
	ErrCompressed = fault.ErrCompressed // data cannot be decompressed
)

// Classes of [FormatError] that checkers report, such as package check. Readers of LLVM's formats
// also report ErrUnused.
var (
	ErrUnused   = fault.ErrUnused   // a section or some bytes are unreferenced, or referenced more than once
	ErrMissing  = fault.ErrMissing  // there is no unit for symbols with unknown file (RFC 4.5)
	ErrOverlong = fault.ErrOverlong // a varint is longer than its value needs
	ErrSummary  = fault.ErrSummary  // the summary disagrees with the data
)

// HeaderSection is the Section of a [FormatError] outside numbered sections: in the header, in the
// section table, and anywhere in a format whose sections are not numbered.
const HeaderSection = fault.HeaderSection // -1

// A FormatError describes a violation of a format and its position. All formats of this module use
// it, as a *FormatError. It matches its class and, unless the class is [ErrLimit], [ErrMalformed].
// Its fields are
//   - Format, "afdo" for version 4, otherwise the name of the package, such as "gcov", or of the
//     kind of recording, such as "perf.data";
//   - File, the path, if the input has several files;
//   - Section, the index of the section, or [HeaderSection];
//   - Part, the type or name of the section, such as "symbol info";
//   - Offset, the byte offset in the file (for an ELF file, in the section), or -1 if unknown;
//   - Inflated, set if the section is compressed and Offset counts decompressed bytes;
//   - Line and Column in a text, both from 1, Column in bytes;
//   - Err, the class, such as [ErrCount];
//   - Detail, in words.
type FormatError = fault.FormatError

// A Problem is a finding of a file check, in any format of this module. Its fields are Err, usually
// a *[FormatError], and Remark, set if the finding is unusual but legal.
type Problem = fault.Problem

// A ReadError is a failed read of a file or io.ReaderAt. Its fields are the Offset in the file, the
// Size of the read in bytes, and the cause Err, which it wraps.
type ReadError = fault.ReadError

// A VersionError reports a profile version that the package cannot read or write. It matches
// [ErrVersion]. Its fields are Format, as in [FormatError], Kind (the magic of a GCOV file;
// "indexed" or "raw" for instrumentation profiles; otherwise empty), Version, and Detail, a
// description in words.
type VersionError = fault.VersionError

// An AmbiguousError lists the units that match a lookup meant to find one unit. It matches
// [ErrAmbiguous].
type AmbiguousError struct {
	Path  string   // the requested path
	Paths []string // paths of all matching units, in file order
}

// maxNamed limits the number of units that the text of an AmbiguousError lists.
const maxNamed = 5

// Error returns the requested path and the first few of the matching paths.
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

// Is reports whether target is [ErrAmbiguous].
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }
