package afdo

import (
	"fmt"

	v4 "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A SectionType is the type of a section (RFC 4.2). Readers skip sections of unknown types.
type SectionType uint8

// The section types of the RFC.
const (
	SectionStringTable SectionType = wire.StringTable // 0x01: names of a unit's symbols, as a trie
	SectionSummary     SectionType = wire.SummaryInfo // 0x02: statistics of the whole profile
	SectionFileNames   SectionType = wire.FileNames   // 0x03: the units
	SectionSymbolNames SectionType = wire.SymbolNames // 0x04: symbols of a unit
	SectionSymbolInfo  SectionType = wire.SymbolInfo  // 0x05: samples of a function
)

// The section types of extensions (docs/reference/extensions.md).
const (
	SectionEvidence SectionType = wire.Evidence // 0x7d: counts of machine code
	SectionSources  SectionType = wire.Sources  // 0x7e: line fingerprints of the source files
	SectionIndex    SectionType = wire.Index    // 0x7f: the index
)

// String returns the name of the type, or "type 0x2a" for an unknown one.
func (t SectionType) String() string { return wire.SectionTypeName(byte(t)) }

// A Section describes a section and its place in the file (RFC 4.2).
type Section struct {
	Index   int // rank of the section by file offset (format note 1)
	Type    SectionType
	Compact bool  // the integers of the section are varints
	Offset  int64 // file offset of the bitmask byte
	Size    int64 // in bytes, including the bitmask byte
}

func newSection(s v4.Section) Section {
	return Section{Index: s.Index, Type: SectionType(s.Type), Compact: s.Compact, Offset: s.Offset, Size: s.Size}
}

// ErrorAt returns an error about the byte at a file offset in this section. It is for code that
// checks sections more closely than a Reader does.
func (s Section) ErrorAt(offset int64, class error, format string, args ...any) *FormatError {
	return v4.Section{Index: s.Index, Type: byte(s.Type)}.ErrorAt(offset, class, fmt.Sprintf(format, args...))
}
