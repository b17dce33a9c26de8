package symbolize

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
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
)

// Classes of afdo.FormatError, beside those of package afdo.
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
)

// faultAt returns an error about a part of a file: an offset of the decompressed data of the
// section that part names, or of the file if that is empty.
func faultAt(file, part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "symbolize", File: file, Section: fault.HeaderSection, Part: part, Offset: offset,
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
