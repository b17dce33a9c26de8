package memprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// errOffset: an offset, an index or an ID is out of range or leads to the wrong data.
	errOffset = errors.New("bad offset")

	// errSchema: the schema has unknown or duplicate fields.
	errSchema = errors.New("bad schema")

	// errValue: a field has an invalid value.
	errValue = errors.New("bad value")
)

// ErrBinary matches errors that explain why a raw profile and a binary do not belong together.
var ErrBinary = errors.New("the binary does not fit")

// Parts of a profile, as named in afdo.FormatError.
const (
	partHeader     = "header"
	partSchema     = "schema"
	partFrames     = "frames"
	partCallStacks = "call stacks"
	partRecords    = "records"
	partDataAccess = "data access profile"
	partSegments   = "segments"
	partBlocks     = "memory blocks"
)

// faultAt returns an afdo.FormatError about a file offset in the given section or other part of a
// file.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "memprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns an error about a version that is not in known.
func versionError(version uint64, known []uint64) error {
	return &fault.VersionError{
		Format: "memprof", Version: version,
		Detail: fmt.Sprintf("version %d, not one of %s", version, strings.Trim(fmt.Sprint(known), "[]")),
	}
}

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("memprof: %w: %s", fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}
