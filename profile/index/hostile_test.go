package index_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile/index"
)

// Many names and paths in the same slot of a hash table do not make lookups slow. If each lookup
// compared all of them, this test would take minutes.
func TestIndexOfCollidingNames(t *testing.T) {
	n := uint32(testenv.Rounds(6_000, 60_000))
	f := &naive.File{Units: []naive.Unit{{Path: "a.c", End: n}}}
	for i := range n {
		f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: i, Name: gen.OfHash(uint64(i) << 8)})
		path := gen.OfHash(uint64(i) << 8)
		if bytes.IndexByte([]byte(path), 0) < 0 {
			f.Units = append(f.Units, naive.Unit{Path: path, Start: n, End: n})
		}
	}
	f.Units = append(f.Units, naive.Unit{Start: n, End: n})
	r, err := openIndexed(readertest.Reindex(t, gen.Encode(f, true), &index.Options{}))
	require.NoError(t, err)
	for _, u := range f.Units {
		got, err := r.Unit(u.Path)
		require.NoError(t, err)
		require.Equal(t, u.Path, got.Path())
	}
	for _, s := range f.Units[0].Symbols {
		got, err := found(r.program.Named(s.Name))
		require.NoError(t, err)
		require.Equal(t, []string{fmt.Sprintf("%d %q false unit 0 \"a.c\"", s.ID, s.Name)}, got)
	}
}

// If thousands of symbols share one section of samples, neither a lookup nor writing an index reads
// it thousands of times.
func TestIndexOfSharedSamples(t *testing.T) {
	testenv.NeedSweep(t)
	const wide, leaves, counts = 90, 5, 200_000
	const symbols = wide * wide * leaves
	h := gen.NewHandmade(true)
	names := h.Section(naive.StringTable, func(e *gen.Enc) {
		e.U32(symbols)
		e.U8(wide)
		for i := range uint32(wide * wide) {
			if i%wide == 0 {
				e.U16(1)
				e.U8(byte('!' + i/wide))
				e.U8(wide)
			}
			e.U16(1)
			e.U8(byte('!' + i%wide))
			e.U8(leaves)
			for j := range uint32(leaves) {
				gen.Leaf(e, string(rune('a'+j)), i*leaves+j)
			}
		}
	})
	info := h.Section(naive.SymbolInfo, gen.ManyCounts(counts))
	h.Unit("a.c", names, h.Section(naive.SymbolNames, func(e *gen.Enc) {
		e.U32(symbols)
		for i := range uint32(symbols) {
			e.U32(i)
			e.U32(i)
			e.U32(info)
		}
	}), 0, symbols)
	r, err := openIndexed(h.Bytes())
	require.NoError(t, err)
	u, err := r.Unit("a.c")
	require.NoError(t, err)
	_, err = found(r.elsewhere(u))
	require.ErrorIs(t, err, afdo.ErrLimit)
	_, err = found(r.program.InlinedInto([]afdo.SymbolID{1}))
	require.ErrorIs(t, err, afdo.ErrLimit)
	var b bytes.Buffer
	require.ErrorIs(t, r.reindex(&b, &index.Options{}), afdo.ErrLimit)
	require.Zero(t, b.Len())
	require.NoError(t, r.reindex(&b, &index.Options{NoInlining: true}))
	_, err = found(r.program.Named("!!a"))
	require.NoError(t, err)
}

// If thousands of units share one string table, a search does not read it thousands of times.
func TestSearchOfSharedNames(t *testing.T) {
	const strings = 50_000
	units := testenv.Rounds(5_000, 30_000)
	h := gen.NewHandmade(true)
	names := h.Section(naive.StringTable, gen.Comb(1, strings))
	rows := h.Section(naive.SymbolNames, func(e *gen.Enc) { e.U32(0) })
	for i := range units {
		h.Unit(fmt.Sprint(i), names, rows, 0, 0)
	}
	r, err := openIndexed(h.Bytes())
	require.NoError(t, err)
	for range testenv.Rounds(1, 10) {
		_, err = found(r.program.Named("x"))
		require.ErrorIs(t, err, afdo.ErrLimit)
	}
}
