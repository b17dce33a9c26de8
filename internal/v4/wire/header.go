package wire

import (
	"encoding/binary"
	"strconv"
)

// The fields of a header that are never varints (RFC 4.1).
const (
	Magic      = "gcov"
	Version    = 4
	FixedWidth = 8 // size of magic and version
)

// HeaderPrefix is the maximum size in bytes of all fields before the section table and its first
// entry.
const HeaderPrefix = FixedWidth + 1 + 7*MaxVarintLen

// A Place is the position of a section, as stored in the header and the section table.
type Place struct{ Offset, Size uint64 }

// Place decodes a place.
func (f *Fields) Place() Place { return Place{f.Uint64(), f.Uint64()} }

// Place encodes a place.
func (e *Encoder) Place(p Place) {
	e.Uint64(p.Offset)
	e.Uint64(p.Size)
}

// PlaceSize returns the size of a place in normal mode, or the minimum size in compact mode.
func PlaceSize(compact bool) int {
	if compact {
		return 2
	}
	return 16
}

// Header returns a decoder positioned after magic and version, at the number of sections, which
// takes seven bytes in normal mode. The places of summary, file names and all other sections
// follow.
func Header(data []byte) Fields {
	h := Fields{Data: data, Pos: FixedWidth}
	h.Compact = h.Byte()&CompactFlag != 0
	return h
}

// Header encodes the header up to the places.
func (e *Encoder) Header(sections uint64) {
	e.String(Magic)
	e.Data = binary.BigEndian.AppendUint32(e.Data, Version)
	e.Byte(SectionBitmask(0, e.Compact))
	e.Uint(7, sections)
}

// Head encodes the header and section table of a file. sizes are the sizes of all sections,
// including their bitmask bytes, in the order in which they follow the table. summary and names are
// the indexes of two of them. Offsets count from the start of the file, so as varints they depend
// on the size of the header and table. Head guesses this size and repeats until it is consistent
// (format note 3). The guess only grows, so the loop ends.
func Head(compact bool, sizes []uint64, summary, names int) []byte {
	e := Encoder{Compact: compact}
	for length := -1; length != len(e.Data); {
		length = len(e.Data)
		e.Data = e.Data[:0]
		e.head(sizes, uint64(length), summary, names)
	}
	return e.Data
}

// head does the work of [Head] for sections that begin at offset.
func (e *Encoder) head(sizes []uint64, offset uint64, summary, names int) {
	var first [2]Place
	at := offset
	for i, size := range sizes {
		switch i {
		case summary:
			first[0] = Place{at, size}
		case names:
			first[1] = Place{at, size}
		}
		at += size
	}
	e.Header(uint64(len(sizes) - len(first)))
	e.Place(first[0])
	e.Place(first[1])
	for i, size := range sizes {
		if i != summary && i != names {
			e.Place(Place{offset, size})
		}
		offset += size
	}
}

// The types of sections (RFC 4.2), and the types of this project's extensions
// (docs/reference/extensions.md).
const (
	StringTable = 0x01
	SummaryInfo = 0x02
	FileNames   = 0x03
	SymbolNames = 0x04
	SymbolInfo  = 0x05
	Evidence    = 0x7d
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
	Evidence:    "evidence",
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

// A Summary is a summary section (RFC 4.4).
type Summary struct {
	TotalCount, MaxCount, MaxFunctionCount, NumCounts, NumFunctions uint64
	Entries                                                         []SummaryEntry
}

// A SummaryEntry is a detailed entry of a summary.
type SummaryEntry struct {
	Cutoff              uint32
	MinCount, NumCounts uint64
}

// Summary decodes a summary.
func (f *Fields) Summary() *Summary {
	s := &Summary{f.Uint64(), f.Uint64(), f.Uint64(), f.Uint64(), f.Uint64(), nil}
	n := f.Count(f.Uint64(), 4+8+8, 3, "detailed entries")
	if n > 0 {
		s.Entries = make([]SummaryEntry, n)
	}
	for i := range s.Entries {
		s.Entries[i] = SummaryEntry{f.Uint32(), f.Uint64(), f.Uint64()}
	}
	return s
}

// Summary encodes a summary.
func (e *Encoder) Summary(s *Summary) {
	for _, v := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		e.Uint64(v)
	}
	for _, entry := range s.Entries {
		e.Uint32(entry.Cutoff)
		e.Uint64(entry.MinCount)
		e.Uint64(entry.NumCounts)
	}
}
