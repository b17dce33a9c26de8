package instrprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// A Format is a file format of instrumentation profiles.
type Format uint8

// The formats.
const (
	FormatNone    Format = iota // none of these formats
	FormatIndexed               // .profdata
	FormatRaw                   // .profraw
	FormatText                  // .proftext
)

// detectSize is the number of bytes that Detect needs.
const detectSize = 512

// Detect determines the format of a file from its first 512 bytes. A text is recognised by its
// header lines, or by a name followed by two numbers.
func Detect(head []byte) Format {
	if bytes.HasPrefix(head, []byte(Magic)) {
		return FormatIndexed
	}
	if _, _, ok := rawMagic(head); ok {
		return FormatRaw
	}
	if looksLikeText(head) {
		return FormatText
	}
	return FormatNone
}

func looksLikeText(head []byte) bool {
	var lines []string
	for line := range strings.Lines(string(head)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
		if len(lines) == 3 {
			break
		}
	}
	if len(lines) > 0 && lines[0][0] == ':' {
		_, err := newTextReader(strings.NewReader(lines[0]))
		return err == nil || errors.Is(err, fault.ErrTruncated) // a line announces traces, which head may cut off
	}
	return len(lines) == 3 && isNumber(lines[1], 0) && isNumber(lines[2], 10)
}

func isNumber(s string, base int) bool {
	_, err := strconv.ParseUint(s, base, 64)
	return err == nil
}

// readHead reads the first bytes of a file, enough to detect its format.
func readHead(r io.Reader) ([]byte, error) {
	var head []byte
	for size := detectSize; ; size *= 2 {
		more := make([]byte, size-len(head))
		n, err := io.ReadFull(r, more)
		head = append(head, more[:n]...)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return head, nil
		}
		if err != nil || Detect(head) != FormatNone || !lines.Undecided(head) {
			return head, err
		}
	}
}

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// ErrPointer: the counters, the bitmap or the values of a raw function lie outside their
	// section.
	ErrPointer = errors.New("bad pointer")

	// ErrValues: value data does not match the sizes stored in it.
	ErrValues = errors.New("bad value data")

	// errNoCounters: a function has no counters. LLVM 22 writes such functions for some programs;
	// it then computes a wrong summary from memory outside the counters, and writes a text that it
	// cannot read. Only [Reader.Check] reports this.
	errNoCounters = errors.New("function without counters")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not an instrumentation profile of LLVM")

// Errors that do not concern malformed files.
var (
	// ErrCorrelated is returned for a raw file whose names and data records are in the debug info
	// or the binary, if no [Correlation] has been set.
	ErrCorrelated = errors.New("a correlated raw profile: its functions are described by the program, not by the file")

	// ErrNoCorrelation matches errors of [OpenCorrelation] if the program is no ELF file or was not
	// built for correlated profiles. It also matches the error if a dump is from another program.
	ErrNoCorrelation = errors.New("the program does not describe its counters")

	// ErrKind is returned when a front-end profile and an IR-level profile are merged. It is also
	// returned if only one of the profiles has the flag FunctionEntryOnly, and any has EntryFirst.
	ErrKind = errors.New("profiles of different instrumentation")

	// ErrMismatch is the error for a record that does not match another record of the same name and
	// hash, see [Profile.Add].
	ErrMismatch = errors.New("records do not fit each other")
)

// ErrHashTable is the class of an afdo.FormatError about the hash table of an indexed file.
var ErrHashTable = fault.ErrHashTable

// Parts of indexed and raw files, as named in afdo.FormatError.
const (
	sectionHeader      = "header"
	sectionSummary     = "summary"
	sectionCSSummary   = "context-sensitive summary"
	sectionPayload     = "payload"
	sectionHashTable   = "hash table"
	sectionMemProf     = "MemProf"
	sectionBinaryIDs   = "binary IDs"
	sectionVTableNames = "vtable names"
	sectionTraces      = "temporal traces"
	sectionData        = "data"
	sectionCounters    = "counters"
	sectionBitmap      = "bitmap"
	sectionUniform     = "uniform counters"
	sectionNames       = "names"
	sectionVTables     = "vtables"
	sectionValues      = "value data"
)

// faultAt returns an error about a file offset in the given part.
func faultAt(part string, offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "instrprof", Section: fault.HeaderSection, Part: part, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns an error about a version outside the range from first to last.
func versionError(kind string, version, first, last uint32) error {
	return &fault.VersionError{
		Format: "instrprof", Kind: kind, Version: uint64(version),
		Detail: fmt.Sprintf("%s profile of version %d, not %d to %d", kind, version, first, last),
	}
}
