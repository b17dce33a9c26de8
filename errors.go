package afdo

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-afdo/afdo/internal/wire"
)

// Errors that do not say that a file is malformed.
var (
	// ErrNotFound is returned by lookups of what the profile does not hold.
	ErrNotFound = errors.New("not found")

	// ErrAmbiguous is returned by lookups of a unit that more than one fits. See [AmbiguousError].
	ErrAmbiguous = errors.New("ambiguous")

	// ErrClosed is returned by a method that has to read, called after [Reader.Close]. One that is
	// under way meanwhile either succeeds or returns it.
	ErrClosed = errors.New("reader is closed")

	// ErrVersion is returned for a GCOV profile of another version than 4. See [VersionError].
	ErrVersion = errors.New("unsupported profile version")

	// ErrLimit is returned where a file asks for more than the options allow.
	ErrLimit = errors.New("limit exceeded")

	// ErrChanged is returned when a mapped file is found to be truncated or written to since it was
	// opened.
	ErrChanged = errors.New("file changed while it was being read")
)

// ErrMalformed is what every [FormatError] matches. The classes below it say what kind of fault it
// is.
var ErrMalformed = errors.New("malformed profile")

// Classes of [FormatError].
var (
	// ErrMagic: the file is no GCOV profile at all.
	ErrMagic = errors.New("not a GCOV profile")

	// ErrHeader: the header or the section table makes no sense. The file may have been cut, or be
	// in a later dialect of version 4.
	ErrHeader = errors.New("bad header")

	// ErrTruncated: a field reaches past the end of its section.
	ErrTruncated = wire.ErrTruncated

	// ErrVarint: a varint does not fit the width of its field.
	ErrVarint = wire.ErrVarint

	// ErrCount: a count announces more than the rest of the section can hold.
	ErrCount = wire.ErrCount

	// ErrSection: a section index does not lead to a section of the type wanted.
	ErrSection = errors.New("bad section index")

	// ErrSymbol: a symbol ID or string index is out of range, taken twice, or leads nowhere.
	ErrSymbol = errors.New("bad symbol")

	// ErrName: a file name is not one NUL-terminated string.
	ErrName = errors.New("bad file name")

	// ErrTrie: a string table does not hold each of its strings once.
	ErrTrie = errors.New("bad string table")

	// ErrChecksum: bytes are not those that were written, as the index of the file shows.
	ErrChecksum = wire.ErrChecksum

	// ErrIndex: the index makes no sense, or does not agree with the rest of the file.
	ErrIndex = wire.ErrIndex
)

// Further classes, which checks report and readers do not.
var (
	// ErrUnused: bytes or a section that nothing refers to, or that two refer to.
	ErrUnused = errors.New("unaccounted bytes")

	// ErrMissing: the unit of symbols with unknown file is not there (RFC 4.5).
	ErrMissing = errors.New("missing unit")

	// ErrOverlong: a varint longer than its value needs.
	ErrOverlong = errors.New("over-long varint")

	// ErrSummary: the summary does not agree with the data.
	ErrSummary = errors.New("summary disagrees")
)

// HeaderSection stands for the header and the section table in [FormatError.Section].
const HeaderSection = -1

// A FormatError says what is wrong with a file and where. It matches [ErrMalformed] and its class
// under errors.Is.
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

// Unwrap returns the class.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrMalformed], which a file that only exceeds a limit is not.
func (e *FormatError) Is(target error) bool {
	return target == ErrMalformed && e.Err != ErrLimit
}

// A ReadError is a failure of the file or io.ReaderAt beneath a [Reader], not of what it holds.
type ReadError struct {
	Offset int64 // where the read began, from the start of the file
	Size   int   // how many bytes were wanted
	Err    error // what the read returned, or ErrChanged
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("afdo: read %d bytes at offset %d: %v", e.Size, e.Offset, e.Err)
}

// Unwrap returns the error of the read.
func (e *ReadError) Unwrap() error { return e.Err }

// A VersionError tells which version of the format a file is in. It matches [ErrVersion].
type VersionError struct {
	Magic   string // the first four bytes: "gcov" from version 4 on; "adcg" (little-endian) or "gcda" (big-endian) before
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("afdo: %v: a %q file of version %d, not a \"gcov\" file of version 4", ErrVersion, e.Magic, e.Version)
}

// Is reports whether target is [ErrVersion].
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// An AmbiguousError lists the units that fit a lookup that should have found one. It matches
// [ErrAmbiguous].
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

// Is reports whether target is [ErrAmbiguous].
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }
