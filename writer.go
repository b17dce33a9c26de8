package afdo

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// A Writer assembles the sections of a version 4 file (RFC 4.1, 4.2). Sections
// stand in the file in the order in which they are begun, so the index of a
// section (format note 1) is known from the start. What the sections hold is
// the caller's business; package builder fills them from a whole profile.
//
// A Writer keeps the encoded sections in memory: the size of the file and some
// bytes a section. It is not safe for concurrent use.
type Writer struct {
	compact  bool // header and section table
	section  bool // current section
	data     []byte
	sections []writtenSection
}

type writtenSection struct {
	t     SectionType
	start int // in data; the next section's start ends it
}

// NewWriter returns a writer of an empty file; compact speaks for the header
// and the section table alone (format note 4).
func NewWriter(compact bool) *Writer {
	return &Writer{compact: compact}
}

// Begin starts the next section and returns its index; what came before is
// complete. The section's fields follow through the Put methods.
func (w *Writer) Begin(t SectionType, compact bool) (index uint32) {
	w.sections = append(w.sections, writtenSection{t, len(w.data)})
	w.section = compact
	w.data = append(w.data, sectionBitmask(t, compact))
	return uint32(len(w.sections) - 1)
}

// takeBack removes the last section.
func (w *Writer) takeBack() {
	last := len(w.sections) - 1
	w.data, w.sections = w.data[:w.sections[last].start], w.sections[:last]
}

// PutByte appends a one-byte field, the same in either mode.
func (w *Writer) PutByte(v byte) { w.data = append(w.data, v) }

// PutUint16 appends a field that is two bytes wide in normal mode.
func (w *Writer) PutUint16(v uint16) { w.data = appendUint(w.data, w.section, 2, uint64(v)) }

// PutUint24 appends a field that is three bytes wide in normal mode. The value must fit.
func (w *Writer) PutUint24(v uint32) { w.data = appendUint(w.data, w.section, 3, uint64(v)) }

// PutUint32 appends a field that is four bytes wide in normal mode.
func (w *Writer) PutUint32(v uint32) { w.data = appendUint(w.data, w.section, 4, uint64(v)) }

// PutUint64 appends a field that is eight bytes wide in normal mode.
func (w *Writer) PutUint64(v uint64) { w.data = appendUint(w.data, w.section, 8, v) }

// PutBytes appends bytes as they are.
func (w *Writer) PutBytes(b []byte) { w.data = append(w.data, b...) }

// PutString appends the bytes of a string as they are.
func (w *Writer) PutString(s string) { w.data = append(w.data, s...) }

// Len returns the size of the current section so far, its bitmask byte included.
func (w *Writer) Len() int { return len(w.data) - w.sections[len(w.sections)-1].start }

// WriteTo writes the file: header, section table, sections. It refuses a file
// that has not exactly one summary and one file names section.
func (w *Writer) WriteTo(dst io.Writer) (int64, error) {
	header, err := w.header()
	if err != nil {
		return 0, err
	}
	n, err := dst.Write(header)
	if err != nil {
		return int64(n), err
	}
	m, err := dst.Write(w.data)
	return int64(n) + int64(m), err
}

// header encodes header and section table. Offsets count from the start of the
// file and, as varints, grow with the header before them: it is encoded for a
// guess of its own length until that holds (format note 3). The guess only
// ever grows, so the loop ends.
func (w *Writer) header() ([]byte, error) {
	summary, err := w.only(SectionSummary)
	if err != nil {
		return nil, err
	}
	names, err := w.only(SectionFileNames)
	if err != nil {
		return nil, err
	}
	if uint64(len(w.sections)) > math.MaxUint32 {
		return nil, fmt.Errorf("afdo: %d sections: %w", len(w.sections), ErrLimit)
	}
	var header []byte
	for length := -1; length != len(header); {
		length = len(header)
		header = w.appendHeader(header[:0], length, summary, names)
	}
	return header, nil
}

func (w *Writer) appendHeader(dst []byte, length, summary, names int) []byte {
	dst = append(dst, magic...)
	dst = appendUint(dst, false, 4, Version)
	dst = append(dst, sectionBitmask(0, w.compact))
	dst = appendUint(dst, w.compact, 7, uint64(len(w.sections)-2))
	place := func(i int) {
		start, end := w.sections[i].start, len(w.data)
		if i+1 < len(w.sections) {
			end = w.sections[i+1].start
		}
		dst = appendUint(dst, w.compact, 8, uint64(length+start))
		dst = appendUint(dst, w.compact, 8, uint64(end-start))
	}
	place(summary)
	place(names)
	for i := range w.sections {
		if i != summary && i != names {
			place(i)
		}
	}
	return dst
}

// only returns the index of the one section of a type.
func (w *Writer) only(t SectionType) (int, error) {
	found := -1
	for i, s := range w.sections {
		if s.t != t {
			continue
		}
		if found >= 0 {
			return 0, errors.New("afdo: more than one " + t.String() + " section to write")
		}
		found = i
	}
	if found < 0 {
		return 0, errors.New("afdo: no " + t.String() + " section to write")
	}
	return found, nil
}
