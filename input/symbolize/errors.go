package symbolize

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// Errors that do not concern malformed files.
var (
	// ErrNoDebugInfo is returned for code if no debug info was found in the file or in a separate
	// debug file.
	ErrNoDebugInfo = errors.New("no debug info")

	// errOtherBuild is returned for a debug file of another build: its build ID, checksum or
	// split-unit ID differs.
	errOtherBuild = errors.New("debug file of another build")

	// ErrUnsupported is returned for features of a file that this package does not support. The
	// error names the feature.
	ErrUnsupported = errors.New("not supported")
)

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// ErrELF: the file is not an ELF file, or its headers are malformed.
	ErrELF = errors.New("bad ELF file")

	// errAbbrev: an entry uses an abbreviation that is missing or malformed.
	errAbbrev = errors.New("bad abbreviation")

	// errForm: an attribute has a form that DWARF does not define, or not for this attribute.
	errForm = errors.New("bad form")

	// errReference: an entry refers to a missing entry, or references form a cycle.
	errReference = errors.New("bad reference")

	// errLine: a line table is malformed.
	errLine = errors.New("bad line table")

	// errRange: a list of address ranges is malformed.
	errRange = errors.New("bad address ranges")
)

// faultAt returns an error about malformed data at an offset. part is the name of the section;
// offset counts in its decompressed data. If part is empty, offset counts in the file.
func faultAt(file, part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "symbolize", File: file, Section: fault.HeaderSection, Part: part, Offset: offset,
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
