package afdo

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Writer assembles sections into a version 4 file (RFC 4.1, 4.2). To write a whole profile, use
// package builder, which fills the sections. A Writer keeps all sections in memory. It is not safe
// for concurrent use.
type Writer struct {
	compact  bool // of header and section table
	data     []byte
	sections []writtenSection
}

type writtenSection struct {
	t     SectionType
	start int // offset in data; the section ends where the next one starts
}

// NewWriter returns a Writer without sections. If compact is set, the header and the section table
// use varints (format note 4).
func NewWriter(compact bool) *Writer {
	return &Writer{compact: compact}
}

// Add appends a section and returns its index, counted from 0 (format note 1). It copies data,
// which excludes the bitmask byte, and does not check it. compact declares that the integers in
// data are varints.
func (w *Writer) Add(t SectionType, compact bool, data []byte) (index uint32) {
	w.sections = append(w.sections, writtenSection{t, len(w.data)})
	w.data = append(w.data, wire.SectionBitmask(byte(t), compact))
	w.data = append(w.data, data...)
	return uint32(len(w.sections) - 1)
}

// WriteTo writes the header, the section table and all sections. It fails unless there is exactly
// one summary section and one file names section. Other errors come from dst.
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

// header encodes the header and the section table.
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
	return wire.Head(w.compact, w.sizes(), summary, names), nil
}

// sizes returns the sizes of all sections in bytes.
func (w *Writer) sizes() []uint64 {
	sizes := make([]uint64, len(w.sections))
	end := len(w.data)
	for i := len(sizes) - 1; i >= 0; i-- {
		start := w.sections[i].start
		sizes[i] = uint64(end - start)
		end = start
	}
	return sizes
}

// only returns the index of the section of type t. It is an error if there is none, or more than
// one.
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
