package check

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A table is the section table of a file. It may have errors, which the checker reports.
type table struct {
	end      int64    // offset of the end of the header and the section table
	sections []extent // by section index
	summary  int      // index of the summary section
	names    int      // index of the file names section
	faulty   bool
}

// An extent is the range of bytes of a section. A section that is not within the file has the size
// 0, but keeps its place among the sections.
type extent struct {
	off, size int64
	fixed     afdo.SectionType // type of the summary and file names sections, which the header refers to; 0 for others
}

// header is the section to which errors of the header and the section table are attributed.
var header = afdo.Section{Index: afdo.HeaderSection}

// table reads the section table and reports all of its errors. It returns nil if the positions of
// sections cannot be determined.
func (k *checker) table() *table {
	h := wire.Header(k.data)
	n := h.Uint(7)
	t := &table{}
	t.add(k, &h, "the summary", afdo.SectionSummary)
	t.add(k, &h, "the file names", afdo.SectionFileNames)
	if h.Err != nil || n > uint64(h.Rest()/wire.PlaceSize(h.Compact)) {
		return nil
	}
	t.sections = slices.Grow(t.sections, int(n))
	for i := uint64(0); i < n && h.Err == nil; i++ {
		t.add(k, &h, "a", 0)
	}
	if h.Err != nil {
		return nil
	}
	t.end = int64(h.Pos)
	slices.SortStableFunc(t.sections, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	t.rank(k)
	return t
}

// add reads the next entry of the section table, and adds the section to t. fixed is the type that
// the section must have, or 0. which describes the section in errors. A section that is not within
// the file is reported.
func (t *table) add(k *checker, h *wire.Fields, which string, fixed afdo.SectionType) {
	pos, size := h.Pos, uint64(len(k.data))
	p := h.Place()
	if h.Err != nil {
		return
	}
	e := extent{int64(min(p.Offset, math.MaxInt64)), int64(p.Size & math.MaxInt64), fixed}
	if p.Size == 0 || p.Size > size || p.Offset > size-p.Size {
		e.size = 0
		t.fault(k, pos, "%s section of %d bytes at offset %d in a file of %d", which, p.Size, p.Offset, size)
	}
	t.sections = append(t.sections, e)
}

func (t *table) fault(k *checker, pos int, format string, args ...any) {
	t.faulty = true
	k.fault(faultAt(header, pos, afdo.ErrHeader, format, args...))
}

// rank goes through the sections in the order of their offsets. It records which of them are the
// summary and the file names, and reports sections that overlap the header or each other.
func (t *table) rank(k *checker) {
	before := extent{0, t.end, 0} // the section so far that ends last
	for i, e := range t.sections {
		switch e.fixed {
		case afdo.SectionSummary:
			t.summary = i
		case afdo.SectionFileNames:
			t.names = i
		}
		switch {
		case e.size == 0:
			continue
		case e.off < t.end:
			t.fault(k, 0, "the section at offset %d begins inside the header of %d bytes", e.off, t.end)
		case e.off < before.off+before.size:
			t.fault(k, 0, "sections at offset %d (%d bytes) and offset %d overlap", before.off, before.size, e.off)
		}
		if e.off+e.size >= before.off+before.size {
			before = e
		}
	}
}

// sectionAt returns the section with the given number in the section table.
func (k *checker) sectionAt(index int) afdo.Section {
	e := k.t.sections[index]
	s := afdo.Section{Index: index, Offset: e.off, Size: e.size}
	if e.size > 0 {
		mask := k.data[e.off]
		s.Type, s.Compact = afdo.SectionType(mask&wire.SectionTypeMask), mask&wire.CompactFlag != 0
	}
	return s
}

// overlongHeader searches for overlong varints in the header and the section table.
func (k *checker) overlongHeader() {
	h := fields{header, wire.Header(k.data)}
	var found bool
	for h.Compact && !found && int64(h.Pos) < k.t.end {
		pos := h.Pos
		k.overlong(&h, pos, wire.VarintLen(h.Uint64()), &found)
	}
}

// gaps reports bytes that belong to no section.
func (k *checker) gaps() {
	end := k.t.end
	for _, e := range k.t.sections {
		if e.size > 0 {
			k.gap(end, e.off)
			end = max(end, e.off+e.size)
		}
	}
	k.gap(end, int64(len(k.data)))
}

// gap reports the bytes from one offset to another, which belong to no section. The error names the
// section table as its place.
func (k *checker) gap(from, to int64) {
	if from < to {
		k.fault(faultAt(header, int(from), afdo.ErrUnused, "%d bytes from offset %d to %d are in no section", to-from, from, to))
	}
}
