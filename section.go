package afdo

import (
	"fmt"
	"iter"
	"strconv"
)

// A SectionType says what a section holds (RFC 4.2). Types other than the
// constants below are legal and skipped.
type SectionType uint8

// The section types of the RFC.
const (
	SectionStringTable SectionType = 0x01 // names of a unit's symbols, as a trie
	SectionSummary     SectionType = 0x02 // statistics of the whole profile
	SectionFileNames   SectionType = 0x03 // the units
	SectionSymbolNames SectionType = 0x04 // symbols of a unit
	SectionSymbolInfo  SectionType = 0x05 // samples of a function
)

var sectionTypeNames = [...]string{
	SectionStringTable: "string table",
	SectionSummary:     "summary",
	SectionFileNames:   "file names",
	SectionSymbolNames: "symbol names",
	SectionSymbolInfo:  "symbol info",
}

// String returns the name of the type, or "type 0x2a" for one that is not of the RFC.
func (t SectionType) String() string {
	if t == SectionIndex {
		return "index"
	}
	if int(t) < len(sectionTypeNames) && sectionTypeNames[t] != "" {
		return sectionTypeNames[t]
	}
	return "type 0x" + strconv.FormatUint(uint64(t), 16)
}

// The bitmask byte of the header and of each section.
const (
	compactFlag     = 0x80
	sectionTypeMask = 0x7f
)

func sectionBitmask(t SectionType, compact bool) byte {
	if compact {
		return byte(t) | compactFlag
	}
	return byte(t)
}

// A Section says where a section lies and what it holds (RFC 4.2).
type Section struct {
	Index   int // rank by offset among all sections (format note 1)
	Type    SectionType
	Compact bool  // its integers are varints
	Offset  int64 // of its bitmask byte, from the start of the file
	Size    int64 // in bytes, from the bitmask byte to the last byte of data
}

// errorAt returns a FormatError for the byte at pos of the section.
func (s Section) errorAt(pos int, class error, format string, args ...any) error {
	return &FormatError{
		Section: s.Index, Type: s.Type, Offset: s.Offset + int64(pos),
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// NumSections returns the number of sections, the summary and the file names section included.
func (r *Reader) NumSections() int { return r.table.Load().len() }

// Section returns the section of an index (RFC 4.1, format note 1). It reads one byte of the
// file, the section's bitmask, and the section table if that has not been read. The error is [ErrNotFound] for an index out of range.
func (r *Reader) Section(index int) (Section, error) {
	if n := r.NumSections(); index < 0 || index >= n {
		return Section{}, fmt.Errorf("afdo: section %d of %d: %w", index, n, ErrNotFound)
	}
	if r.table.Load().sparse != nil { // no checksum will tell whether it is the right one
		if _, err := r.scanned(); err != nil {
			return Section{}, err
		}
	}
	e, err := r.extent(index)
	if err != nil {
		return Section{}, err
	}
	if e.size == 0 { // only a lenient Reader has such sections
		return newSection(index, e, 0), nil
	}
	mask, err := r.src.view(e.off, 1)
	if err != nil {
		return Section{}, err
	}
	return newSection(index, e, mask[0]), nil
}

// Sections iterates over all sections by index. It reads one byte of each. An error ends the iteration.
func (r *Reader) Sections() iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		if _, err := r.scanned(); err != nil {
			yield(Section{}, err)
			return
		}
		for i := range r.NumSections() {
			s, err := r.Section(i)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func newSection(index int, e extent, bitmask byte) Section {
	return Section{
		Index:   index,
		Type:    SectionType(bitmask & sectionTypeMask),
		Compact: bitmask&compactFlag != 0,
		Offset:  e.off,
		Size:    e.size,
	}
}
