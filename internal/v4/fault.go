package v4

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Errors that package afdo exports, beside those of package wire. It documents them.
var (
	ErrNotFound = errors.New("not found")
	ErrClosed   = errors.New("reader is closed")
	ErrChanged  = errors.New("file changed while it was being read")

	// Classes of faults.
	ErrMagic   = errors.New("not a GCOV profile")
	ErrHeader  = errors.New("bad header")
	ErrSection = errors.New("bad section index")
	ErrSymbol  = errors.New("bad symbol")
	ErrName    = errors.New("bad file name")
)

// A Fault says what is wrong with a file and where.
type Fault struct {
	Section Section // that it is in
	Offset  int64   // of the offending byte, from the start of the file
	Class   error
	Detail  string
}

func (e *Fault) Error() string {
	return fmt.Sprintf("section %d at offset %d: %v: %s", e.Section.Index, e.Offset, e.Class, e.Detail)
}

// Unwrap returns the class.
func (e *Fault) Unwrap() error { return e.Class }

// isChecksum reports whether an error is a fault of a checksum.
func isChecksum(err error) bool {
	e, ok := err.(*Fault)
	return ok && e.Class == wire.ErrChecksum
}

// A ReadError is a failure of what a file is read from.
type ReadError struct {
	Offset int64
	Size   int
	Err    error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("read %d bytes at offset %d: %v", e.Size, e.Offset, e.Err)
}

// Unwrap returns what the read returned.
func (e *ReadError) Unwrap() error { return e.Err }

// A VersionError tells the version of a file that is not of version 4.
type VersionError struct {
	Magic   string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("a %q file of version %d", e.Magic, e.Version)
}
