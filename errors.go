package afdo

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Errors other than those of the format.
var (
	ErrNotFound  = v4.ErrNotFound                            // the profile does not hold what was looked for
	ErrAmbiguous = errors.New("ambiguous")                   // several units match, see AmbiguousError
	ErrClosed    = v4.ErrClosed                              // a method has to read after Reader.Close
	ErrVersion   = errors.New("unsupported profile version") // a GCOV profile not of version 4, see VersionError
	ErrLimit     = wire.ErrLimit                             // a file asks for more than the options allow
	ErrChanged   = v4.ErrChanged                             // a mapped file was truncated or written to
)

// ErrMalformed is matched by every [FormatError] except those of class [ErrLimit].
var ErrMalformed = errors.New("malformed profile")

// Classes of [FormatError].
var (
	ErrMagic     = v4.ErrMagic       // the file is not a GCOV profile
	ErrHeader    = v4.ErrHeader      // header or section table; the file may be cut, or in another dialect
	ErrTruncated = wire.ErrTruncated // a field reaches past the end of its section
	ErrVarint    = wire.ErrVarint    // a varint exceeds the width of its field
	ErrCount     = wire.ErrCount     // a count exceeds what the rest of the section can hold
	ErrSection   = v4.ErrSection     // an index out of range, or of a section of another type
	ErrSymbol    = v4.ErrSymbol      // a symbol ID or string index out of range, or duplicate
	ErrName      = v4.ErrName        // a file name that is not one NUL-terminated string
	ErrTrie      = wire.ErrTrie      // not a trie that holds each of its strings once
	ErrChecksum  = wire.ErrChecksum  // bytes do not match the checksum in the index of the file
	ErrIndex     = wire.ErrIndex     // the index is malformed, or disagrees with the rest of the file
)

// Classes of [FormatError] that only package check reports.
var (
	ErrUnused   = errors.New("unaccounted bytes") // bytes or a section that nothing refers to, or that several refer to
	ErrMissing  = errors.New("missing unit")      // there is no unit of symbols with unknown file (RFC 4.5)
	ErrOverlong = errors.New("over-long varint")  // a varint longer than its value needs
	ErrSummary  = errors.New("summary disagrees") // the summary does not agree with the data
)

// HeaderSection stands for the header and the section table in [FormatError.Section].
const HeaderSection = v4.HeaderSection // -1

// A FormatError says what is wrong with a file and where. Under errors.Is it matches its class and,
// unless that is [ErrLimit], [ErrMalformed].
type FormatError struct {
	Section int         // section index by file order, or HeaderSection
	Type    SectionType // type of that section, 0 for HeaderSection
	Offset  int64       // of the offending byte, from the start of the file
	Err     error       // the class, such as ErrCount, or ErrLimit
	Detail  string      // what was expected and what was found
}

func (e *FormatError) Error() string {
	where := "header"
	if e.Section != HeaderSection {
		where = "section " + strconv.Itoa(e.Section) + " (" + e.Type.String() + ")"
	}
	return fmt.Sprintf("afdo: %s at offset %d: %v: %s", where, e.Offset, e.Err, e.Detail)
}

func (e *FormatError) Unwrap() error { return e.Err }

func (e *FormatError) Is(target error) bool {
	return target == ErrMalformed && e.Err != ErrLimit
}

// A ReadError is a failure of the file or io.ReaderAt beneath a [Reader]. It wraps Err.
type ReadError struct {
	Offset int64 // where the read began, from the start of the file
	Size   int   // how many bytes were wanted
	Err    error // what the read returned, or ErrChanged
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("afdo: read %d bytes at offset %d: %v", e.Size, e.Offset, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// A VersionError tells the version of a file that is not of version 4. It matches [ErrVersion].
type VersionError struct {
	Magic   string // the first four bytes: "gcov" from version 4 on; "adcg" (little-endian) or "gcda" (big-endian) before
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("afdo: %v: a %q file of version %d, not a \"gcov\" file of version 4", ErrVersion, e.Magic, e.Version)
}

func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// An AmbiguousError lists the units that match a lookup of one. It matches [ErrAmbiguous].
type AmbiguousError struct {
	Path  string   // what was looked for
	Paths []string // paths of the units that fit, in file order
}

// maxNamed is how many of the units that fit the text of an AmbiguousError names.
const maxNamed = 5

func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("afdo: unit %.200q: %v: %d units fit: ", e.Path, ErrAmbiguous, len(e.Paths))
	for i, path := range e.Paths {
		if i == maxNamed {
			return text + ", ..."
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.200q", path)
	}
	return text
}

func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// public makes an error of the storage one of this package.
func public(err error) error {
	switch e := err.(type) {
	case *v4.Fault:
		return &FormatError{
			Section: e.Section.Index, Type: SectionType(e.Section.Type), Offset: e.Offset, Err: e.Class, Detail: e.Detail,
		}
	case *v4.ReadError:
		return (*ReadError)(e)
	case *v4.VersionError:
		return (*VersionError)(e)
	}
	return err
}
