package naive_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// edited writes the small file with the offset and size of one section changed.
func edited(compact bool, section int, edit func(offset, size *uint64)) []byte {
	l := gen.Lay(small(), compact)
	l.Edit = func(index int, offset, size uint64) (uint64, uint64) {
		if index == section {
			edit(&offset, &size)
		}
		return offset, size
	}
	return l.Bytes()
}

// TestDecodeCorruptHeader checks the rules for the header and the section table (format note 1).
func TestDecodeCorruptHeader(t *testing.T) {
	file := func(change func(l *gen.Layout)) func(bool) []byte {
		return func(compact bool) []byte {
			l := gen.Lay(small(), compact)
			change(l)
			return l.Bytes()
		}
	}
	edit := func(section int, change func(offset, size *uint64)) func(bool) []byte {
		return func(compact bool) []byte { return edited(compact, section, change) }
	}
	number := func(n uint64) func(bool) []byte {
		return file(func(l *gen.Layout) { l.NumSections = &n })
	}
	for _, c := range []struct {
		name string
		data func(compact bool) []byte
		want string
	}{
		{"no magic", func(bool) []byte { return nil }, "bytes wanted"},
		{"wrong magic", func(bool) []byte { return []byte("adcg\x03\x00\x00\x00") }, "wrong magic"},
		{"version 3", file(func(l *gen.Layout) { l.Version = 3 }), "version 3"},
		{"version 5", file(func(l *gen.Layout) { l.Version = 5 }), "version 5"},
		{"version 0x04000000", file(func(l *gen.Layout) { l.Version = 0x04000000 }), "version 67108864"},
		{"more sections than fit", number(1<<56 - 1), "bytes wanted"},
		{"size 0", edit(5, func(_, size *uint64) { *size = 0 }), "size 0"},
		{"size 0 of the summary", edit(0, func(_, size *uint64) { *size = 0 }), "size 0"},
		{"no file names", file(func(l *gen.Layout) { l.FileNames = -1 }), "size 0"},
		{"no summary", file(func(l *gen.Layout) { l.Summary = -1 }), "size 0"},
		{"offset 0", edit(5, func(offset, _ *uint64) { *offset = 0 }), "inside the header"},
		{"last byte of the header", edit(0, func(offset, size *uint64) { *offset, *size = *offset-1, *size+1 }), "inside the header"},
		{"past the end by a byte", edit(8, func(_, size *uint64) { *size++ }), "past the end"},
		{"offset past the end", edit(8, func(offset, _ *uint64) { *offset += 1000 }), "past the end"},
		{"offset of 64 bits", edit(8, func(offset, _ *uint64) { *offset = math.MaxUint64 }), "past the end"},
		{"size of 64 bits", edit(8, func(_, size *uint64) { *size = math.MaxUint64 }), "past the end"},
		{"sum of 64 bits", edit(8, func(offset, size *uint64) { *size = -*offset }), "past the end"},
		{"overlap by a byte", edit(5, func(_, size *uint64) { *size++ }), "overlap"},
		{"overlap with one inside", edit(2, func(_, size *uint64) { *size += 30 }), "overlap"},
		{"same offset", file(func(l *gen.Layout) { l.Table = []int{2, 3, 4, 5, 5, 6, 7, 8} }), "overlap"},
		{"fixed section again in the table", file(func(l *gen.Layout) { l.Table = []int{0, 2, 3, 4, 5, 6, 7, 8} }), "overlap"},
		{"one section for both", file(func(l *gen.Layout) { l.Summary = 1 }), "overlap"},
		{"summary of other type", file(func(l *gen.Layout) { l.Sections[0].Type = 6 }), "type 6, not 2"},
		{"file names of other type", file(func(l *gen.Layout) { l.Sections[1].Type = 0 }), "type 0, not 3"},
		{"fixed sections exchanged", file(func(l *gen.Layout) { l.Summary, l.FileNames = 1, 0 }), "type 3, not 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, compact := range []bool{false, true} {
				_, err := naive.Decode(c.data(compact))
				require.ErrorIsf(t, err, naive.ErrMalformed, "%s, compact %v", c.name, compact)
				require.ErrorContains(t, err, c.want, c.name)
			}
		})
	}
}

// TestDecodeCorruptSections checks the rules for the other sections (format notes 5 and 8 to 10).
func TestDecodeCorruptSections(t *testing.T) {
	unit := func(change func(f *naive.File)) func(*gen.Layout) {
		return func(l *gen.Layout) {
			f := small()
			change(f)
			*l = *gen.Lay(f, l.Compact)
		}
	}
	data := func(section int, write func(e *gen.Enc)) func(*gen.Layout) {
		return func(l *gen.Layout) {
			e := gen.Enc{Compact: l.Compact}
			write(&e)
			l.Sections[section].Data = e.Buf
		}
	}
	path := func(length uint32, content string) func(*gen.Layout) {
		return data(1, func(e *gen.Enc) {
			e.U32(1)
			e.U32(length)
			e.String(content)
			e.U32(2)
			e.U32(3)
			e.U32(0)
			e.U32(2)
		})
	}
	// indices writes the file names section with other section indices for the first unit.
	indices := func(stringTable, symbolNames uint32) func(*gen.Layout) {
		return data(1, func(e *gen.Enc) {
			e.U32(1)
			e.U32(1)
			e.U8(0)
			e.U32(stringTable)
			e.U32(symbolNames)
			e.U32(0)
			e.U32(2)
		})
	}
	row := func(stringIndex, id, info uint32) func(*gen.Layout) {
		return data(3, func(e *gen.Enc) {
			e.U32(1)
			e.U32(stringIndex)
			e.U32(id)
			e.U32(info)
		})
	}
	location := func(write func(e *gen.Enc)) func(*gen.Layout) {
		return data(4, func(e *gen.Enc) {
			e.U64(0)
			e.U64(0)
			e.U32(1)
			write(e)
		})
	}
	for _, c := range []struct {
		name   string
		change func(l *gen.Layout)
		want   string
	}{
		{"path of length 0", path(0, ""), "one NUL"},
		{"path without NUL", path(3, "a.c"), "one NUL"},
		{"path with NUL inside", path(4, "a\x00c\x00"), "one NUL"},
		{"path of two NULs", path(2, "\x00\x00"), "one NUL"},
		{"path past the section", path(1<<31, "a.c\x00"), "bytes wanted"},
		{"more units than fit", data(1, func(e *gen.Enc) { e.U32(math.MaxUint32) }), "bytes wanted"},
		{"no file names", data(1, func(*gen.Enc) {}), "bytes wanted"},
		{"string table index too large", indices(9, 3), "section index 9 of 9"},
		{"string table index of all ones", indices(math.MaxUint32, 3), "section index 4294967295 of 9"},
		{"symbol names index too large", indices(2, 9), "section index 9 of 9"},
		{"string table and symbol names exchanged", indices(3, 2), "type 4, not 1"},
		{"string table as symbol names", indices(2, 2), "type 1, not 4"},
		{"range turned round", unit(func(f *naive.File) { f.Units[0].Start, f.Units[0].End = 2, 0 }), "from 2 to 0"},
		{"ranges overlap by one", unit(func(f *naive.File) { f.Units[0].End = 3 }), "in common"},
		{"equal ranges", unit(func(f *naive.File) { f.Units[0].Start, f.Units[0].End = 2, 3 }), "not in [2, 3)"},
		{"range within another", unit(func(f *naive.File) { f.Units[1].Start, f.Units[1].End = 1, 2 }), "in common"},
		{"ID below the range", unit(func(f *naive.File) { f.Units[0].Start = 1 }), "not in [1, 2)"},
		{"ID behind the range", unit(func(f *naive.File) { f.Units[0].End = 1 }), "not in [0, 1)"},
		{"ID twice", unit(func(f *naive.File) { f.Units[0].Symbols[1].ID = 0 }), "ID 0 twice"},
		{"string index too large", row(2, 0, 4), "string index 2 of 2"},
		{"info index too large", row(0, 0, 9), "section index 9 of 9"},
		{"info index of all ones but one", row(0, 0, math.MaxUint32-1), "section index 4294967294 of 9"},
		{"info index of other type", row(0, 0, 3), "type 4, not 5"},
		{"more rows than fit", data(3, func(e *gen.Enc) { e.U32(math.MaxUint32) }), "bytes wanted"},
		{"more entries than fit", data(0, func(e *gen.Enc) {
			for range 6 {
				e.U64(math.MaxUint64)
			}
		}), "bytes wanted"},
		{"more locations than fit", data(4, func(e *gen.Enc) {
			e.U64(0)
			e.U64(0)
			e.U32(math.MaxUint32)
		}), "bytes wanted"},
		{"more targets than fit", location(func(e *gen.Enc) {
			e.U8(naive.CalledFns)
			e.U24(0)
			e.U32(math.MaxUint32)
		}), "bytes wanted"},
		{"more nested locations than fit", location(func(e *gen.Enc) {
			e.U8(naive.InlinedFn)
			e.U24(0)
			e.U32(0)
			e.U32(1)
		}), "bytes wanted"},
		{"unknown record past the section", location(func(e *gen.Enc) {
			e.U8(7)
			e.U24(0)
			e.U32(2)
			e.U8(0)
		}), "2 bytes wanted, 1 left"},
		{"discriminator missing", location(func(e *gen.Enc) {
			e.U8(0x80 | naive.Zero)
			e.U24(0)
		}), "wanted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, compact := range []bool{false, true} {
				l := gen.Lay(small(), compact)
				c.change(l)
				_, err := naive.Decode(l.Bytes())
				require.ErrorIsf(t, err, naive.ErrMalformed, "%s, compact %v", c.name, compact)
				require.ErrorContains(t, err, c.want, c.name)
			}
		})
	}
}

func TestDecodeCorruptTrie(t *testing.T) {
	// Tries in compact mode, for two strings.
	for _, c := range []struct {
		name, trie, want string
	}{
		{"no root", "", "1 bytes wanted"},
		{"no terminal", "00", "0 terminals for 2"},
		{"one terminal", "8000", "1 terminals for 2"},
		{"terminal twice", "8100 01 61 8000", "terminal ID 0 twice"},
		{"terminal too large", "8100 01 61 8002", "terminal ID 2 of 2"},
		{"label past the section", "8100 05 61 8001", "5 bytes wanted"},
		{"children missing", "8200 01 61 8001", "1 bytes wanted"},
		{"label length above 65535", "8100 808004 61 8001", "does not fit 2 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := gen.Lay(small(), true)
			l.Sections[2].Data = append([]byte{2}, fromHex(t, c.trie)...)
			_, err := naive.Decode(l.Bytes())
			require.ErrorIs(t, err, naive.ErrMalformed, c.name)
			require.ErrorContains(t, err, c.want, c.name)
		})
	}

	// What no note forbids: a leaf that is no terminal, and an empty label.
	l := gen.Lay(small(), true)
	l.Sections[2].Data = fromHex(t, "02 8300 01 78 00 00 00 02 7979 8001")
	f, err := naive.Decode(l.Bytes())
	require.NoError(t, err)
	require.Equal(t, []string{"", "yy"}, f.Units[0].Strings)
}

// TestDecodeVarints checks the rules of format note 5 for varints of each field width.
func TestDecodeVarints(t *testing.T) {
	const (
		disc  = 2
		line  = 3
		count = 4
		wide  = 8
	)
	record := func(width int, varint []byte) []byte {
		e := gen.Enc{Compact: true}
		e.U64(0)
		e.U64(0)
		e.U32(1)
		switch width {
		case disc:
			e.U8(0x80 | naive.Zero)
			e.U24(0)
		case line:
			e.U8(naive.Zero)
		case count:
			e.U8(naive.Normal)
			e.U24(0)
		case wide:
			e.U8(naive.Wide)
			e.U24(0)
		}
		e.Bytes(varint)
		l := gen.Lay(small(), true)
		l.Sections[4].Data = e.Buf
		return l.Bytes()
	}
	decode := func(width int, varint []byte) (uint64, error) {
		f, err := naive.Decode(record(width, varint))
		if err != nil {
			return 0, err
		}
		loc := f.Units[0].Symbols[0].Locations[0]
		return uint64(loc.Line) + uint64(loc.Disc) + loc.Count, nil
	}
	for _, width := range []int{disc, line, count, wide} {
		most := uint64(math.MaxUint64) >> (64 - 8*width)
		for _, v := range []uint64{0, 1, 127, 128, 300, most - 1, most} {
			for n := range 11 {
				var e gen.Enc
				e.Varint(v, n)
				got, err := decode(width, e.Buf)
				require.NoErrorf(t, err, "%d in %d bytes for width %d", v, len(e.Buf), width)
				require.Equal(t, v, got)
			}
			var e gen.Enc
			e.Varint(v, 11)
			_, err := decode(width, e.Buf)
			require.ErrorContains(t, err, "longer than ten bytes")
		}
		if width < wide {
			for _, v := range []uint64{most + 1, 1 << 40, math.MaxUint64} {
				var e gen.Enc
				e.Varint(v, 0)
				_, err := decode(width, e.Buf)
				require.ErrorContainsf(t, err, "does not fit", "%d for width %d", v, width)
			}
		}
	}
	for _, last := range []string{"02", "7f", "80", "81"} {
		t.Run(last, func(t *testing.T) {
			_, err := decode(wide, fromHex(t, "ffffffffffffffffff", last))
			require.ErrorContains(t, err, "longer than ten bytes or 64 bits")
		})
	}

	// The number of sections is seven bytes wide.
	n := uint64(1 << 56)
	l := gen.Lay(small(), true)
	l.NumSections = &n
	_, err := naive.Decode(l.Bytes())
	require.ErrorContains(t, err, "does not fit 7 bytes")
}
