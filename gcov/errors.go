package gcov

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// ErrLayout is the class of a [FormatError] where a tag, a type or the end of
// the file is not where it is due.
var ErrLayout = errors.New("bad layout")

// ErrUnrepresentable is what the errors of [Write] match that are about the
// profile: it holds something for which the format has no room.
var ErrUnrepresentable = errors.New("the format cannot hold it")

// A FormatError says what is wrong with a file and where. It matches
// [afdo.ErrMalformed] and its class under errors.Is.
type FormatError struct {
	Offset int64  // of the offending field, from the start of the data
	Err    error  // the class: afdo.ErrMagic, ErrTruncated, ErrCount, ErrName or ErrSymbol, or ErrLayout
	Detail string // what was expected and what was found
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("gcov: at offset %d: %v: %s", e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed].
func (e *FormatError) Is(target error) bool { return target == afdo.ErrMalformed }

// A VersionError tells the version of a profile that is neither 2 nor 3. It
// matches [afdo.ErrVersion].
type VersionError struct {
	Version uint32
}

func (e *VersionError) Error() string {
	hint := ""
	if e.Version == version4 {
		hint = "; package afdo reads that"
	}
	return fmt.Sprintf("gcov: %v: this is a version %d profile, not version 2 or 3%s", afdo.ErrVersion, e.Version, hint)
}

// Is reports whether target is [afdo.ErrVersion].
func (e *VersionError) Is(target error) bool { return target == afdo.ErrVersion }
