package gen

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// A Layout is a file as sections in file order; what the sections hold need not be right.
type Layout struct {
	Version  uint32 // 0 stands for 4
	Compact  bool   // of the header
	Reserved uint8  // the seven reserved bits of the header's bitmask

	// Sections lie in the file one after the other, so the position is the section index (format
	// note 1).
	Sections []Section

	// Summary and FileNames are the sections that the header's fixed entries point to; -1 writes
	// offset and size 0.
	Summary, FileNames int

	// Table is the order of the section table: positions in Sections. Nil stands for all but
	// Summary and FileNames, in file order.
	Table []int

	Tail []byte // after the last section

	// Stretch is that of [Enc], for the varints of the header.
	Stretch func() int

	// NumSections, if set, stands in the header in place of the table's length.
	NumSections *uint64

	// Edit, if set, is asked for what to write for the offset and size of a section.
	Edit func(index int, offset, size uint64) (uint64, uint64)
}

// A Section of a [Layout].
type Section struct {
	Gap     []byte // unused bytes in front of the section
	Type    uint8  // below 0x80
	Compact bool   // flag in the section's bitmask; Data must have been encoded to match
	Data    []byte // what follows the bitmask
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

// Assemble returns the file and where its sections lie in it. Trailing is 0, since only the maker
// of the data knows.
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

	// The header's length depends on the offsets, and those on the header's length. Both only grow,
	// so that ends.
	least := l.leastLengths(5 + 2*len(table))
	var header []byte
	placed := make([]naive.Section, 0, len(l.Sections))
	size := int64(0) // of the file
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

// leastLengths draws the least lengths of the header's varints once, so that they stay the same
// while the header settles.
func (l *Layout) leastLengths(n int) []int {
	least := make([]int, n)
	for i := range least {
		if l.Compact && l.Stretch != nil {
			least[i] = l.Stretch()
		}
	}
	return least
}

// place appends where the sections lie behind a header, and says where the file ends.
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

// header writes the header into a buffer.
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
