package v4

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Fault is an error in a file, with its position.
type Fault struct {
	Section Section
	Offset  int64 // file offset of the byte at fault
	Class   error
	Detail  string
}

func (e *Fault) Error() string {
	return fmt.Sprintf("section %d at offset %d: %v: %s", e.Section.Index, e.Offset, e.Class, e.Detail)
}

// Unwrap returns the class.
func (e *Fault) Unwrap() error { return e.Class }

// isChecksum reports whether an error is a checksum mismatch.
func isChecksum(err error) bool {
	e, ok := err.(*Fault)
	return ok && e.Class == fault.ErrChecksum
}

// A VersionError is the error for a file whose version is not 4.
type VersionError struct {
	Magic   string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("a %q file of version %d", e.Magic, e.Version)
}
