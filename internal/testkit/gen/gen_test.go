package gen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestEnc(t *testing.T) {
	fields := func(e *Enc) {
		e.U8(0xfe)
		e.U16(0x1234)
		e.U24(0x123456)
		e.U32(300)
		e.U56(1<<56 - 1)
		e.U64(math.MaxUint64)
		e.String("ab")
		e.Bytes([]byte{0})
	}
	for _, c := range []struct {
		name string
		enc  Enc
		want string
	}{
		{"normal", Enc{}, "fe 1234 123456 0000012c ffffffffffffff ffffffffffffffff 6162 00"},
		{"compact", Enc{Compact: true}, "fe b424 d6e848 ac02 ffffffffffffff7f ffffffffffffffffff01 6162 00"},
		{"stretched", Enc{Compact: true, Stretch: func() int { return 4 }},
			"fe b4a48000 d6e8c800 ac828000 ffffffffffffff7f ffffffffffffffffff01 6162 00"},
		{"stretched to ten", Enc{Compact: true, Stretch: func() int { return 10 }},
			"fe b4a48080808080808000 d6e8c880808080808000 ac828080808080808000 ffffffffffffffff8000 ffffffffffffffffff01 6162 00"},
	} {
		fields(&c.enc)
		require.Equal(t, strings.ReplaceAll(c.want, " ", ""), hex.EncodeToString(c.enc.Buf), c.name)
	}
	require.Panics(t, func() { (&Enc{}).U24(1 << 24) })
	require.Panics(t, func() { (&Enc{}).U56(1 << 56) })

	var e Enc
	e.Varint(1<<32, 0)
	e.Varint(0, 11)
	require.Equal(t, "8080808010"+"8080808080808080808000", hex.EncodeToString(e.Buf))
}

// TestCompactHeaderSettles checks compact headers, whose length depends on the offsets in them,
// while the offsets depend on the length of the header.
func TestCompactHeaderSettles(t *testing.T) {
	lengths := map[int64]bool{}
	for sections := 0; sections < 90; sections += testenv.Rounds(3, 1) {
		for _, size := range []int{0, 127, 128, 16300, 1, 60, 100, 129}[:testenv.Rounds(4, 8)] {
			l := Lay(&naive.File{}, true)
			for range sections {
				l.Add(Section{Type: 9, Data: make([]byte, size)})
			}
			data := l.Bytes()
			f, err := naive.Decode(data)
			require.NoError(t, err)
			require.Len(t, f.Sections, 2+sections)
			end := f.Sections[0].Offset
			lengths[end] = true
			for _, s := range f.Sections {
				require.Equal(t, end, s.Offset)
				end += s.Size
			}
			require.Len(t, data, int(end))
		}
	}
	require.Greater(t, len(lengths), testenv.Rounds(40, 100))
}

func TestLayout(t *testing.T) {
	n := uint64(1<<56 - 1)
	l := &Layout{
		Version: 5, Reserved: 0x55, Summary: 2, FileNames: -1, Table: []int{1, 0}, NumSections: &n,
		Sections: []Section{
			{Type: 1, Data: []byte("one")},
			{Type: 2, Compact: true, Data: []byte("two"), Gap: []byte("gap")},
			{Type: 3},
		},
		Tail: []byte("tail"),
		Edit: func(index int, offset, size uint64) (uint64, uint64) { return offset, size + uint64(index) },
	}
	const start = 8 + 1 + 7 + 16*4
	words := func(words ...uint64) (s string) {
		for _, w := range words {
			s += string(binary.BigEndian.AppendUint64(nil, w))
		}
		return s
	}
	want := "gcov\x00\x00\x00\x05" + words(0x55<<56|n, start+11, 1+2, 0, 0, start+7, 4+1, start, 4+0) +
		"\x01one" + "gap" + "\x82two" + "\x03" + "tail"
	require.Equal(t, want, string(l.Bytes()))

	_, placed := l.Assemble()
	require.Equal(t, []naive.Section{
		{Type: 1, Offset: start, Size: 4},
		{Type: 2, Compact: true, Offset: start + 7, Size: 4},
		{Type: 3, Offset: start + 11, Size: 1},
	}, placed)
}

func TestUnitSections(t *testing.T) {
	f := big(5)
	for _, compact := range []bool{false, true} {
		decoded, err := naive.Decode(Encode(f, compact))
		require.NoError(t, err)
		for i, u := range decoded.Units {
			stringTable, symbolNames := UnitSections(f, i)
			require.Equal(t, u.StringTableSection, uint32(stringTable))
			require.Equal(t, u.SymbolNamesSection, uint32(symbolNames))
		}
	}
}

// TestPlainTrieWithManyChildren checks that a trie node with more than 127 children gets further
// ones below an empty label, and that no string is lost.
func TestPlainTrieWithManyChildren(t *testing.T) {
	var names []string
	for i := range 256 {
		names = append(names, string([]byte{byte(i)}), string([]byte{byte(i), 'x'}))
	}
	names = append(names, "", strings.Repeat("long", 40_000), strings.Repeat("long", 40_001))
	f := &naive.File{Units: []naive.Unit{{End: uint32(len(names))}}}
	for i, name := range names {
		f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: uint32(i), Name: name})
	}
	for _, compact := range []bool{false, true} {
		got, err := naive.Decode(Encode(f, compact))
		require.NoError(t, err)
		require.Equal(t, names, got.Units[0].Strings)
	}
}

func TestRFCExample(t *testing.T) {
	for _, compact := range []bool{false, true} {
		f, err := naive.Decode(RFCExample(compact))
		require.NoError(t, err)
		require.Equal(t, compact, f.Compact)
		require.Equal(t, rfcExample().Summary, f.Summary)
		require.Equal(t, f.Summary, f.Summarize(), "the example's figures come out of its records")

		p, err := f.Canonical()
		require.NoError(t, err)
		require.Equal(t, f.Summary, p.Summarize())
		bubble := naive.Key{Path: "/home/user/test.c", Name: "bubble_sort"}
		sort := naive.Key{Path: "/home/user/test.c", Name: "sort_array"}
		printf := naive.Key{Path: "/usr/include/bits/stdio2.h", Name: "printf"}
		require.Equal(t, map[naive.Key]bool{bubble: true, sort: true, printf: true}, p.Symbols)
		require.Len(t, p.Functions, 2)
		require.Len(t, p.Functions[bubble].Body.Counts, 12)
		require.Equal(t, uint64(659399), p.Functions[bubble].Body.Counts[naive.Place{Line: 4, Disc: 2}])
		require.Len(t, p.Functions[sort].Body.Counts, 9)
		require.Equal(t, map[naive.Place]uint64{{Line: 0}: 0, {Line: 2}: 0},
			p.Functions[sort].Body.Inlined[naive.Place{Line: 1}][printf].Counts)

		require.Equal(t, []string{"", "/home/user/test.c", "/usr/include/bits/stdio2.h"},
			[]string{f.Units[2].Path, f.Units[0].Path, f.Units[1].Path})
		require.Empty(t, f.Units[2].Symbols)
	}
}

func TestBig(t *testing.T) {
	units := testenv.Rounds(500, 3_000)
	data := Big(units, true)
	f, err := naive.Decode(Big(units, false))
	require.NoError(t, err)
	fc, err := naive.Decode(data)
	require.NoError(t, err)
	equal(t, f.Units, fc.Units, "normal and compact")
	require.Len(t, f.Units, units+1)
	require.Len(t, f.Sections, 2+units*(2+BigSymbols-1)+2)
	require.Equal(t, f.Summarize(), f.Summary)
	require.Equal(t, uint64(units*(BigSymbols-1)), f.Summary.NumFunctions)
	paths := map[string]bool{}
	for i, u := range f.Units[:units] {
		require.Equal(t, BigPath(i), u.Path)
		paths[u.Path] = true
		for j, s := range u.Symbols {
			require.Equal(t, BigName(i, j), s.Name)
			require.Equal(t, uint32(BigSymbols*i+j+1), s.ID)
			require.Equal(t, j < BigSymbols-1, s.HasInfo)
		}
	}
	require.Len(t, paths, units)
	_, err = f.Canonical()
	require.NoError(t, err)
}

func TestHostileFilesAreLegal(t *testing.T) {
	for _, compact := range []bool{false, true} {
		f, err := naive.Decode(Nested(3, compact))
		require.NoError(t, err)
		require.Equal(t, HostilePath, f.Units[0].Path)
		require.Equal(t, []naive.Location{Inlined(1, 0, 0, Inlined(1, 0, 0, Inlined(1, 0, 0, Count(2, 0, 7))))},
			f.Units[0].Symbols[0].Locations)

		f, err = naive.Decode(TrieChain(5, compact))
		require.NoError(t, err)
		require.Equal(t, []string{"xxxxx"}, f.Units[0].Strings)

		const prefix, n = 70_000, 300
		data := HugeNames(prefix, n, compact)
		require.Less(t, len(data), prefix+30*n)
		f, err = naive.Decode(data)
		require.NoError(t, err)
		require.Len(t, f.Units[0].Symbols, n)
		x := strings.Repeat("x", prefix)
		for i, s := range f.Units[0].Symbols {
			require.True(t, s.Name == x+fmt.Sprintf("%04x", i))
			require.Equal(t, uint32(i), s.ID)
		}
	}
}

// TestHostileFilesCanBeDeep checks that the functions that make hostile files do not fail for great
// depths.
func TestHostileFilesCanBeDeep(t *testing.T) {
	n := testenv.Rounds(20_000, 1_000_000)
	for _, compact := range []bool{false, true} {
		_, err := naive.Decode(Nested(n, compact))
		require.ErrorIs(t, err, naive.ErrLimit)
		_, err = naive.Decode(TrieChain(n, compact))
		require.ErrorIs(t, err, naive.ErrLimit)
	}
	_, err := naive.Decode(HugeNames(1<<20, 1000, true))
	require.ErrorIs(t, err, naive.ErrLimit)
}
