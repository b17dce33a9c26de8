package afdo

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo/internal/wire"
)

// A Writer puts sections together to a version 4 file (RFC 4.1, 4.2). What a section holds is the
// caller's business; package builder fills the sections of a whole profile.
//
// A Writer keeps the sections in memory: the size of the file and some bytes a section. It is not
// safe for concurrent use.
type Writer struct {
	compact  bool // header and section table
	data     []byte
	sections []writtenSection
}

type writtenSection struct {
	t     SectionType
	start int // in data; the next section's start ends it
}

// NewWriter returns a writer of an empty file; compact speaks for the header and the section table
// alone (format note 4).
func NewWriter(compact bool) *Writer {
	return &Writer{compact: compact}
}

// Add adds a section with some data, of which it keeps a copy, and returns its index. Sections
// stand in the file in the order in which they are added, so the first one has index 0, and so on
// (format note 1). The section's bitmask byte is not part of the data; compact says that the
// integers of the data are varints.
func (w *Writer) Add(t SectionType, compact bool, data []byte) (index uint32) {
	w.sections = append(w.sections, writtenSection{t, len(w.data)})
	w.data = append(w.data, wire.SectionBitmask(byte(t), compact))
	w.data = append(w.data, data...)
	return uint32(len(w.sections) - 1)
}

// WriteTo writes the file: header, section table, sections. It refuses a file that has not exactly
// one summary and one file names section.
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

// header encodes header and section table. Offsets count from the start of the file and, as
// varints, grow with the header before them: it is encoded for a guess of its own length until that
// holds (format note 3). The guess only ever grows, so the loop ends.
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
	e := wire.Encoder{Compact: w.compact}
	for length := -1; length != len(e.Data); {
		length = len(e.Data)
		e.Data = e.Data[:0]
		w.encodeHeader(&e, length, summary, names)
	}
	return e.Data, nil
}

func (w *Writer) encodeHeader(e *wire.Encoder, length, summary, names int) {
	e.Header(uint64(len(w.sections) - 2))
	e.Place(w.place(summary, length))
	e.Place(w.place(names, length))
	for i := range w.sections {
		if i != summary && i != names {
			e.Place(w.place(i, length))
		}
	}
}

// place returns the place of a section behind a header of some length.
func (w *Writer) place(i, length int) wire.Place {
	start, end := w.sections[i].start, len(w.data)
	if i+1 < len(w.sections) {
		end = w.sections[i+1].start
	}
	return wire.Place{Offset: uint64(length + start), Size: uint64(end - start)}
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
