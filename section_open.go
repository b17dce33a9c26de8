package afdo

import (
	"fmt"
	"math"
)

// Sections are opened by index. Where an index section vouches for the section table, the first try
// may find another section than is meant: then its checksum is wrong, and the whole table decides.

// open reads a whole section, which must be of type want.
func (r *Reader) open(index int, want SectionType) (fields, error) {
	return openOrScan(r, func() (fields, error) { return r.openPlace(index, want) })
}

// openFixed reads the summary or the file names section. Which index it has is up to the table,
// too.
func (r *Reader) openFixed(t SectionType) (fields, error) {
	return openOrScan(r, func() (fields, error) { return r.openPlace(r.table.Load().fixedSection(t).index, t) })
}

// openOrScan opens sections, and opens them once more if a checksum was wrong and the section
// table, as it was before, had not been looked at as a whole. If that has a fault, it is the error.
func openOrScan[T any](r *Reader, open func() (T, error)) (T, error) {
	t := r.table.Load()
	opened, err := open()
	if !isChecksum(err) || t.sparse == nil {
		return opened, err
	}
	if _, err := r.scanned(); err != nil {
		return opened, err
	}
	return open()
}

// openPlace opens the section that the table, as far as it is known, has by an index.
func (r *Reader) openPlace(index int, want SectionType) (fields, error) {
	e, err := r.extent(index)
	if err != nil {
		return fields{}, err
	}
	data, err := r.viewExtent(e)
	if err != nil {
		return fields{}, err
	}
	return r.newFields(index, e, data, want)
}

// viewExtent returns the bytes of an extent.
func (r *Reader) viewExtent(e extent) ([]byte, error) {
	if e.size > math.MaxInt {
		return nil, fmt.Errorf("afdo: %d bytes at offset %d: %w", e.size, e.off, ErrLimit)
	}
	return r.src.view(e.off, int(e.size))
}

// newFields returns the fields of a section read into data, which must be of type want and have the
// checksum that the index of the file may have of it.
func (r *Reader) newFields(index int, e extent, data []byte, want SectionType) (fields, error) {
	if err := r.verify(index, e, data); err != nil {
		return fields{}, err
	}
	f := newSection(index, e, data[0]).fieldsAt(data, 1)
	if f.sec.Type != want {
		return fields{}, f.sec.errorAt(0, ErrSection, "want a %s section", want)
	}
	return f, nil
}

// sectionRef is a reference to a section by index, and the type it must have.
type sectionRef struct {
	index uint32
	want  SectionType
}

// openAll reads the sections that fields at pos of section from refer to, in their order. Sections
// that are adjacent in the file are read together, and one that is referred to several times in a
// row is read once.
func (r *Reader) openAll(from Section, pos int, refs []sectionRef) ([]fields, error) {
	return openOrScan(r, func() ([]fields, error) { return r.openPlaces(from, pos, refs) })
}

func (r *Reader) openPlaces(from Section, pos int, refs []sectionRef) ([]fields, error) {
	places := make([]extent, len(refs))
	for i, ref := range refs {
		if uint64(ref.index) >= uint64(r.NumSections()) {
			return nil, r.badIndex(from, pos, ref)
		}
		var err error
		if places[i], err = r.extent(int(ref.index)); err != nil {
			return nil, err
		}
	}
	out := make([]fields, len(refs))
	for i := 0; i < len(refs); {
		if i > 0 && refs[i] == refs[i-1] { // two symbols of a faulty file share their samples
			out[i] = out[i-1]
			i++
			continue
		}
		n := together(places[i:])
		data, err := r.viewExtent(extent{places[i].off, places[i+n-1].off + places[i+n-1].size - places[i].off})
		if err != nil {
			return nil, err
		}
		for end := i + n; i < end; i++ {
			size := places[i].size
			if out[i], err = r.newFields(int(refs[i].index), places[i], data[:size], refs[i].want); err != nil {
				return nil, err
			}
			data = data[size:]
		}
	}
	return out, nil
}

// badIndex is the error of a reference to a section that the file does not have.
func (r *Reader) badIndex(from Section, pos int, ref sectionRef) error {
	return from.errorAt(pos, ErrSection, "section index %d for a %s, the file has %d sections", ref.index, ref.want, r.NumSections())
}

// together returns how many of the extents, from the first on, follow on each other in the file.
func together(places []extent) int {
	n := 1
	for n < len(places) && places[n].off == places[n-1].off+places[n-1].size {
		n++
	}
	return n
}
