// Package naive is a second, slow and simple implementation of the formats, against which tests
// check the rest of the module. It is written from the RFC and imports nothing of the module, so
// that the two do not share mistakes. It reads whole files into slices and maps, recurses where the
// format does, and is never linked into a program.
package naive

import (
	"errors"
	"fmt"
)

// Section types (RFC 4.2).
const (
	StringTable = 0x01
	SummaryInfo = 0x02
	FileNames   = 0x03
	SymbolNames = 0x04
	SymbolInfo  = 0x05
)

// Location types (RFC 4.8.2).
const (
	Zero      = 0x01
	Normal    = 0x02
	Wide      = 0x03
	CalledFn  = 0x04
	CalledFns = 0x05
	InlinedFn = 0x06
)

// NoInfo is the SYMBOL_INFO_SECTION_INDEX of a symbol without info (RFC 4.6).
const NoInfo = 0xFFFFFFFF

// A File is the whole contents of a version 4 file. Slices without elements are nil, so that files
// can be compared with reflect.DeepEqual.
type File struct {
	Version  uint32
	Compact  bool      // the header's flag
	Sections []Section // by section index, which means ascending offsets (format note 1)
	Summary  Summary
	Units    []Unit // in the order of the file names section
}

// A Section is a section of a file.
type Section struct {
	Type    uint8 // any value below 0x80, including unknown types
	Compact bool
	Offset  int64
	Size    int64

	// Trailing is the number of bytes after the section's data (format note 7). It is 0 for
	// unreferenced sections and unknown types.
	Trailing int64
}

// A Summary is the summary section (RFC 4.4).
type Summary struct {
	TotalCount, MaxCount, MaxFnCount, NumCounts, NumFunctions uint64

	Entries []Entry
}

// An Entry is a detailed entry of the summary.
type Entry struct {
	Cutoff              uint32
	MinCount, NumCounts uint64
}

// A Unit is an entry of the file names section (RFC 4.5) with its two sections.
type Unit struct {
	Path               string // without the terminating NUL
	StringTableSection uint32
	SymbolNamesSection uint32
	Start, End         uint32
	Strings            []string // by string index, including unused strings
	Symbols            []Symbol // in the order of the rows
}

// A Symbol is a row of a symbol names section (RFC 4.6) with its symbol info (RFC 4.7).
type Symbol struct {
	ID          uint32
	Name        string
	StringIndex uint32
	InfoSection uint32 // NoInfo if there is none

	HasInfo         bool
	Head, Timestamp uint64
	NumLocations    uint32 // as stored, including records of unknown type
	Locations       []Location
	Skipped         int // records of unknown type, at any depth (format note 16)
}

// A Location is a location record of a known type (RFC 4.8).
type Location struct {
	Type         uint8
	Line, Disc   uint32
	Count        uint64     // Normal and Wide
	Callee       uint32     // InlinedFn: the inlined symbol
	Targets      []Target   // CalledFn, which has one, and CalledFns
	NumLocations uint32     // InlinedFn, as stored, including records of unknown type
	Locations    []Location // InlinedFn
}

// A Target is a call target.
type Target struct {
	Callee uint32
	Count  uint64
}

// [Decode] and [DecodeV3] return an *[Error] that wraps one of these.
var (
	// ErrMalformed means that the file violates the format.
	ErrMalformed = errors.New("malformed")
	// ErrLimit means that the file may be valid, but exceeds a limit of this package: MaxDepth or
	// MaxNames.
	ErrLimit = errors.New("over the limit")
)

const (
	// MaxDepth is the maximum depth of bodies and tries.
	MaxDepth = 10_000
	// MaxNames is the maximum total length of the strings in all string tables, in bytes.
	MaxNames = 1 << 28
)

// An Error describes where decoding stopped.
type Error struct {
	Kind    error // ErrMalformed or ErrLimit
	Section int   // section index; -1 for the header, and for all of versions 2 and 3
	Offset  int64 // in the file
	Text    string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: section %d, offset %d: %s", e.Kind, e.Section, e.Offset, e.Text)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
