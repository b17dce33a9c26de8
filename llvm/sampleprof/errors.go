package sampleprof

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// Classes of [FormatError] and [SyntaxError], beside those of package afdo.
var (
	// ErrMagic: the file is no sample profile of LLVM.
	ErrMagic = errors.New("not a sample profile of LLVM")

	// ErrLine: a line offset does not fit 16 bits. LLVM's text reader lets some pass, and its
	// binary readers refuse them.
	ErrLine = errors.New("illegal line offset")

	// ErrName: an index leads beyond the names or the contexts.
	ErrName = errors.New("bad name index")

	// ErrInflate: the zlib stream of a compressed section is broken.
	ErrInflate = errors.New("bad zlib stream")

	// ErrSyntax: a line of text cannot be parsed.
	ErrSyntax = errors.New("bad line")

	// ErrOverflow: sums in a text exceed 64 bits.
	ErrOverflow = errors.New("counter overflow")
)

// ErrUnrepresentable is matched by errors about a profile that has something that the format to be
// written cannot hold.
var ErrUnrepresentable = errors.New("the format cannot hold it")

// ErrHashed is returned if names are needed and the file has only their MD5s.
var ErrHashed = errors.New("names are known by their MD5s only")

// HeaderSection stands for the header and the section table in [FormatError.Section].
const HeaderSection = -1

// A FormatError says what is wrong with a binary file and where. It matches [afdo.ErrMalformed] and
// its class under errors.Is.
type FormatError struct {
	Section  int         // number of the section in the table, or HeaderSection
	Type     SectionType // of that section
	Offset   int64       // of the offending field, from the start of the file, or of the section if Inflated
	Inflated bool        // the section is compressed, and Offset counts its raw bytes
	Err      error       // the class: one of this package, or afdo.ErrHeader, ErrTruncated, ErrVarint, ErrCount, ErrSection, ErrUnused or ErrLimit
	Detail   string      // what was expected and what was found
}

func (e *FormatError) Error() string {
	where := "header"
	if e.Section != HeaderSection {
		where = fmt.Sprintf("section %d (%s)", e.Section, e.Type)
	}
	if e.Inflated {
		where += ", decompressed,"
	}
	return fmt.Sprintf("sampleprof: %s at offset %d: %v: %s", where, e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed], which a file that only exceeds a limit is not.
func (e *FormatError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}

// A SyntaxError says what is wrong with a text and where. It matches [afdo.ErrMalformed] and its
// class under errors.Is.
type SyntaxError struct {
	Line   int    // counted from 1
	Column int    // in bytes, counted from 1
	Err    error  // the class: ErrSyntax, ErrLine, ErrOverflow, ErrMagic, or afdo.ErrLimit
	Detail string // what was expected and what was found
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("sampleprof: line %d, column %d: %v: %s", e.Line, e.Column, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed].
func (e *SyntaxError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}

// A VersionError tells the version of a profile that is not [Version]. It matches
// [afdo.ErrVersion].
type VersionError struct {
	Version uint64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("sampleprof: %v: %d, not %d", afdo.ErrVersion, e.Version, Version)
}

// Is reports whether target is [afdo.ErrVersion].
func (e *VersionError) Is(target error) bool { return target == afdo.ErrVersion }

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("sampleprof: %w: %s", ErrUnrepresentable, fmt.Sprintf(format, args...))
}
