package v4

import (
	"fmt"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Section describes a section and its position, like afdo.Section.
type Section struct {
	Index   int
	Type    byte
	Compact bool
	Offset  int64
	Size    int64
}

// header represents the header and the section table in errors.
var header = Section{Index: fault.HeaderSection}

func newSection(index int, e extent, bitmask byte) Section {
	return Section{
		Index:   index,
		Type:    bitmask & wire.SectionTypeMask,
		Compact: bitmask&wire.CompactFlag != 0,
		Offset:  e.off,
		Size:    e.size,
	}
}

// ErrorAt returns an error about the byte at a file offset in this section.
func (s Section) ErrorAt(offset int64, class error, detail string) *fault.FormatError {
	part := "header"
	if s.Index != fault.HeaderSection {
		part = wire.SectionTypeName(s.Type)
	}
	return &fault.FormatError{Format: "afdo", Section: s.Index, Part: part, Offset: offset, Err: class, Detail: detail}
}

// Fault adds the position in the file to an error in the section.
func (s Section) Fault(f *wire.Fault) error {
	return s.ErrorAt(s.Offset+int64(f.Pos), f.Class, f.Detail)
}

// FaultAt returns an error about the byte at pos of the section.
func (s Section) FaultAt(pos int, class error, format string, args ...any) error {
	return s.Fault(&wire.Fault{Pos: pos, Class: class, Detail: fmt.Sprintf(format, args...)})
}

// Fields decodes the fields of a section or of the header.
type Fields struct {
	Section Section
	wire.Fields
}

// fieldsAt returns a decoder of the section's fields, from position pos on. data are the bytes of
// the section.
func (s Section) fieldsAt(data []byte, pos int) Fields {
	return Fields{s, wire.Fields{Data: data, Pos: pos, Compact: s.Compact}}
}

// Fault returns the decoding error with its position in the file, or nil.
func (f *Fields) Fault() error {
	if f.Err == nil {
		return nil
	}
	return f.Section.Fault(f.Err)
}

// A Ref is a reference to a section, with the expected type.
type Ref struct {
	Index uint32
	Want  byte
}

// isChecksum reports whether an error is a checksum mismatch.
func isChecksum(err error) bool {
	e, ok := err.(*fault.FormatError)
	return ok && e.Err == fault.ErrChecksum
}

// NumSections returns the number of sections, including summary and file names.
func (v *File) NumSections() int {
	if v == nil {
		return 0
	}
	return v.table.Load().len()
}

// SectionAt returns the section with the given index, which must be in range. It reads one byte of
// the section.
func (v *File) SectionAt(index int) (Section, error) {
	if t := v.table.Load(); t.vouched() { // the one byte cannot be verified by a checksum
		if index == t.sparse.index.Section.Index {
			return t.sparse.index.Section, nil
		}
		if err := v.Scan(); err != nil {
			return Section{}, err
		}
	}
	e, err := v.extent(index)
	if err != nil {
		return Section{}, err
	}
	mask, err := v.src.view(e.off, 1)
	if err != nil {
		return Section{}, err
	}
	return newSection(index, e, mask[0]), nil
}

// Scan checks every entry of the section table, unless that has been done before.
func (v *File) Scan() error {
	_, err := v.scanned()
	return err
}

// Sections are opened by index. If an index section certifies the section table, the first attempt
// may find a wrong section. Then the checksum does not match, and the whole table is read to
// decide.

// Open reads a whole section, whose index must be in range. It returns an error if the section does
// not have type want.
func (v *File) Open(index int, want byte) (Fields, error) {
	return openOrScan(v, func() (Fields, error) { return v.openPlace(index, want) })
}

// OpenFixed reads the summary or the file names section. Its index depends on the section table.
func (v *File) OpenFixed(t byte) (Fields, error) {
	return openOrScan(v, func() (Fields, error) { return v.openPlace(v.table.Load().fixedSection(t).index, t) })
}

// openOrScan calls open to read sections. If a checksum does not match, the cause may be a wrong
// position from the index. In that case openOrScan reads and checks the whole section table, and
// then calls open again. If the table is malformed, it returns the error about the table.
func openOrScan[T any](v *File, open func() (T, error)) (T, error) {
	t := v.table.Load()
	opened, err := open()
	if !isChecksum(err) || !t.vouched() {
		return opened, err
	}
	if _, err := v.scanned(); err != nil {
		return opened, err
	}
	return open()
}

// openPlace reads a section, given its index, and returns a decoder of its fields. The section must
// have the type want. The section table, which has the section's position, need not have been
// checked as a whole.
func (v *File) openPlace(index int, want byte) (Fields, error) {
	e, err := v.extent(index)
	if err != nil {
		return Fields{}, err
	}
	data, err := v.viewExtent(nil, e)
	if err != nil {
		return Fields{}, err
	}
	return v.newFields(index, e, data, want)
}

// viewExtent returns the bytes of an extent. If buf is not nil, it may use the memory of *buf.
func (v *File) viewExtent(buf *[]byte, e extent) ([]byte, error) {
	if e.size > math.MaxInt {
		return nil, fmt.Errorf("afdo: %d bytes at offset %d: %w", e.size, e.off, fault.ErrLimit)
	}
	return v.src.viewBy(byState, buf, e.off, int(e.size))
}

// newFields returns a decoder for a section whose bytes are data. It returns an error if the
// section does not have type want or the checksum in the index.
func (v *File) newFields(index int, e extent, data []byte, want byte) (Fields, error) {
	if err := v.verify(index, e, data); err != nil {
		return Fields{}, err
	}
	f := newSection(index, e, data[0]).fieldsAt(data, 1)
	if f.Section.Type != want {
		return Fields{}, f.Section.FaultAt(0, fault.ErrSection, "want a %s section", wire.SectionTypeName(want))
	}
	return f, nil
}

// openAll reads several sections and returns a decoder for each, in the order of refs. refs has the
// index of each section and the type that it must have. The indexes come from fields of the section
// from, at position pos, which errors name. Sections that are adjacent in the file are read
// together. A section that is referenced several times in a row is read once. If buf is not nil,
// the first group of adjacent sections may use the memory of *buf. If the sections have more than
// most bytes together, openAll reads nothing and returns nil.
func (v *File) openAll(buf *[]byte, from Section, pos int, refs []Ref, most int64) ([]Fields, error) {
	return openOrScan(v, func() ([]Fields, error) { return v.openPlaces(buf, from, pos, refs, most) })
}

func (v *File) openPlaces(buf *[]byte, from Section, pos int, refs []Ref, most int64) ([]Fields, error) {
	places := make([]extent, len(refs))
	for i, ref := range refs {
		if uint64(ref.Index) >= uint64(v.NumSections()) {
			return nil, v.badIndex(from, pos, ref)
		}
		var err error
		if places[i], err = v.extent(int(ref.Index)); err != nil {
			return nil, err
		}
		if most -= places[i].size; most < 0 {
			return nil, nil
		}
	}
	out := make([]Fields, len(refs))
	for i := 0; i < len(refs); {
		if i > 0 && refs[i] == refs[i-1] { // in a malformed file, several symbols may share samples
			out[i] = out[i-1]
			i++
			continue
		}
		n := adjacent(places[i:])
		data, err := v.viewExtent(buf, extent{places[i].off, places[i+n-1].off + places[i+n-1].size - places[i].off})
		if err != nil {
			return nil, err
		}
		buf = nil
		for end := i + n; i < end; i++ {
			size := places[i].size
			if out[i], err = v.newFields(int(refs[i].Index), places[i], data[:size], refs[i].Want); err != nil {
				return nil, err
			}
			data = data[size:]
		}
	}
	return out, nil
}

// badIndex returns the error for a field that refers to a section which does not exist. The field
// is at position pos of the section from.
func (v *File) badIndex(from Section, pos int, ref Ref) error {
	return from.FaultAt(pos, fault.ErrSection, "section index %d for a %s, the file has %d sections", ref.Index, wire.SectionTypeName(ref.Want), v.NumSections())
}

// adjacent returns how many of the extents, from the first on, are adjacent in the file, so that
// one read gets them all.
func adjacent(places []extent) int {
	n := 1
	for n < len(places) && places[n].off == places[n-1].off+places[n-1].size {
		n++
	}
	return n
}
