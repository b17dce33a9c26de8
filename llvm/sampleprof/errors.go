package sampleprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError, beside those of package afdo.
var (
	// ErrLine: a line offset does not fit 16 bits. LLVM's text reader lets some pass, and its
	// binary readers refuse them.
	ErrLine = errors.New("illegal line offset")

	// ErrName: an index leads beyond the names or the contexts.
	ErrName = errors.New("bad name index")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not a sample profile of LLVM")

// ErrHashed is returned if names are needed and the file has only their MD5s.
var ErrHashed = errors.New("names are known by their MD5s only")

// ErrMixed is returned for adding profiles of different kinds: context-sensitive or probe-based
// ones to others.
var ErrMixed = errors.New("profiles of different kinds")

// formatName is how errors begin.
const formatName = "sampleprof"

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", formatName, fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}
