package v4

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Fault describes a fault of a file and its place.
type Fault struct {
	Section Section
	Offset  int64 // of the offending byte, from the start of the file
	Class   error
	Detail  string
}

func (e *Fault) Error() string {
	return fmt.Sprintf("section %d at offset %d: %v: %s", e.Section.Index, e.Offset, e.Class, e.Detail)
}

// Unwrap returns the class.
func (e *Fault) Unwrap() error { return e.Class }

// isChecksum reports whether an error is about a wrong checksum.
func isChecksum(err error) bool {
	e, ok := err.(*Fault)
	return ok && e.Class == fault.ErrChecksum
}

// A VersionError is the error for a file that does not have version 4.
type VersionError struct {
	Magic   string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("a %q file of version %d", e.Magic, e.Version)
}
