package indexfmt

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The block of name parts divides the string table and the symbol names of a large unit into parts.
// A reader can read and decode one part without the others. A lookup of a function often needs a
// few names of a large unit, such as a header with functions that were inlined into it.

const (
	// PartSize is the number of strings, and of rows, in a part. With 128, the lookup of a unit of
	// the benchmarks takes 6 and 16 % more instructions, and the parts half of the bytes. With 32,
	// it takes as many as with 64.
	PartSize = 64

	// MinParted is the number of symbols of the smallest unit that has parts. For a smaller unit,
	// reading its record takes as long as reading all its names.
	MinParted = 4 * PartSize

	// minPart is the minimum size of a part in a record: four numbers, two of them paths and nodes,
	// and two checksums.
	minPart = 5 + 2*SumSize
)

// A NamePart describes a part of a unit's names: up to PartSize strings of its string table, and
// the rows of the symbols with these names.
type NamePart struct {
	Strings, Rows       Range  // in the sections, after their bitmask bytes
	StringsSum, RowsSum uint32 // checksums of these bytes
	Mark                wire.TrieMark
}

// A PartedNames is what the index has about the parts of one unit's names. The parts are decoded
// when they are needed.
type PartedNames struct {
	Count                          int // number of strings, and of rows
	StringsCompact, SymbolsCompact bool

	fields wire.Fields
}

// NameParts returns the parts of a unit's names, or nil if the index has none for the unit.
func (x *Index) NameParts(unit int) (*PartedNames, error) {
	if !x.Has(NameParts) {
		return nil, nil
	}
	p, err := x.places(NameParts)
	if err != nil {
		return nil, err
	}
	i, err := p.find(uint32(unit))
	if err != nil || i < 0 {
		return nil, err
	}
	b := x.byKind[NameParts]
	rank, from, to, err := p.at(i, b.Off+b.Size-p.end)
	if err != nil || int(rank) != unit {
		return nil, err
	}
	data, err := x.content(p.end+from, to-from)
	if err != nil {
		return nil, err
	}
	f := wire.Fields{Data: data, Compact: true}
	n := decodeParted(&f)
	if f.Err != nil {
		return nil, x.misread(p.end+from, &f)
	}
	return n, nil
}

func decodeParted(f *wire.Fields) *PartedNames {
	flags, count := f.Byte(), f.Uint32()
	n := &PartedNames{int(count), flags&1 != 0, flags&2 != 0, *f}
	f.Count((uint64(count)+PartSize-1)/PartSize, minPart, minPart, "parts of names")
	return n
}

// Each calls yield for all parts in order, until yield returns false. The mark of a part is valid
// until yield returns. Each returns false if the record is malformed.
func (n *PartedNames) Each(yield func(i int, p *NamePart) bool) bool {
	f := n.fields
	var p NamePart
	p.Strings.Size, p.Rows.Size = int64(f.Uint32()), int64(f.Uint32()) // what comes before the first part
	for i := range (n.Count + PartSize - 1) / PartSize {
		p.Strings.Off, p.Rows.Off = p.Strings.Off+p.Strings.Size, p.Rows.Off+p.Rows.Size
		decodePart(&f, &p)
		if f.Err != nil {
			return false
		}
		if !yield(i, &p) {
			return true
		}
	}
	return f.Rest() == 0
}

// decodePart decodes a part of a unit's names into p, which contains the part before it.
func decodePart(f *wire.Fields, p *NamePart) {
	p.Strings.Size, p.Rows.Size = int64(f.Uint32()), int64(f.Uint32())
	sums := f.Take(2*SumSize, "checksums")
	shared := f.Uint32()
	rest := f.Take(f.Count(uint64(f.Uint32()), 1, 1, "bytes"), "a path")
	frames := f.Count(uint64(f.Uint32()), 2, 2, "nodes of a path")
	if f.Err != nil || uint64(shared) > uint64(len(p.Mark.Path)) {
		f.Fail(f.Pos, fault.ErrIndex, "a path that shares %d bytes with one of %d", shared, len(p.Mark.Path))
		return
	}
	p.StringsSum, p.RowsSum = binary.BigEndian.Uint32(sums), binary.BigEndian.Uint32(sums[SumSize:])
	p.Mark.Path = append(p.Mark.Path[:shared], rest...)
	p.Mark.Frames = p.Mark.Frames[:0]
	prefix := 0
	for range frames {
		prefix += int(f.Uint16())
		left := int(f.Byte())
		if prefix > len(p.Mark.Path) || left == 0 {
			f.Fail(f.Pos, fault.ErrIndex, "a node of %d bytes and %d children on a path of %d bytes", prefix, left, len(p.Mark.Path))
			return
		}
		p.Mark.Frames = append(p.Mark.Frames, wire.TrieFrame{Children: left, Prefix: prefix})
	}
}

// A NamesSections is the string table and the symbol names of a unit.
type NamesSections struct {
	Unit             int
	Start            uint32 // the unit's first symbol ID
	Strings, Symbols wire.Fields
}

// AppendNameParts appends the block with the parts of units, which ascend. It leaves out units that
// are small, whose strings are not numbered in the order of the string table, or whose rows are not
// in the order of their IDs. The block is empty if no unit is left.
func AppendNameParts(dst []byte, compact bool, units []NamesSections) []byte {
	var ranks, offsets []uint64
	var records []byte
	for i := range units {
		record := appendParts(nil, &units[i])
		if record == nil {
			continue
		}
		ranks, offsets = append(ranks, uint64(units[i].Unit)), append(offsets, uint64(len(records)))
		records = append(records, record...)
	}
	if len(ranks) == 0 {
		return dst
	}
	return append(appendPlaces(dst, compact, ranks, append(offsets, uint64(len(records)))), records...)
}

// appendParts appends the parts of a unit's names to the block. It returns nil if the names of the
// unit cannot be divided into parts.
func appendParts(dst []byte, u *NamesSections) []byte {
	rows, count := rowMarks(u)
	if count < MinParted {
		return nil
	}
	strings := u.Strings
	if f := u.Strings; f.StringCount() != count {
		return nil
	}
	marks, ok := strings.TrieMarks(PartSize)
	if !ok || len(marks) != len(rows) {
		return nil
	}
	flags := byte(0)
	for i, f := range []*wire.Fields{&u.Strings, &u.Symbols} {
		if f.Compact {
			flags |= 1 << i
		}
	}
	e := wire.Encoder{Data: append(dst, flags), Compact: true}
	e.Uint32(uint32(count))
	e.Uint32(uint32(marks[0].Pos))
	e.Uint32(uint32(rows[0]))
	var path []byte
	for i := range marks {
		nextString, nextRow := strings.Pos, len(u.Symbols.Data)
		if i+1 < len(marks) {
			nextString, nextRow = marks[i+1].Pos, rows[i+1]
		}
		appendPart(&e, u, path, &marks[i], Range{int64(rows[i]), int64(nextRow - rows[i])}, nextString)
		path = marks[i].Path
	}
	return e.Data
}

// appendPart appends one part of a unit's names. The strings of the part begin at the trie node m
// and end at position end of the string table. rows are the rows of their symbols. previous is the
// path to the node at which the part before begins, with which the path to m often shares a prefix.
func appendPart(e *wire.Encoder, u *NamesSections, previous []byte, m *wire.TrieMark, rows Range, end int) {
	e.Uint32(uint32(end - m.Pos))
	e.Uint32(uint32(rows.Size))
	e.Data = AppendChecksum(e.Data, Sum(u.Strings.Data[m.Pos:end]))
	e.Data = AppendChecksum(e.Data, Sum(u.Symbols.Data[rows.Off:rows.Off+rows.Size]))
	shared := 0
	for shared < min(len(previous), len(m.Path)) && previous[shared] == m.Path[shared] {
		shared++
	}
	e.Uint32(uint32(shared))
	e.Uint32(uint32(len(m.Path) - shared))
	e.Bytes(m.Path[shared:])
	e.Uint32(uint32(len(m.Frames)))
	prefix := 0
	for _, f := range m.Frames {
		e.Uint16(uint16(f.Prefix - prefix))
		e.Byte(byte(f.Children))
		prefix = f.Prefix
	}
}

// rowMarks returns the positions of every PartSize-th row of a unit's symbol names, and the number
// of rows. It returns 0 rows if the unit is small, or if its rows are not in the order of their
// IDs.
func rowMarks(u *NamesSections) (marks []int, count int) {
	f := u.Symbols
	count = f.RowCount()
	if count < MinParted {
		return nil, 0
	}
	for i := range count {
		if i%PartSize == 0 {
			marks = append(marks, f.Pos)
		}
		if row := f.Row(); f.Err != nil || uint64(row.ID) != uint64(u.Start)+uint64(i) {
			return nil, 0
		}
	}
	return marks, count
}
