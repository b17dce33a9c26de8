package samples

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// ErrSyntax is the class of a [FormatError] for a text that cannot be parsed.
var ErrSyntax = errors.New("bad syntax")

// ErrUnknown is the class of a [FormatError] for an input that is something else.
var ErrUnknown = errors.New("not a recording of samples")

// ErrRange is the class of a [FormatError] where a number does not fit 64 bits.
var ErrRange = errors.New("value does not fit")

// A FormatError says what is wrong with an input and where. It matches [afdo.ErrMalformed] and its
// class under errors.Is. Errors of perf.data and perf script are those of package perfdata.
type FormatError struct {
	Format Format // what the input was read as
	Line   int    // of text, counted from 1; 0 in binary formats
	Column int    // in bytes, counted from 1; 0 in binary formats
	Offset int64  // of the offending byte, from the start of the uncompressed data
	Err    error  // the class: ErrSyntax, ErrRange, ErrUnknown, ErrCompression, afdo.ErrTruncated, ErrCount, ErrLimit or ErrSymbol
	Detail string // what was expected and what was found
}

func (e *FormatError) Error() string {
	if e.Err == ErrUnknown {
		return fmt.Sprintf("samples: %v: %s", e.Err, e.Detail)
	}
	where := fmt.Sprintf("offset %d", e.Offset)
	if e.Line > 0 {
		where = fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	}
	return fmt.Sprintf("samples: %v: at %s: %v: %s", e.Format, where, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed], which an input that only exceeds a limit is
// not.
func (e *FormatError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}
