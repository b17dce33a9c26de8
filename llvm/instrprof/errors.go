package instrprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError, beside those of package afdo.
var (
	// ErrPointer: the counters, the bitmap or the values of a raw function lie outside their
	// section.
	ErrPointer = errors.New("bad pointer")

	// ErrValues: value data is not what its own sizes say.
	ErrValues = errors.New("bad value data")

	// ErrNoCounters: a function without counters, which LLVM 22 writes for some programs: it
	// computes the summary of them from memory that is not theirs, and cannot read the text that it
	// writes. Only [Reader.Check] reports it.
	ErrNoCounters = errors.New("function without counters")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not an instrumentation profile of LLVM")

// Errors that do not say that a file is malformed.
var (
	// ErrCorrelated is returned for a raw file whose names and data records are in the debug info
	// or the binary.
	ErrCorrelated = errors.New("a correlated raw profile: its functions are described by the program, not by the file")

	// ErrNoCorrelation is matched by errors of [OpenCorrelation] about the program: it is not an
	// ELF file, or was not built for correlated profiles.
	ErrNoCorrelation = errors.New("the program does not describe its counters")

	// ErrKind is returned where a profile of the front end and one of the IR level are to be
	// merged.
	ErrKind = errors.New("profiles of different instrumentation")

	// ErrMismatch is what a merge passes on for a record that does not fit the one of the same name
	// and hash: another number of counters, of bitmap bytes or of value sites.
	ErrMismatch = errors.New("records do not fit each other")
)

// Parts of indexed and raw files, as afdo.FormatError names them.
const (
	sectionHeader      = "header"
	sectionSummary     = "summary"
	sectionCSSummary   = "context-sensitive summary"
	sectionPayload     = "payload"
	sectionHashTable   = "hash table"
	sectionMemProf     = "MemProf"
	sectionBinaryIDs   = "binary IDs"
	sectionVTableNames = "vtable names"
	sectionTraces      = "temporal traces"
	sectionData        = "data"
	sectionCounters    = "counters"
	sectionBitmap      = "bitmap"
	sectionUniform     = "uniform counters"
	sectionNames       = "names"
	sectionVTables     = "vtables"
	sectionValues      = "value data"
)

// faultAt returns the error about an offset of the file, in a part of it.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "instrprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns the error about a version that is not one of those from first to last.
func versionError(kind string, version, first, last uint32) error {
	return &fault.VersionError{
		Format: "instrprof", Kind: kind, Version: uint64(version),
		Detail: fmt.Sprintf("%s profile of version %d, not %d to %d", kind, version, first, last),
	}
}
