package symbolize

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// Errors other than those for malformed files.
var (
	// ErrNoDebugInfo is returned for code of a file for which no debug info
	// was found, neither in the file nor beside it.
	ErrNoDebugInfo = errors.New("no debug info")

	// ErrMismatch is returned for a debug file that was made for another
	// build: another build ID, checksum or split-unit ID.
	ErrMismatch = errors.New("debug file of another build")

	// ErrUnsupported is returned for features of a file that this package does not read; the error
	// names them.
	ErrUnsupported = errors.New("not supported")

	// ErrClosed is returned by every method called after [File.Close].
	ErrClosed = errors.New("file is closed")
)

// Classes of [FormatError], beside [afdo.ErrTruncated], [afdo.ErrCount],
// [afdo.ErrVersion], [afdo.ErrLimit] and [afdo.ErrNotFound].
var (
	// ErrELF: the file is not an ELF file, or its headers are malformed.
	ErrELF = errors.New("bad ELF file")

	// ErrAbbrev: an entry uses an abbreviation that its unit does not have, or a malformed one.
	ErrAbbrev = errors.New("bad abbreviation")

	// ErrForm: an attribute has a form that DWARF does not define, or not for that attribute.
	ErrForm = errors.New("bad form")

	// ErrReference: an entry refers to one that is not there, or in a circle.
	ErrReference = errors.New("bad reference")

	// ErrLine: a line table is malformed.
	ErrLine = errors.New("bad line table")

	// ErrRange: a list of address ranges is malformed.
	ErrRange = errors.New("bad address ranges")

	// ErrCompressed: a section does not decompress to what its header says.
	ErrCompressed = errors.New("bad compressed section")
)

// A FormatError says what is wrong with a file and where. It matches
// [afdo.ErrMalformed] and its class under errors.Is.
type FormatError struct {
	File    string // path of the binary or debug file
	Section string // empty if the fault lies outside of sections
	Offset  int64  // from the start of the section's (decompressed) data, or of the file
	Err     error  // the class
	Detail  string // what was expected and what was found
}

func (e *FormatError) Error() string {
	where := ""
	if e.Section != "" {
		where = e.Section + " "
	}
	return fmt.Sprintf("symbolize: %s: %sat offset %d: %v: %s", e.File, where, e.Offset, e.Err, e.Detail)
}

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [afdo.ErrMalformed].
func (e *FormatError) Is(target error) bool { return target == afdo.ErrMalformed }
