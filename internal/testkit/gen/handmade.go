package gen

import (
	"cmp"
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// A Handmade builds a file section by section: a summary, a file names section, and any sections
// that are added.
type Handmade struct {
	*Layout
	units   Enc
	entries uint32
}

// NewHandmade returns a file that has no units yet.
func NewHandmade(compact bool) *Handmade {
	h := &Handmade{Layout: Lay(&naive.File{}, compact)}
	h.units.Compact = compact
	return h
}

// Section adds a section of a type, whose data the function fill encodes. It returns the index of
// the section.
func (h *Handmade) Section(typ uint8, fill func(e *Enc)) uint32 {
	e := &Enc{Compact: h.Compact}
	fill(e)
	return uint32(h.Add(Section{Type: typ, Compact: h.Compact, Data: e.Buf}))
}

// Unit adds a unit to the file names section: its path, the indexes of its sections with the string
// table and the symbol names, and its range of symbol IDs from start to end.
func (h *Handmade) Unit(path string, strings, symbols, start, end uint32) {
	h.entries++
	h.units.U32(uint32(len(path)) + 1)
	h.units.String(path)
	h.units.U8(0)
	for _, v := range []uint32{strings, symbols, start, end} {
		h.units.U32(v)
	}
}

// Bytes returns the bytes of the whole file.
func (h *Handmade) Bytes() []byte {
	e := &Enc{Compact: h.Compact}
	e.U32(h.entries)
	e.Bytes(h.units.Buf)
	h.Sections[h.FileNames].Data = e.Buf
	return h.Layout.Bytes()
}

// OneString returns the data of a string table with one string.
func OneString(s string) func(e *Enc) {
	return func(e *Enc) {
		e.U32(1)
		if s != "" {
			e.U8(1)
			e.U16(uint16(len(s)))
			e.String(s)
		}
		e.U8(0x80)
		e.U32(0)
	}
}

// NoRows encodes the data of a symbol names section without symbols.
func NoRows(e *Enc) { e.U32(0) }

// ManyCounts returns a function that encodes the data of a symbol info section: the samples of a
// function with n records, whose counts are 0.
func ManyCounts(n uint32) func(e *Enc) {
	return func(e *Enc) {
		e.U64(1)
		e.U64(0)
		e.U32(n)
		for range n {
			e.U8(naive.Zero)
			e.U24(1)
		}
	}
}

// RFCExample returns the profile of RFC 5.3 as a file. In the RFC, a symbol of another file has an
// ID between two IDs of test.c, which the binary form cannot store (format note 20). So the IDs
// here are bubble_sort 0, sort_array 1, printf 2. The units are test.c, stdio2.h, and the unit of
// unknown files without symbols.
func RFCExample(compact bool) []byte {
	return Encode(rfcExample(), compact)
}

func rfcExample() *naive.File {
	f := &naive.File{Summary: naive.Summary{TotalCount: 2194467, MaxCount: 659399, NumCounts: 23, NumFunctions: 2}}
	for _, e := range [][3]uint32{
		{10000, 659399, 2}, {100000, 659399, 2}, {200000, 659399, 2}, {300000, 659399, 2},
		{400000, 659399, 2}, {500000, 659399, 2}, {600000, 659399, 2}, {700000, 218844, 6},
		{800000, 218844, 6}, {900000, 218844, 6}, {950000, 218844, 6}, {990000, 218844, 6},
		{999000, 218844, 6}, {999900, 31, 9}, {999990, 23, 16}, {999999, 23, 16},
	} {
		f.Summary.Entries = append(f.Summary.Entries, naive.Entry{
			Cutoff: e[0], MinCount: uint64(e[1]), NumCounts: uint64(e[2]),
		})
	}
	f.Units = []naive.Unit{
		{Path: "/home/user/test.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "bubble_sort", HasInfo: true, Locations: []naive.Location{
				Count(0, 0, 0), Count(1, 0, 0), Count(2, 0, 34), Count(3, 0, 31),
				Count(4, 1, 659399), Count(4, 2, 659399), Count(5, 0, 23), Count(6, 0, 218844),
				Count(7, 0, 218844), Count(8, 0, 218844), Count(9, 0, 218844), Count(13, 0, 31),
			}},
			{ID: 1, Name: "sort_array", HasInfo: true, Locations: []naive.Location{
				Count(0, 0, 0),
				Inlined(1, 0, 2, Count(0, 0, 0), Count(2, 0, 0)),
				Count(2, 0, 0), Count(3, 0, 0), Count(3, 1, 29), Count(3, 3, 29),
				Count(4, 0, 29), Count(4, 1, 29), Count(6, 0, 29), Count(7, 0, 29),
			}},
		}},
		{Path: "/usr/include/bits/stdio2.h", Start: 2, End: 3, Symbols: []naive.Symbol{
			{ID: 2, Name: "printf"},
		}},
		{Start: 3, End: 3},
	}
	return f
}

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

	// Stretch returns the minimum length in bytes of the next varint of the header. Nil means that
	// varints are not longer than necessary.
	Stretch func() int

	// NumSections, if not nil, replaces the length of the table in the header.
	NumSections *uint64

	// Edit, if not nil, returns what the section table gives as the offset and size of a section.
	// It gets the true ones.
	Edit func(index int, offset, size uint64) (uint64, uint64)
}

// A Section is a section of a [Layout].
type Section struct {
	Gap     []byte // unused bytes before the section
	Type    uint8  // below 0x80
	Compact bool   // flag in the section's bitmask; Data must be encoded accordingly
	Data    []byte // bytes after the bitmask
}

// Add appends a section to the file and returns its index.
func (l *Layout) Add(s Section) int {
	l.Sections = append(l.Sections, s)
	return len(l.Sections) - 1
}

// Bytes returns the bytes of the whole file.
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

// leastLengths returns the minimum length of each varint of the header, by calling Stretch. The
// positions of the sections depend on the length of the header, and are computed several times. So
// the random lengths are chosen once.
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

// header appends the header and the section table of the file to buf. table has the indexes of the
// sections in the table, placed the position of each section, and least the minimum lengths of the
// varints.
func (l *Layout) header(buf []byte, table []int, placed []naive.Section, least []int) []byte {
	version := l.Version
	version = cmp.Or(version, 4)
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
