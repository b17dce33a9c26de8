// Package fault has the errors of all formats: the values that callers compare with and the types
// that describe a fault and its place. It imports nothing of this module, so a package that reads a
// format needs no other format for its errors. Package afdo exports all of them.
package fault

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors that are not about the content of a file.
var (
	ErrNotFound  = errors.New("not found")                            // the profile does not contain the requested item
	ErrAmbiguous = errors.New("ambiguous")                            // several units match
	ErrClosed    = errors.New("reader is closed")                     // a method has to read after Close
	ErrVersion   = errors.New("unsupported profile version")          // the version is not read, or not written
	ErrLimit     = errors.New("limit exceeded")                       // a file needs more than the options allow
	ErrChanged   = errors.New("file changed while it was being read") // a file was truncated or replaced
)

// ErrUnrepresentable is matched by every error of a writer that is about the profile: the format
// cannot store a part of it. Writers never truncate a value to make it fit.
var ErrUnrepresentable = errors.New("the format cannot hold it")

// ErrMalformed is matched by every [FormatError] except those of class [ErrLimit].
var ErrMalformed = errors.New("malformed profile")

// Classes of [FormatError] that several formats share. The packages of the formats add their own.
var (
	ErrMagic      = errors.New("not a GCOV profile")  // the file has another format
	ErrHeader     = errors.New("bad header")          // in the header or the section table
	ErrTruncated  = errors.New("truncated section")   // a field reaches past the end of its section
	ErrVarint     = errors.New("bad varint")          // a varint exceeds the width of its field
	ErrCount      = errors.New("bad count")           // a count exceeds what the rest of the section can hold
	ErrSection    = errors.New("bad section index")   // an index out of range, or of a section of another type
	ErrSymbol     = errors.New("bad symbol")          // a symbol ID or string index out of range, or duplicate
	ErrName       = errors.New("bad file name")       // a file name that is not one NUL-terminated string
	ErrTrie       = errors.New("bad string table")    // not a trie that contains each of its strings once
	ErrChecksum   = errors.New("bad checksum")        // bytes do not match the checksum in the index of the file
	ErrIndex      = errors.New("bad index")           // the index is malformed, or disagrees with the rest of the file
	ErrSyntax     = errors.New("bad syntax")          // a text that cannot be parsed
	ErrOverflow   = errors.New("value does not fit")  // a number or a name in a text exceeds its field, or a sum of numbers
	ErrCompressed = errors.New("bad compressed data") // compressed data that cannot be decompressed
	ErrHashTable  = errors.New("bad hash table")      // an inconsistent chained hash table of LLVM
)

// Classes of [FormatError] that only checks report.
var (
	ErrUnused   = errors.New("unaccounted bytes") // nothing refers to bytes or a section, or several things do
	ErrMissing  = errors.New("missing unit")      // there is no unit of symbols with unknown file (RFC 4.5)
	ErrOverlong = errors.New("over-long varint")  // a varint longer than its value needs
	ErrSummary  = errors.New("summary disagrees") // the summary does not agree with the data
)

// HeaderSection is the Section of a [FormatError] outside of numbered sections: in the header, in
// the section table, and everywhere in a format that does not number its sections.
const HeaderSection = -1

// A FormatError describes a fault of an input and its place. Under errors.Is it matches its class
// and, unless the class is [ErrLimit], [ErrMalformed].
//
// The place is the File if there are several, then a numbered Section or a named Part, then an
// Offset, or a Line and a Column.
type FormatError struct {
	// Format is the format that the input was read as: "afdo" for GCOV of version 4, for other
	// profiles the name of the package that reads them, such as "gcov" or "instrprof", and for
	// recordings their own name, such as "perf.data" or "callgrind".
	Format string

	File     string // path of the file, if the input has several; or ""
	Section  int    // section index by file order, or HeaderSection
	Part     string // type or name of the section or part, such as "header", "symbol info" or ".debug_line"; or ""
	Offset   int64  // of the faulty byte, from the start of the file, or of the section in ELF files; -1 if unknown
	Inflated bool   // the section is compressed, and Offset counts its decompressed bytes
	Line     int    // of a text, from 1; 0 in binary formats
	Column   int    // in a text, in bytes from 1; 0 in binary formats
	Err      error  // the class, such as ErrCount, or ErrLimit
	Detail   string // what was expected and what was found
}

// Place returns the place in the file in words, or "" if it is unknown.
func (e *FormatError) Place() string {
	where := e.Part
	if e.Section != HeaderSection {
		where = "section " + strconv.Itoa(e.Section) + " (" + e.Part + ")"
	}
	if e.Inflated {
		where += ", decompressed,"
	}
	switch {
	case e.Line > 0:
		return fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	case e.Offset < 0:
		return where
	case where == "":
		return "at offset " + strconv.FormatInt(e.Offset, 10)
	}
	return where + " at offset " + strconv.FormatInt(e.Offset, 10)
}

// Error returns the format, the place, the class and the detail.
func (e *FormatError) Error() string {
	text := e.Format + ": "
	for _, part := range []string{e.File, e.Place()} {
		if part != "" {
			text += part + ": "
		}
	}
	return text + e.Err.Error() + ": " + e.Detail
}

// Unwrap returns the class of the error, such as [ErrTruncated].
func (e *FormatError) Unwrap() error { return e.Err }

// Is makes errors.Is work with [ErrMalformed]: it reports whether target is ErrMalformed and the
// error means that the input is malformed. That is so for every class except [ErrLimit].
func (e *FormatError) Is(target error) bool {
	return target == ErrMalformed && e.Err != ErrLimit
}

// A Problem is something that a check of a file finds, in any format.
type Problem struct {
	// Err describes the problem and its place: a [FormatError], or another error with which the
	// reader of the format gives up.
	Err error

	// Remark is set for something unusual that is legal and not a fault.
	Remark bool
}

// Offset returns the offset of the problem in the file, or -1 if it has none.
func (p *Problem) Offset() int64 {
	if e, ok := p.Err.(*FormatError); ok {
		return e.Offset
	}
	return -1
}

// A ReadError is a failure of the file or io.ReaderAt from which a profile is read. It wraps Err.
type ReadError struct {
	Offset int64 // where the read began, from the start of the file
	Size   int   // how many bytes were requested
	Err    error // the error of the read, or ErrChanged
}

// Error returns the place and the error of the read.
func (e *ReadError) Error() string {
	return fmt.Sprintf("afdo: read %d bytes at offset %d: %v", e.Size, e.Offset, e.Err)
}

// Unwrap returns the error that the file or io.ReaderAt has returned.
func (e *ReadError) Unwrap() error { return e.Err }

// A VersionError describes a version of a profile that its package does not read, or not write. It
// matches [ErrVersion].
type VersionError struct {
	Format  string // as in FormatError
	Kind    string // "gcov", "adcg" (little-endian) or "gcda" (big-endian), as GCOV files begin; "indexed" or "raw"; or ""
	Version uint64
	Detail  string // what was expected and what was found
}

// Error returns the format, and a text about the version that is not supported.
func (e *VersionError) Error() string {
	return e.Format + ": " + ErrVersion.Error() + ": " + e.Detail
}

// Is makes errors.Is work with [ErrVersion]: it reports whether target is ErrVersion.
func (e *VersionError) Is(target error) bool { return target == ErrVersion }
