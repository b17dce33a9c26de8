package gen

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// A Layout describes a file by its sections in file order. The contents of the sections may be
// invalid.
type Layout struct {
	Version  uint32 // 0 means 4
	Compact  bool   // mode of the header
	Reserved uint8  // the seven reserved bits of the header's bitmask

	// Sections are adjacent in the file, so the position of a section is its index (format note 1).
	Sections []Section

	// Summary and FileNames are the indexes of the sections in the header's fixed entries; -1
	// writes an offset and size of 0.
	Summary, FileNames int

	// Table lists the entries of the section table as indexes in Sections. Nil means all sections
	// except Summary and FileNames, in file order.
	Table []int

	Tail []byte // bytes after the last section

	// Stretch is like Enc.Stretch, for the varints of the header.
	Stretch func() int

	// NumSections, if not nil, replaces the length of the table in the header.
	NumSections *uint64

	// Edit, if not nil, returns the offset and size to write for a section.
	Edit func(index int, offset, size uint64) (uint64, uint64)
}

// A Section is a section of a [Layout].
type Section struct {
	Gap     []byte // unused bytes before the section
	Type    uint8  // below 0x80
	Compact bool   // flag in the section's bitmask; Data must be encoded accordingly
	Data    []byte // bytes after the bitmask
}

// Add appends a section and returns its index.
func (l *Layout) Add(s Section) int {
	l.Sections = append(l.Sections, s)
	return len(l.Sections) - 1
}

// Bytes returns the file.
func (l *Layout) Bytes() []byte {
	data, _ := l.Assemble()
	return data
}

// Assemble returns the file and the positions of its sections. Trailing is 0, since Assemble does
// not know it.
func (l *Layout) Assemble() ([]byte, []naive.Section) {
	table := l.Table
	if table == nil {
		table = []int{}
		for i := range l.Sections {
			if i != l.Summary && i != l.FileNames {
				table = append(table, i)
			}
		}
	}

	// The length of the header depends on the offsets, which depend on the length of the header.
	// Both only grow, so the loop ends.
	least := l.leastLengths(5 + 2*len(table))
	var header []byte
	placed := make([]naive.Section, 0, len(l.Sections))
	size := int64(0) // size of the file
	for length := -1; length != len(header); {
		length = len(header)
		placed, size = l.place(placed[:0], length)
		header = l.header(header[:0], table, placed, least)
	}

	data := append(make([]byte, 0, size), header...)
	for _, s := range l.Sections {
		data = append(data, s.Gap...)
		data = append(data, bitmask(s.Type, s.Compact))
		data = append(data, s.Data...)
	}
	return append(data, l.Tail...), placed
}

// leastLengths generates the minimum lengths of the header's varints once, so that they do not
// change from one iteration to the next.
func (l *Layout) leastLengths(n int) []int {
	least := make([]int, n)
	for i := range least {
		if l.Compact && l.Stretch != nil {
			least[i] = l.Stretch()
		}
	}
	return least
}

// place computes the positions of the sections after a header, and the end of the file.
func (l *Layout) place(placed []naive.Section, header int) ([]naive.Section, int64) {
	offset := int64(header)
	for _, s := range l.Sections {
		offset += int64(len(s.Gap))
		size := 1 + int64(len(s.Data))
		placed = append(placed, naive.Section{Type: s.Type, Compact: s.Compact, Offset: offset, Size: size})
		offset += size
	}
	return placed, offset + int64(len(l.Tail))
}

// header writes the header to a buffer.
func (l *Layout) header(buf []byte, table []int, placed []naive.Section, least []int) []byte {
	version := l.Version
	if version == 0 {
		version = 4
	}
	e := &Enc{Buf: buf, Compact: l.Compact}
	e.Stretch = func() int {
		n := least[0]
		least = least[1:]
		return n
	}
	e.String("gcov")
	e.Buf = binary.BigEndian.AppendUint32(e.Buf, version)
	e.U8(bitmask(l.Reserved, l.Compact))
	n := uint64(len(table))
	if l.NumSections != nil {
		n = *l.NumSections
	}
	e.U56(n)
	entry := func(i int) {
		var offset, size uint64
		if i >= 0 {
			offset, size = uint64(placed[i].Offset), uint64(placed[i].Size)
			if l.Edit != nil {
				offset, size = l.Edit(i, offset, size)
			}
		}
		e.U64(offset)
		e.U64(size)
	}
	entry(l.Summary)
	entry(l.FileNames)
	for _, i := range table {
		entry(i)
	}
	return e.Buf
}

func bitmask(low uint8, high bool) uint8 {
	if low > 0x7f {
		panic("gen: more than seven bits")
	}
	if high {
		return low | 0x80
	}
	return low
}
