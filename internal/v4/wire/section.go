package wire

import "strconv"

// The types of sections (RFC 4.2), and the types of the sources and the index, which are extensions
// of this project (docs/extensions.md).
const (
	StringTable = 0x01
	SummaryInfo = 0x02
	FileNames   = 0x03
	SymbolNames = 0x04
	SymbolInfo  = 0x05
	Sources     = 0x7e
	Index       = 0x7f
)

// The bitmask byte of the header and of each section.
const (
	CompactFlag     = 0x80
	SectionTypeMask = 0x7f
)

// SectionBitmask returns the first byte of a section.
func SectionBitmask(t byte, compact bool) byte {
	if compact {
		return t | CompactFlag
	}
	return t
}

var sectionTypeNames = [...]string{
	StringTable: "string table",
	SummaryInfo: "summary",
	FileNames:   "file names",
	SymbolNames: "symbol names",
	SymbolInfo:  "symbol info",
	Sources:     "sources",
	Index:       "index",
}

// SectionTypeName returns the name of a section type, or "type 0x2a" for an unknown one.
func SectionTypeName(t byte) string {
	if int(t) < len(sectionTypeNames) && sectionTypeNames[t] != "" {
		return sectionTypeNames[t]
	}
	return "type 0x" + strconv.FormatUint(uint64(t), 16)
}
