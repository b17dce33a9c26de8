package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Sections of the file that most cases are made of.
const (
	summarySection = iota
	unitsSection
	stringsOfA
	namesOfA
	infoOfF
)

// A validCase describes a legal file.
type validCase struct {
	name string
	says string // what it is there for, with the place in the RFC or the format note

	file   func(f *naive.File)
	layout func(l *gen.Layout)
}

// plainFile returns a file with three units. Unit a.c has f, which has samples, and g, which is
// inlined into f. Unit b.c has h, which f calls. The unit of unknown files has no symbols.
func plainFile() *naive.File {
	return &naive.File{Units: []naive.Unit{
		{Path: "a.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "f", HasInfo: true, Head: 300, Locations: []naive.Location{
				gen.Count(1, 0, 200),
				{Type: naive.CalledFn, Line: 2, Targets: []naive.Target{{Callee: 2, Count: 3}}},
				gen.Inlined(3, 1, 1, gen.Count(1, 0, 7)),
			}},
			{ID: 1, Name: "g"},
		}},
		{Path: "b.c", Start: 2, End: 3, Symbols: []naive.Symbol{
			{ID: 2, Name: "h", HasInfo: true, Head: 3, Timestamp: 17, Locations: []naive.Location{gen.Count(1, 0, 9)}},
		}},
		{Start: 3, End: 3},
	}}
}

// build returns the bytes of the file that a case describes.
func (c *validCase) build(compact bool) []byte {
	f := plainFile()
	if c.file != nil {
		c.file(f)
	}
	f.Summary = f.Summarize()
	l := gen.Lay(f, compact)
	if c.layout != nil {
		c.layout(l)
	}
	return l.Bytes()
}

// body returns a function that replaces the records of f in a file.
func body(records ...naive.Location) func(f *naive.File) {
	return func(f *naive.File) { f.Units[0].Symbols[0].Locations = records }
}

// data returns a function that replaces the data of a section.
func data(section int, fill func(e *gen.Enc)) func(l *gen.Layout) {
	return func(l *gen.Layout) {
		e := &gen.Enc{Compact: l.Sections[section].Compact}
		fill(e)
		l.Sections[section].Data = e.Buf
	}
}

func leaf(e *gen.Enc, label string, id uint32) {
	e.U16(uint16(len(label)))
	e.String(label)
	e.U8(0x80)
	e.U32(id)
}

var valid = []validCase{
	{name: "plain", says: "a file without oddities"},
	{
		name: "empty", says: "no function at all; the unit of unknown files is there (RFC 4.5)",
		file: func(f *naive.File) { f.Units = []naive.Unit{{}} },
	},
	{
		name: "locations", says: "all location types, with and without discriminators (RFC 4.8.2)",
		file: body(
			gen.Count(0, 0, 0), gen.Count(0, 5, 0), gen.Count(1, 0, 1), gen.Count(1, 65535, math.MaxUint32),
			gen.Count(2, 0, 1<<32), gen.Count(2, 1, math.MaxUint64),
			naive.Location{Type: naive.CalledFn, Line: 3, Disc: 2, Targets: []naive.Target{{Callee: 0, Count: 4}}},
			naive.Location{Type: naive.CalledFns, Line: 4, Targets: []naive.Target{{Callee: 1, Count: 1 << 40}, {Callee: 2, Count: 5}}},
			gen.Inlined(5, 0, 1, gen.Inlined(1, 7, 2, gen.Count(0, 0, 6))),
			gen.Inlined(6, 0, 2),
		),
	},
	{
		name: "largest-line", says: "a line offset takes 24 bits (note 17)",
		file: body(gen.Count(1<<24-1, 0, 1)),
	},
	{
		name: "line-before-declaration", says: "a negative line offset is written modulo 2^16 (note 25)",
		file: body(gen.Count(65534, 0, 1)),
	},
	{
		name: "wide-zero", says: "a count may be stored wider than it needs; only writers choose the smallest type (note 15)",
		file: body(naive.Location{Type: naive.Normal, Line: 1}, naive.Location{Type: naive.Wide, Line: 2, Count: 3}),
	},
	{
		name: "repeated-location", says: "two records of one location stand apart when read, and add up in a model (note 13)",
		file: body(gen.Count(1, 0, 2), gen.Count(1, 0, 3)),
	},
	{
		name: "no-targets", says: "a call site may list no target",
		file: body(gen.Count(1, 0, 2), naive.Location{Type: naive.CalledFns, Line: 2}),
	},
	{
		name: "unknown-location", says: "records of unknown types are skipped by their trailing size (RFC 4.8.3, note 16)",
		layout: data(infoOfF, func(e *gen.Enc) {
			e.U64(300)
			e.U64(0)
			e.U32(3)
			e.U8(0x7f)
			e.U24(9)
			e.U32(2)
			e.String("xy")
			e.U8(0x80) // type 0, with a discriminator
			e.U24(9)
			e.U16(1)
			e.U32(0)
			e.U8(naive.Normal)
			e.U24(1)
			e.U32(200)
		}),
	},
	{
		name: "unknown-section", says: "sections of unknown types are skipped, and counted in section indexes (RFC 6.1, note 6)",
		layout: func(l *gen.Layout) {
			l.Add(gen.Section{Type: 0x06, Data: []byte("anything")})
			l.Add(gen.Section{Type: 0x00, Compact: true})
		},
	},
	{
		name: "table-out-of-order", says: "the index of a section is its rank by offset, not its place in the table (note 1)",
		layout: func(l *gen.Layout) {
			for i := range l.Sections {
				if i != l.Summary && i != l.FileNames {
					l.Table = append(l.Table, i)
				}
			}
			slices.Reverse(l.Table)
		},
	},
	{
		name: "reserved-bits", says: "reserved bits of the header's bitmask are ignored (note 6)",
		layout: func(l *gen.Layout) { l.Reserved = 0x7f },
	},
	{
		name: "gaps", says: "bytes between sections belong to none",
		layout: func(l *gen.Layout) { l.Sections[namesOfA].Gap = []byte("gap") },
	},
	{
		name: "bytes-after-data", says: "bytes left in a section after its data are tolerated by lookups (note 7)",
		layout: func(l *gen.Layout) {
			for i := range l.Sections {
				l.Sections[i].Data = append(l.Sections[i].Data, 0xee)
			}
		},
	},
	{
		name: "no-unknown-file", says: "a reader tolerates that the unit of unknown files is missing (note 8)",
		file: func(f *naive.File) { f.Units = f.Units[:2] },
	},
	{
		name: "id-gaps", says: "symbol IDs start anywhere and have gaps, inside a unit, too (note 9)",
		file: func(f *naive.File) {
			f.Units[0].Start, f.Units[0].End = 100, 200
			f.Units[0].Symbols[0].ID, f.Units[0].Symbols[1].ID = 199, 100
			f.Units[0].Symbols[0].Locations[2].Callee = 100
			f.Units[1].Start, f.Units[1].End = 2, 4
			f.Units[2].Start, f.Units[2].End = 4, 4
		},
	},
	{
		name: "units-out-of-order", says: "units need not stand in the order of their symbol IDs",
		file: func(f *naive.File) { slices.Reverse(f.Units) },
	},
	{
		name: "names-are-bytes", says: "paths and names are bytes, not necessarily UTF-8; the empty name is a name (notes 8, 11)",
		file: func(f *naive.File) {
			f.Units[0].Path = "\xff/\x01 a.c"
			f.Units[0].Symbols[0].Name = "\xfe\x80f"
			f.Units[0].Symbols[1].Name = ""
		},
	},
	{
		name: "trie-shapes", says: "children in any order, empty labels, chains of single children, permuted and unused string indexes (notes 10, 11)",
		layout: data(stringsOfA, func(e *gen.Enc) {
			// The rows of a.c have the string indexes 0, f, and 1, g.
			e.U32(3)
			e.U8(2) // root: two children
			leaf(e, "g", 1)
			e.U16(0) // an empty label
			e.U8(1)  // a node with a single child, and not terminal
			e.U16(1)
			e.String("f")
			e.U8(0x81) // f, and below it
			e.U32(0)
			leaf(e, "oo", 2) // foo, which no row uses
		}),
	},
	{
		name: "many-children", says: "127 children in a node, and more below an empty label (note 11)",
		file: func(f *naive.File) {
			u := &f.Units[1]
			for i := range 300 {
				u.Symbols = append(u.Symbols, naive.Symbol{ID: 3 + uint32(i), Name: "m" + string([]rune{rune('a' + i)})})
			}
			u.End = 303
			f.Units[2].Start, f.Units[2].End = 303, 303
		},
	},
	{
		name: "long-name", says: "a name longer than an edge label can be is split (note 11)",
		file: func(f *naive.File) {
			f.Units[1].Symbols[0].Name = fmt.Sprintf("_Z%070000d", 1)
		},
	},
	{
		name: "deep", says: "nesting has no limit (note 18)",
		file: func(f *naive.File) {
			nested := gen.Count(0, 0, 1)
			for range 1000 {
				nested = gen.Inlined(1, 0, 1, nested)
			}
			f.Units[0].Symbols[0].Locations = []naive.Location{nested}
		},
	},
}
