package instrprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// An afdo.FormatError of this package matches one of the errors of package afdo, or one of the
// following.
var (
	// errPointer: the counters, the bitmap or the values of a raw function lie outside their
	// section.
	errPointer = errors.New("bad pointer")

	// errValues: value data does not match the sizes stored in it.
	errValues = errors.New("bad value data")

	// errNoCounters: a function has no counters. LLVM 22 writes such functions for some programs;
	// it then computes a wrong summary from memory outside the counters, and writes a text that it
	// cannot read. Only [Reader.Check] reports this.
	errNoCounters = errors.New("function without counters")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not an instrumentation profile of LLVM")

// Errors that do not concern malformed files.
var (
	// ErrCorrelated is returned for a raw file whose names and data records are in the debug info
	// or the binary, if no [Correlation] has been set.
	ErrCorrelated = errors.New("a correlated raw profile: its functions are described by the program, not by the file")

	// ErrNoCorrelation matches errors of [OpenCorrelation] if the program is no ELF file or was not
	// built for correlated profiles. It also matches the error if a dump is from another program.
	ErrNoCorrelation = errors.New("the program does not describe its counters")

	// ErrKind is returned when a front-end profile and an IR-level profile are merged. It is also
	// returned if only one of the profiles has the flag FunctionEntryOnly, and any has EntryFirst.
	ErrKind = errors.New("profiles of different instrumentation")

	// ErrMismatch is the error for a record that does not match another record of the same name and
	// hash, see [Profile.Add].
	ErrMismatch = errors.New("records do not fit each other")
)

// Parts of indexed and raw files, as named in afdo.FormatError.
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

// faultAt returns an afdo.FormatError about a file offset in the given section or other part of a
// file.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "instrprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns an error about a version outside the range from first to last.
func versionError(kind string, version, first, last uint32) error {
	return &fault.VersionError{
		Format: "instrprof", Kind: kind, Version: uint64(version),
		Detail: fmt.Sprintf("%s profile of version %d, not %d to %d", kind, version, first, last),
	}
}
