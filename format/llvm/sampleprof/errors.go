package sampleprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// An afdo.FormatError of this package matches one of the errors of package afdo, or one of the
// following, which describe invalid fields of a profile.
var (
	// errLine: a line offset exceeds 16 bits. LLVM's text reader accepts some such offsets, but its
	// binary readers reject them.
	errLine = errors.New("illegal line offset")

	// errName: the number of a name or context is out of range.
	errName = errors.New("bad name index")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not a sample profile of LLVM")

// ErrHashed matches the error of [Reader.Slice] if the file contains only the MD5s of names.
var ErrHashed = errors.New("names are known by their MD5s only")

// ErrMixed matches the error when context-sensitive profiles are merged with others, or probe-based
// profiles with others.
var ErrMixed = errors.New("profiles of different kinds")

// formatName is the prefix of error messages.
const formatName = "sampleprof"

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", formatName, fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}
