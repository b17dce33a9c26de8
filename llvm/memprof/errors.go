package memprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError, beside those of package afdo.
var (
	// ErrOffset: an offset, an index or an ID does not lead to what it should.
	ErrOffset = errors.New("bad offset")

	// ErrSchema: the fields of a memory block are unknown or duplicate.
	ErrSchema = errors.New("bad schema")

	// ErrValue: a field has a value that is not allowed.
	ErrValue = errors.New("bad value")
)

// ErrBinary is matched by errors that say why a raw profile and a binary do not belong together.
var ErrBinary = errors.New("the binary does not fit")

// Parts of profiles, as afdo.FormatError names them.
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

// faultAt returns the error about an offset of the file, in a part of it.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "memprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns the error about a version that is not one of those known.
func versionError(version uint64, known []uint64) error {
	return &fault.VersionError{
		Format: "memprof", Version: version,
		Detail: fmt.Sprintf("version %d, not one of %s", version, strings.Trim(fmt.Sprint(known), "[]")),
	}
}

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("memprof: %w: %s", fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}
