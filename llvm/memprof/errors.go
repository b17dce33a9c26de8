package memprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-afdo/afdo"
)

// Classes of [FormatError] beside those of package afdo: afdo.ErrMagic,
// ErrTruncated, ErrCount and ErrLimit.
var (
	// ErrOffset: an offset, an index or an ID does not lead to what it should.
	ErrOffset = errors.New("bad offset")

	// ErrSchema: the fields of a memory block are unknown or duplicate.
	ErrSchema = errors.New("bad schema")

	// ErrTable: a chained hash table does not hold together.
	ErrTable = errors.New("bad hash table")

	// ErrName: strings are not where they should be, or do not unpack.
	ErrName = errors.New("bad name section")

	// ErrValue: a field has a value that is not allowed.
	ErrValue = errors.New("bad value")

	// ErrSyntax: a text is not the YAML of a memory profile.
	ErrSyntax = errors.New("bad syntax")
)

// ErrUnrepresentable is matched by errors about a profile that has something that the format to be
// written cannot hold.
var ErrUnrepresentable = errors.New("the format cannot hold it")

// ErrBinary is matched by errors that say why a raw profile and a binary do not belong together.
var ErrBinary = errors.New("the binary does not fit")

// A Part names the part of a profile that an error is about.
type Part string

// The parts of profiles.
const (
	HeaderPart     Part = "header"
	SchemaPart     Part = "schema"
	FramesPart     Part = "frames"
	CallStacksPart Part = "call stacks"
	RecordsPart    Part = "records"
	DataAccessPart Part = "data access profile"
	SegmentsPart   Part = "segments"
	BlocksPart     Part = "memory blocks"
	TextPart       Part = "text"
)

// A FormatError says what is wrong with a profile and where. It matches
// [afdo.ErrMalformed] and its class under errors.Is.
type FormatError struct {
	Section      Part   // in which part of the profile
	Offset       int64  // of the offending byte, from the start of the file
	Line, Column int    // the same place in a text, from 1; 0 if it is no text
	Err          error  // the class
	Detail       string // what was expected and what was found
}

func (e *FormatError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("memprof: line %d, column %d: %v: %s", e.Line, e.Column, e.Err, e.Detail)
	}
	return fmt.Sprintf("memprof: %s at offset %d: %v: %s", e.Section, e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed], which a profile that only exceeds a limit is
// not.
func (e *FormatError) Is(target error) bool {
	return target == afdo.ErrMalformed && e.Err != afdo.ErrLimit
}

// A VersionError tells the version of a section or of a raw profile that this
// package does not read or write. It matches [afdo.ErrVersion].
type VersionError struct {
	Version  uint64
	Versions []uint64 // those that it does
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("memprof: %v: version %d, not one of %s", afdo.ErrVersion, e.Version, strings.Trim(fmt.Sprint(e.Versions), "[]"))
}

// Is reports whether target is [afdo.ErrVersion].
func (e *VersionError) Is(target error) bool { return target == afdo.ErrVersion }

func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("memprof: %w: %s", ErrUnrepresentable, fmt.Sprintf(format, args...))
}
