package perfdata

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// Classes of [FormatError], beside afdo.ErrMagic, ErrHeader, ErrTruncated, ErrCount and ErrLimit.
var (
	// ErrRecord: a record is shorter than its header, or longer than what is left.
	ErrRecord = errors.New("bad record")

	// ErrEvent: a record has no event, or one that the file does not describe.
	ErrEvent = errors.New("unknown event")

	// ErrCompressed: compressed records do not decompress.
	ErrCompressed = errors.New("bad compressed data")

	// ErrSyntax: a line of perf script cannot be parsed.
	ErrSyntax = errors.New("bad syntax")
)

// A FormatError says what is wrong with a recording and where. It matches [afdo.ErrMalformed] and
// its class under errors.Is.
type FormatError struct {
	File   string // of a folder, "" elsewhere
	Offset int64  // of the offending byte, from the start; in compressed data, of the record that holds it
	Line   int    // of text, counted from 1; 0 for perf.data
	Column int    // in bytes, counted from 1; 0 for perf.data
	Err    error  // the class
	Detail string // what was expected and what was found
}

func (e *FormatError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("perf script: at line %d, column %d: %v: %s", e.Line, e.Column, e.Err, e.Detail)
	}
	if e.File != "" {
		return fmt.Sprintf("perf.data: at offset %d of %s: %v: %s", e.Offset, e.File, e.Err, e.Detail)
	}
	return fmt.Sprintf("perf.data: at offset %d: %v: %s", e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed], which a recording that only exceeds a limit is
// not.
func (e *FormatError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}

// fault returns an error about an offset.
func fault(offset int64, class error, format string, args ...any) error {
	return &FormatError{Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...)}
}
