package afdo

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-afdo/afdo/internal/decode"
	v4 "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Errors other than those of the format.
var (
	ErrNotFound  = v4.ErrNotFound                            // the profile does not hold what was looked for
	ErrAmbiguous = errors.New("ambiguous")                   // several units match, see AmbiguousError
	ErrClosed    = v4.ErrClosed                              // a method has to read after Close
	ErrVersion   = errors.New("unsupported profile version") // a version that is not read or written, see VersionError
	ErrLimit     = wire.ErrLimit                             // a file asks for more than the options allow
	ErrChanged   = v4.ErrChanged                             // a mapped file was truncated or written to
)

// ErrUnrepresentable is matched by the errors of every writer that are about the profile: it holds
// something for which the format has no room. Nothing is ever cut to fit.
var ErrUnrepresentable = errors.New("the format cannot hold it")

// ErrMalformed is matched by every [FormatError] except those of class [ErrLimit].
var ErrMalformed = errors.New("malformed profile")

// Classes of [FormatError] that several formats have. The packages of the formats add classes of
// their own.
var (
	ErrMagic      = v4.ErrMagic                       // the file is of another format; other formats than GCOV say so in words of their own
	ErrHeader     = v4.ErrHeader                      // header or section table; the file may be cut, or in another dialect
	ErrTruncated  = decode.ErrTruncated               // a field reaches past the end of its section, or a text ends too early
	ErrVarint     = decode.ErrVarint                  // a varint exceeds the width of its field
	ErrCount      = decode.ErrCount                   // a count exceeds what the rest of the section can hold
	ErrSection    = v4.ErrSection                     // an index out of range, or of a section of another type
	ErrSymbol     = v4.ErrSymbol                      // a symbol ID or string index out of range, or duplicate
	ErrName       = v4.ErrName                        // a file name that is not one NUL-terminated string
	ErrTrie       = wire.ErrTrie                      // not a trie that holds each of its strings once
	ErrChecksum   = wire.ErrChecksum                  // bytes do not match the checksum in the index of the file
	ErrIndex      = wire.ErrIndex                     // the index is malformed, or disagrees with the rest of the file
	ErrSyntax     = errors.New("bad syntax")          // a text that cannot be parsed
	ErrOverflow   = errors.New("value does not fit")  // a number or a name in a text exceeds its field, or numbers their sum
	ErrCompressed = errors.New("bad compressed data") // compressed data that cannot be decompressed
	ErrHashTable  = errors.New("bad hash table")      // a chained hash table of LLVM that does not hold together
)

// Classes of [FormatError] that only checks report, such as those of package check.
var (
	ErrUnused   = errors.New("unaccounted bytes") // bytes or a section that nothing refers to, or that several refer to
	ErrMissing  = errors.New("missing unit")      // there is no unit of symbols with unknown file (RFC 4.5)
	ErrOverlong = errors.New("over-long varint")  // a varint longer than its value needs
	ErrSummary  = errors.New("summary disagrees") // the summary does not agree with the data
)

// HeaderSection is what [FormatError.Section] is outside of numbered sections: in the header and
// the section table, and all through a format that does not number its sections.
const HeaderSection = v4.HeaderSection // -1

// A FormatError says what is wrong with an input and where, in all formats of this module. Under
// errors.Is it matches its class and, unless that is [ErrLimit], [ErrMalformed].
//
// The place is the File if there are several, a numbered Section or a Part that has a name, and in
// it an Offset, or a Line and a Column.
type FormatError struct {
	// Format is what the input was read as, the first word of the text: "afdo" for GCOV of version
	// 4, for other profiles the name of the package that reads them, such as "gcov" or "instrprof",
	// and for recordings their own, such as "perf.data" or "callgrind".
	Format string

	File     string // path of the file, where what is read has several; "" elsewhere
	Section  int    // section index by file order, or HeaderSection
	Part     string // type or name of the section or part, such as "header", "symbol info" or ".debug_line"; "" if it has none
	Offset   int64  // of the offending byte, from the start of the file, or of the section in ELF files; -1 if not known
	Inflated bool   // the section is compressed, and Offset counts its decompressed bytes
	Line     int    // of a text, from 1; 0 in binary formats
	Column   int    // in a text, in bytes from 1; 0 in binary formats
	Err      error  // the class, such as ErrCount, or ErrLimit
	Detail   string // what was expected and what was found
}

// Place returns where in the file it is, in words, or "" if that is not known.
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

func (e *FormatError) Error() string {
	text := e.Format + ": "
	for _, part := range []string{e.File, e.Place()} {
		if part != "" {
			text += part + ": "
		}
	}
	return text + e.Err.Error() + ": " + e.Detail
}

func (e *FormatError) Unwrap() error { return e.Err }

func (e *FormatError) Is(target error) bool {
	return target == ErrMalformed && e.Err != ErrLimit
}

// A Problem is something that a check of a file finds, in all formats of this module.
type Problem struct {
	// Err says what it is and where: a [FormatError], or another error with which the reader of the
	// format gives up.
	Err error

	// Remark is set if it is unusual, but legal, and not a fault.
	Remark bool
}

// Offset returns where in the file the problem is, -1 if it has no such place.
func (p *Problem) Offset() int64 {
	if e, ok := p.Err.(*FormatError); ok {
		return e.Offset
	}
	return -1
}

// A ReadError is a failure of the file or io.ReaderAt beneath a [Reader]. It wraps Err.
type ReadError struct {
	Offset int64 // where the read began, from the start of the file
	Size   int   // how many bytes were wanted
	Err    error // what the read returned, or ErrChanged
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("afdo: read %d bytes at offset %d: %v", e.Size, e.Offset, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// A VersionError tells the version of a profile that its package does not read, or not write. It
// matches [ErrVersion].
type VersionError struct {
	Format  string // as in FormatError
	Kind    string // "gcov", "adcg" (little-endian) or "gcda" (big-endian), as GCOV files begin; "indexed" or "raw"; or ""
	Version uint64
	Detail  string // what was expected and what was found
}

func (e *VersionError) Error() string {
	return e.Format + ": " + ErrVersion.Error() + ": " + e.Detail
}

func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// An AmbiguousError lists the units that match a lookup of one. It matches [ErrAmbiguous].
type AmbiguousError struct {
	Path  string   // what was looked for
	Paths []string // paths of the units that fit, in file order
}

// maxNamed is how many of the units that fit the text of an AmbiguousError names.
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

// elsewhere names the package that reads older versions.
func elsewhere(e *v4.VersionError) string {
	if e.Magic != "gcov" && (e.Version == 2 || e.Version == 3) {
		return "; package anyprof reads both"
	}
	return ""
}

// public makes an error of the storage one of this package.
func public(err error) error {
	switch e := err.(type) {
	case *v4.Fault:
		return newSection(e.Section).ErrorAt(e.Offset, e.Class, "%s", e.Detail)
	case *v4.ReadError:
		return (*ReadError)(e)
	case *v4.VersionError:
		return &VersionError{
			Format: "afdo", Kind: e.Magic, Version: uint64(e.Version),
			Detail: fmt.Sprintf("a %q file of version %d, not a \"gcov\" file of version 4%s", e.Magic, e.Version, elsewhere(e)),
		}
	}
	return err
}
