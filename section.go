package afdo

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A SectionType says what a section holds (RFC 4.2). Other types than these are legal and skipped.
type SectionType uint8

// The section types of the RFC.
const (
	SectionStringTable SectionType = wire.StringTable // 0x01: names of a unit's symbols, as a trie
	SectionSummary     SectionType = wire.SummaryInfo // 0x02: statistics of the whole profile
	SectionFileNames   SectionType = wire.FileNames   // 0x03: the units
	SectionSymbolNames SectionType = wire.SymbolNames // 0x04: symbols of a unit
	SectionSymbolInfo  SectionType = wire.SymbolInfo  // 0x05: samples of a function
)

var sectionTypeNames = [...]string{
	SectionStringTable: "string table",
	SectionSummary:     "summary",
	SectionFileNames:   "file names",
	SectionSymbolNames: "symbol names",
	SectionSymbolInfo:  "symbol info",
}

// String returns the name of the type, or "type 0x2a" for an unknown one.
func (t SectionType) String() string {
	if t == SectionIndex {
		return "index"
	}
	if int(t) < len(sectionTypeNames) && sectionTypeNames[t] != "" {
		return sectionTypeNames[t]
	}
	return "type 0x" + strconv.FormatUint(uint64(t), 16)
}

// A Section says where a section is and what it holds (RFC 4.2).
type Section struct {
	Index   int // rank by offset among all sections (format note 1)
	Type    SectionType
	Compact bool  // its integers are varints
	Offset  int64 // of its bitmask byte, from the start of the file
	Size    int64 // in bytes, from the bitmask byte to the last byte of data
}

// NumSections returns the number of sections, including summary and file names.
func (r *Reader) NumSections() int {
	t := r.table.Load()
	if t == nil {
		return 0
	}
	return t.len()
}

// Section returns the section of an index (RFC 4.1, format note 1), [ErrNotFound] if it is out of
// range. It reads one byte of the section.
func (r *Reader) Section(index int) (Section, error) {
	if r.closed() {
		return Section{}, ErrClosed
	}
	if n := r.NumSections(); index < 0 || index >= n {
		return Section{}, fmt.Errorf("afdo: section %d of %d: %w", index, n, ErrNotFound)
	}
	if t := r.table.Load(); t.sparse != nil { // no checksum will tell whether it is the right one
		if index == t.sparse.index.sec.Index {
			return t.sparse.index.sec, nil
		}
		if _, err := r.scanned(); err != nil {
			return Section{}, err
		}
	}
	e, err := r.extent(index)
	if err != nil {
		return Section{}, err
	}
	mask, err := r.src.view(e.off, 1)
	if err != nil {
		return Section{}, err
	}
	return newSection(index, e, mask[0]), nil
}

// Data returns the bytes of a section, bitmask byte included, [ErrNotFound] for an index out of
// range. They must not be changed.
func (r *Reader) Data(index int) ([]byte, error) {
	s, err := r.Section(index)
	if err != nil {
		return nil, err
	}
	f, err := r.open(index, s.Type)
	return f.Data, err
}

// Sections iterates over all sections by index. It reads one byte of each. An error ends the
// iteration.
func (r *Reader) Sections() iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		if r.closed() {
			yield(Section{}, ErrClosed)
			return
		}
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
		Type:    SectionType(bitmask & wire.SectionTypeMask),
		Compact: bitmask&wire.CompactFlag != 0,
		Offset:  e.off,
		Size:    e.size,
	}
}
