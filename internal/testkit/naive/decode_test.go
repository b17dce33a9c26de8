package naive_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func fromHex(t *testing.T, lines ...string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	require.NoError(t, err)
	return data
}

// TestDecodeHandWritten decodes two files with the same meaning that were written by hand from the
// RFC, so that the decoder is not tested with the generator alone.
func TestDecodeHandWritten(t *testing.T) {
	normal := fromHex(t,
		"67636f76 00000004 2a 00000000000004",                               // magic, version, reserved bits, 4 sections
		"0000000000000150 0000000000000045",                                 // summary
		"000000000000008d 000000000000001d",                                 // file names
		"00000000000000aa 0000000000000083",                                 // symbol info: the table is out of order
		"0000000000000130 0000000000000003",                                 // unknown
		"0000000000000072 000000000000001b",                                 // string table
		"0000000000000133 000000000000001d",                                 // symbol names
		"cccc",                                                              // a gap; then at 0x72
		"01 00000002 01 0003 666f6f 81 00000001 0003 626172 80 00000000 ff", // "foo" is 1, "foobar" 0; ff is left over
		"03 00000001 00000004 612e6300 00000000 00000004 00000005 00000009", // at 0x8d
		"05 0102030405060708 0000000000000009 00000007",                     // at 0xaa
		"01 010203",                           // ZERO
		"82 000001 0a0b 0000012c",             // NORMAL with discriminator
		"03 000002 0000000100000000",          // WIDE
		"04 000003 00000007 0000000000000011", // CALLED_FN
		"05 000004 00000002 00000007 0000000000000012 00000008 0000000000000013", // CALLED_FNS
		"06 000005 00000007 00000002",                                            // INLINED_FN
		"01 000006",                                                              // in it: ZERO
		"ff 000007 0001 00000002 eeee",                                           // in it: unknown type 127 with discriminator
		"07 000008 00000000",                                                     // unknown type 7
		"cccccc",                                                                 // a gap
		"7f eeee",                                                                // at 0x130
		"04 00000002 00000001 00000008 00000002 00000000 00000007 ffffffff", // at 0x133
		"02 0000000000000001 0000000000000002 0000000000000003",             // at 0x150
		"0000000000000004 0000000000000005 0000000000000001",
		"00002710 0000000000000006 0000000000000007",
	)
	compact := fromHex(t,
		"67636f76 00000004 80 8400",                  // magic, version, compact, 4 sections in an over-long varint
		"8901 0b  2c 0b  37 40  7a 03  1a 12  7d 0c", // the same order
		"cccc", // a gap; then at 26
		"81 02 01 03 666f6f 81 01 03 626172 80 808000 ff", // an over-long terminal ID
		"83 01 04 612e6300 00 04 05 09",                   // at 44
		"85 888e98a8c0e0808101 09 07",                     // at 55
		"01 838404",                                       // ZERO
		"82 01 8b14 ac02",                                 // NORMAL
		"03 02 8080808010",                                // WIDE
		"04 03 07 11",                                     // CALLED_FN
		"05 04 02 07 12 08 93808080808080808000",          // CALLED_FNS, ten bytes for 19
		"06 05 07 02",                                     // INLINED_FN
		"01 06",                                           // in it: ZERO
		"ff 07 01 02 eeee",                                // in it: unknown type 127
		"07 08 00",                                        // unknown type 7
		"cccccc",                                          // a gap
		"ff eeee",                                         // at 122
		"84 02 01 08 02 00 07 ffffffff0f",                 // at 125
		"82 01 02 03 04 05 01 904e 06 07",                 // at 137
	)
	want := &naive.File{
		Version: 4,
		Sections: []naive.Section{
			{Type: 1, Offset: 0x72, Size: 27, Trailing: 1},
			{Type: 3, Offset: 0x8d, Size: 29},
			{Type: 5, Offset: 0xaa, Size: 131},
			{Type: 127, Offset: 0x130, Size: 3},
			{Type: 4, Offset: 0x133, Size: 29},
			{Type: 2, Offset: 0x150, Size: 69},
		},
		Summary: naive.Summary{
			TotalCount: 1, MaxCount: 2, MaxFnCount: 3, NumCounts: 4, NumFunctions: 5,
			Entries: []naive.Entry{{Cutoff: 10000, MinCount: 6, NumCounts: 7}},
		},
		Units: []naive.Unit{{
			Path: "a.c", StringTableSection: 0, SymbolNamesSection: 4, Start: 5, End: 9,
			Strings: []string{"foobar", "foo"},
			Symbols: []naive.Symbol{{
				ID: 8, Name: "foo", StringIndex: 1, InfoSection: 2, HasInfo: true,
				Head: 0x0102030405060708, Timestamp: 9, NumLocations: 7, Skipped: 2,
				Locations: []naive.Location{
					{Type: naive.Zero, Line: 0x010203},
					{Type: naive.Normal, Line: 1, Disc: 0x0a0b, Count: 300},
					{Type: naive.Wide, Line: 2, Count: 1 << 32},
					{Type: naive.CalledFn, Line: 3, Targets: []naive.Target{{Callee: 7, Count: 17}}},
					{Type: naive.CalledFns, Line: 4, Targets: []naive.Target{{Callee: 7, Count: 18}, {Callee: 8, Count: 19}}},
					{Type: naive.InlinedFn, Line: 5, Callee: 7, NumLocations: 2, Locations: []naive.Location{{Type: naive.Zero, Line: 6}}},
				},
			}, {
				ID: 7, Name: "foobar", StringIndex: 0, InfoSection: naive.NoInfo,
			}},
		}},
	}
	got, err := naive.Decode(normal)
	require.NoError(t, err)
	require.Equal(t, want, got)

	want.Compact = true
	want.Sections = []naive.Section{
		{Type: 1, Compact: true, Offset: 26, Size: 18, Trailing: 1},
		{Type: 3, Compact: true, Offset: 44, Size: 11},
		{Type: 5, Compact: true, Offset: 55, Size: 64},
		{Type: 127, Compact: true, Offset: 122, Size: 3},
		{Type: 4, Compact: true, Offset: 125, Size: 12},
		{Type: 2, Compact: true, Offset: 137, Size: 11},
	}
	got, err = naive.Decode(compact)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// small returns a legal file with two units: "a.c" with the symbols 0 "f" and 1 "g", and the unit
// of unknown files with symbol 2 "f". All have info: sections 4, 5 and 8. String tables are 2 and
// 6, symbol names 3 and 7.
func small() *naive.File {
	return &naive.File{Units: []naive.Unit{
		{Path: "a.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "f", HasInfo: true, Head: 1, Locations: []naive.Location{gen.Count(1, 2, 3)}},
			{ID: 1, Name: "g", HasInfo: true, Head: 1, Locations: []naive.Location{
				gen.Inlined(1, 0, 0, gen.Count(1, 2, 1<<40)),
				{Type: naive.CalledFn, Line: 2, Targets: []naive.Target{{Callee: 0, Count: 3}}},
			}},
		}},
		{Start: 2, End: 3, Symbols: []naive.Symbol{{ID: 2, Name: "f", HasInfo: true, Head: 1}}},
	}}
}

// A file in which nothing may be missing, cut anywhere, is malformed.
func TestDecodeTruncated(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := gen.Encode(small(), compact)
		_, err := naive.Decode(data)
		require.NoError(t, err)
		for n := range data {
			f, err := naive.Decode(data[:n])
			require.ErrorIsf(t, err, naive.ErrMalformed, "%d of %d bytes", n, len(data))
			require.Nil(t, f)
		}
	}
}

// Whatever the bytes, Decode returns either a file or one of its errors.
func TestDecodeMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	files := testenv.Rounds(600, 3000)
	for range files {
		data, _ := gen.Random(r, gen.All())
		for range 1 + r.IntN(4) {
			data[8+r.IntN(len(data)-8)] = byte(r.Uint32())
		}
		f, err := naive.Decode(data)
		if err == nil {
			require.NotNil(t, f)
			continue
		}
		failed++
		require.Nil(t, f)
		var e *naive.Error
		require.ErrorAs(t, err, &e)
		require.LessOrEqual(t, e.Offset, int64(len(data)))
	}
	require.Greater(t, failed, files/4)
	require.Less(t, failed, files)
}

func TestDecodeLimits(t *testing.T) {
	for _, compact := range []bool{false, true} {
		f, err := naive.Decode(gen.Nested(naive.MaxDepth, compact))
		require.NoError(t, err)
		depth := 0
		for ls := f.Units[0].Symbols[0].Locations; ls[0].Type == naive.InlinedFn; ls = ls[0].Locations {
			depth++
		}
		require.Equal(t, naive.MaxDepth, depth)
		_, err = naive.Decode(gen.Nested(naive.MaxDepth+1, compact))
		require.ErrorIs(t, err, naive.ErrLimit)

		f, err = naive.Decode(gen.TrieChain(naive.MaxDepth, compact))
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("x", naive.MaxDepth), f.Units[0].Symbols[0].Name)
		_, err = naive.Decode(gen.TrieChain(naive.MaxDepth+1, compact))
		require.ErrorIs(t, err, naive.ErrLimit)
	}
}

func TestError(t *testing.T) {
	data := gen.Encode(small(), false)
	f, err := naive.Decode(data)
	require.NoError(t, err)
	s := f.Sections[3] // symbol names: the last row's section index
	data[s.Offset+s.Size-1] = 99
	_, err = naive.Decode(data)
	var e *naive.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 3, e.Section)
	require.Equal(t, s.Offset+s.Size, e.Offset)
	require.EqualError(t, err, fmt.Sprintf("malformed: section 3, offset %d: section index 99 of 9", e.Offset))
}
