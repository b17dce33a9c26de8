package instrprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// Classes of [FormatError], beside [afdo.ErrTruncated], [afdo.ErrCount], [afdo.ErrHeader],
// [afdo.ErrName] and [afdo.ErrLimit].
var (
	// ErrMagic: the file is no instrumentation profile of LLVM.
	ErrMagic = errors.New("not an instrumentation profile of LLVM")

	// ErrHashTable: the hash table is not one: a chain, a key or the number of entries is not where
	// or what it has to be.
	ErrHashTable = errors.New("bad hash table")

	// ErrPointer: the counters, the bitmap or the values of a raw function lie outside their
	// section.
	ErrPointer = errors.New("bad pointer")

	// ErrValues: value data is not what its own sizes say.
	ErrValues = errors.New("bad value data")

	// ErrCompressed: compressed names cannot be inflated.
	ErrCompressed = errors.New("bad compressed names")

	// ErrSyntax: a line of a text does not parse.
	ErrSyntax = errors.New("bad syntax")

	// ErrSummary: the summary does not agree with the counters. Only [Reader.Check] reports it.
	ErrSummary = errors.New("summary disagrees")

	// ErrUnused: bytes that nothing refers to. Only [Reader.Check] reports it.
	ErrUnused = errors.New("unaccounted bytes")
)

// Errors that do not say that a file is malformed.
var (
	// ErrCorrelated is returned for a raw file whose names and data records are in the debug info
	// or the binary.
	ErrCorrelated = errors.New("a correlated raw profile: its functions are described by the program, not by the file")

	// ErrKind is returned where a profile of the front end and one of the IR level are to be
	// merged.
	ErrKind = errors.New("profiles of different instrumentation")

	// ErrMismatch is what a merge passes on for a record that does not fit the one of the same name
	// and hash: another number of counters, of bitmap bytes or of value sites.
	ErrMismatch = errors.New("records do not fit each other")

	// ErrUnrepresentable is returned by writers for what the format has no room for.
	ErrUnrepresentable = errors.New("the format cannot hold it")
)

// A Section is a part of a file.
type Section string

// The sections of indexed and raw files, and the text, which has none.
const (
	SectionHeader      Section = "header"
	SectionSummary     Section = "summary"
	SectionCSSummary   Section = "context-sensitive summary"
	SectionPayload     Section = "payload"
	SectionHashTable   Section = "hash table"
	SectionMemProf     Section = "MemProf"
	SectionBinaryIDs   Section = "binary IDs"
	SectionVTableNames Section = "vtable names"
	SectionTraces      Section = "temporal traces"
	SectionData        Section = "data"
	SectionCounters    Section = "counters"
	SectionBitmap      Section = "bitmap"
	SectionNames       Section = "names"
	SectionVTables     Section = "vtables"
	SectionValues      Section = "value data"
	SectionText        Section = "text"
)

// A FormatError says what is wrong with a file and where. It matches [afdo.ErrMalformed], unless it
// is about a limit, and its class under errors.Is.
type FormatError struct {
	Section Section
	Offset  int64  // of the offending byte, from the start of the file; 0 in text
	Line    int    // in text, from 1
	Column  int    // in text, in bytes from 1
	Err     error  // the class
	Detail  string // what was expected and what was found
}

func (e *FormatError) Error() string {
	if e.Section == SectionText {
		return fmt.Sprintf("instrprof: line %d, column %d: %v: %s", e.Line, e.Column, e.Err, e.Detail)
	}
	return fmt.Sprintf("instrprof: %s at offset %d: %v: %s", e.Section, e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed].
func (e *FormatError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}

// A VersionError tells the version of a file that this package does not read. It matches
// [afdo.ErrVersion].
type VersionError struct {
	Raw     bool // a raw file, not an indexed one
	Version uint32
}

func (e *VersionError) Error() string {
	kind, first, last := "an indexed", minIndexed, maxIndexed
	if e.Raw {
		kind, first, last = "a raw", minRaw, maxRaw
	}
	return fmt.Sprintf("instrprof: %v: %s profile of version %d, not %d to %d", afdo.ErrVersion, kind, e.Version, first, last)
}

// Is reports whether target is [afdo.ErrVersion].
func (e *VersionError) Is(target error) bool { return target == afdo.ErrVersion }
