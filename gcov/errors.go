package gcov

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// ErrLayout is the class of an afdo.FormatError if a tag, a type or the end of the file is not
// where the format requires it.
var ErrLayout = errors.New("bad layout")

// faultAt returns an error about a file offset.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "gcov", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns the error for a profile that has neither version 2 nor 3.
func versionError(kind string, version uint32) *fault.VersionError {
	detail := fmt.Sprintf("this is a version %d profile, not version 2 or 3", version)
	if version == version4 {
		detail += "; package afdo reads that"
	}
	return &fault.VersionError{Format: "gcov", Kind: kind, Version: uint64(version), Detail: detail}
}
