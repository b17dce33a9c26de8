package afdo_test

import (
	"bytes"
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Sections of the file that all corrupt files are made of. Unit a.c has the symbols f (ID 0), with
// samples, and g (1), which is inlined in f; unit b.c has h (2), which f calls; the unit of unknown
// files has none.
const (
	summarySection = iota
	unitsSection
	stringsOfA
	namesOfA
	infoOfF
	stringsOfB
	namesOfB
	infoOfH
	stringsOfUnknown
	namesOfUnknown
	soundSections // how many there are
)

func soundFile() *naive.File {
	f := &naive.File{Units: []naive.Unit{
		{Path: "a.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "f", HasInfo: true, Head: 300, Locations: []naive.Location{
				gen.Count(1, 0, 200),
				{Type: naive.CalledFn, Line: 2, Targets: []naive.Target{{Callee: 2, Count: 3}}},
				gen.Inlined(3, 1, 1, gen.Count(1, 0, 7)),
			}},
			{ID: 1, Name: "g"},
		}},
		{Path: "b.c", Start: 2, End: 3, Symbols: []naive.Symbol{
			{ID: 2, Name: "h", HasInfo: true, Head: 3, Locations: []naive.Location{gen.Count(1, 0, 9)}},
		}},
		{Start: 3, End: 3},
	}}
	f.Summary = f.Summarize()
	return f
}

// A corruption is a function that makes a valid file corrupt. It changes the sections of the file,
// or its encoded bytes.
type corruption struct {
	file   func(f *naive.File)
	layout func(l *gen.Layout)
	bytes  func(data []byte) []byte
}

func (c corruption) apply(compact bool) []byte {
	f := soundFile()
	if c.file != nil {
		c.file(f)
	}
	l := gen.Lay(f, compact)
	if c.layout != nil {
		c.layout(l)
	}
	data := l.Bytes()
	if c.bytes != nil {
		data = c.bytes(data)
	}
	return data
}

// replace returns a corruption that replaces the data of section i.
func replace(i int, fill func(e *gen.Enc)) corruption {
	return corruption{layout: func(l *gen.Layout) {
		e := &gen.Enc{Compact: l.Compact}
		fill(e)
		l.Sections[i].Data = e.Buf
	}}
}

// cutSection returns a corruption that removes the last n bytes of section i.
func cutSection(i, n int) corruption {
	return corruption{layout: func(l *gen.Layout) {
		s := &l.Sections[i]
		s.Data = s.Data[:len(s.Data)-n]
	}}
}

func appendTo(i int, data ...byte) corruption {
	return corruption{layout: func(l *gen.Layout) {
		l.Sections[i].Data = append(l.Sections[i].Data, data...)
	}}
}

// place returns a corruption that changes the offset and size of section i in the section table.
// edit gets the offsets and sizes of all sections.
func place(i int, edit func(sections [][2]uint64) (offset, size uint64)) corruption {
	return corruption{layout: func(l *gen.Layout) {
		sections := make([][2]uint64, len(l.Sections))
		l.Edit = func(index int, offset, size uint64) (uint64, uint64) {
			if index == i {
				return edit(sections)
			}
			return offset, size
		}
		for range 5 { // what is written in a compact header moves the sections
			_, placed := l.Assemble()
			for i, s := range placed {
				sections[i] = [2]uint64{uint64(s.Offset), uint64(s.Size)}
			}
		}
	}}
}

// bodyOfF returns a corruption that changes the records of function f.
func bodyOfF(edit func(f []naive.Location)) corruption {
	return corruption{file: func(f *naive.File) { edit(f.Units[0].Symbols[0].Locations) }}
}

func addSection(s gen.Section) corruption {
	return corruption{layout: func(l *gen.Layout) { l.Add(s) }}
}

func editBytes(edit func(data []byte) []byte) corruption { return corruption{bytes: edit} }

func setVersion(magic string, version uint32, order binary.ByteOrder) corruption {
	return editBytes(func(data []byte) []byte {
		copy(data, magic)
		order.PutUint32(data[4:], version)
		return data
	})
}

func cutTo(n int) corruption {
	return editBytes(func(data []byte) []byte { return data[:n] })
}

// cutOff returns a corruption that removes the last n bytes of the file.
func cutOff(n int) corruption {
	return editBytes(func(data []byte) []byte { return data[:len(data)-n] })
}

// A unitRow is an entry of the file names section. Its path includes the terminating NUL.
type unitRow struct {
	path                        string
	strings, names, start, stop uint32
}

func soundUnits() []unitRow {
	return []unitRow{
		{"a.c\x00", stringsOfA, namesOfA, 0, 2},
		{"b.c\x00", stringsOfB, namesOfB, 2, 3},
		{"\x00", stringsOfUnknown, namesOfUnknown, 3, 3},
	}
}

// units returns a corruption that replaces the file names section.
func units(edit func(rows []unitRow) []unitRow) corruption {
	return replace(unitsSection, func(e *gen.Enc) {
		rows := edit(soundUnits())
		e.U32(uint32(len(rows)))
		for _, r := range rows {
			e.U32(uint32(len(r.path)))
			e.String(r.path)
			e.U32(r.strings)
			e.U32(r.names)
			e.U32(r.start)
			e.U32(r.stop)
		}
	})
}

// rowsOfA returns a corruption that replaces the symbol names of unit a.c.
func rowsOfA(rows ...[3]uint32) corruption {
	return replace(namesOfA, func(e *gen.Enc) {
		e.U32(uint32(len(rows)))
		for _, r := range rows {
			for _, v := range r {
				e.U32(v)
			}
		}
	})
}

// trieOfA returns a corruption that replaces the string table of unit a.c.
func trieOfA(count uint32, nodes func(e *gen.Enc)) corruption {
	return replace(stringsOfA, func(e *gen.Enc) {
		e.U32(count)
		nodes(e)
	})
}

// dataOfF returns a corruption that replaces the records of function f. The file then claims that f
// has n records.
func dataOfF(n uint32, records func(e *gen.Enc)) corruption {
	return replace(infoOfF, func(e *gen.Enc) {
		e.U64(300)
		e.U64(0)
		e.U32(n)
		records(e)
	})
}

func header(e *gen.Enc, typ uint8, line uint32) {
	e.U8(typ)
	e.U24(line)
}

// varintIn returns a corruption of section i in a compact file. It replaces the first byte after
// the bitmask that equals old by a varint of the given value and length.
func varintIn(i int, old byte, value uint64, length int) corruption {
	return corruption{layout: func(l *gen.Layout) {
		data := l.Sections[i].Data
		at := bytes.IndexByte(data, old)
		e := &gen.Enc{Buf: bytes.Clone(data[:at])}
		e.Varint(value, length)
		e.Bytes(data[at+1:])
		l.Sections[i].Data = e.Buf
	}}
}
