package afdo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// If several symbols of a unit refer to the same section of samples, the Reader keeps its bytes in
// memory once.
func TestSharedInfo(t *testing.T) {
	const symbols = 3_000
	for _, compact := range []bool{false, true} {
		h := gen.NewHandmade(compact)
		names := h.Section(naive.StringTable, gen.Comb(1, symbols-1))
		info := h.Section(naive.SymbolInfo, gen.ManyCounts(20_000))
		h.Unit("a.c", names, h.Section(naive.SymbolNames, func(e *gen.Enc) {
			e.U32(symbols)
			for i := range uint32(symbols) {
				e.U32(i)
				e.U32(i)
				e.U32(info)
			}
		}), 0, symbols)
		data := h.Bytes()
		for _, load := range []bool{false, true} {
			counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
			r, err := afdo.NewReader(counting, int64(len(data)))
			require.NoError(t, err)
			u, err := r.Unit("a.c")
			require.NoError(t, err)
			used := allocated(func() {
				if load {
					require.NoError(t, u.Load())
				}
				for s, err := range u.Symbols() {
					require.NoError(t, err)
					i, err := s.Info()
					require.NoError(t, err)
					require.Equal(t, 20_000, i.NumLocations())
				}
			})
			require.LessOrEqual(t, counting.Bytes, int64(2*len(data)))
			require.Less(t, used, uint64(4<<20+timesFile*len(data)))
		}
	}
}

// A path that thousands of units have, and thousands of paths with the same hash, do not make
// lookups slow. Otherwise each of these would take minutes.
func TestUnitLookupOfHostilePaths(t *testing.T) {
	units := testenv.Rounds(60_000, 300_000)
	for name, path := range map[string]func(i uint64) string{
		"same":      func(uint64) string { return "a.c" },
		"colliding": collidingPath,
	} {
		t.Run(name, func(t *testing.T) {
			h := gen.NewHandmade(true)
			for i, n := uint64(0), 0; n < units; i++ {
				if p := path(i); !strings.Contains(p, "\x00") {
					h.Unit(p, 0, 0, 0, 0)
					n++
				}
			}
			h.Unit("b.c", 0, 0, 0, 0)
			r, err := afdo.OpenBytes(h.Bytes())
			require.NoError(t, err)
			for range 10 {
				u, err := r.Unit("b.c")
				require.NoError(t, err, name)
				require.Equal(t, units, u.Index())
				_, err = r.Unit("c.c")
				require.ErrorIs(t, err, afdo.ErrNotFound, name)
			}
			_, err = r.Unit("a.c")
			if name == "same" {
				var ambiguous *afdo.AmbiguousError
				require.ErrorAs(t, err, &ambiguous)
				require.Len(t, ambiguous.Paths, units)
			}
		})
	}
}

// collidingPath returns a path of eight bytes. The upper half of its xxhash is i, and the lower
// half is 0.
func collidingPath(i uint64) string { return gen.OfHash(i << 32) }

// The names of thousands of units may expand to megabytes each. A Reader stops decoding names at
// its limit, which counts a table that several units share once.
func TestNamesOfAllUnitsAreLimited(t *testing.T) {
	units := testenv.Rounds(1_000, 2_000)
	for _, shared := range []bool{false, true} {
		h := gen.NewHandmade(true)
		names := uint32(0)
		for i := range units {
			if i == 0 || !shared {
				names = h.Section(naive.StringTable, gen.Comb(4_000, 200))
			}
			h.Unit(strings.Repeat("u", i%7)+string(rune('0'+i)), names, h.Section(naive.SymbolNames, gen.NoRows), 0, 0)
		}
		data := h.Bytes()
		read := 0
		used := allocated(func() {
			r, err := afdo.OpenBytes(data, afdo.MaxNameBytes(1<<20))
			require.NoError(t, err)
			for u, err := range r.Units() {
				require.NoError(t, err)
				if _, err := u.NumSymbols(); err != nil {
					require.ErrorIs(t, err, afdo.ErrLimit)
					break
				}
				read++
			}
		})
		faults, _ := readertest.Problems(data, check.Options{MaxNameBytes: 1 << 20})
		require.Equal(t, !shared, readertest.Has(faults, afdo.ErrLimit), "what cannot be walked is reported")
		if shared {
			require.Equal(t, units, read)
			require.Less(t, used, uint64(4<<20))
			continue
		}
		require.NotZero(t, read)
		require.Less(t, read, 200)
		require.Less(t, used, uint64(12*len(data)))
	}
}

// Whatever the option MaxNameBytes allows, the length of the decoded names is limited by the size
// of the file.
func TestNamesAreLimitedByTheFile(t *testing.T) {
	for _, compact := range []bool{false, true} {
		for n, ok := range map[uint32]bool{400: true, 600: false} {
			data := unitOf(compact, gen.Comb(40_000, n), gen.NoRows, 0)
			r, err := afdo.OpenBytes(data, afdo.MaxNameBytes(1<<30))
			require.NoError(t, err)
			u, err := r.Unit("a.c")
			require.NoError(t, err)
			_, err = u.NumSymbols()
			faults, _ := readertest.Problems(data, check.Options{MaxNameBytes: 1 << 30})
			require.Equal(t, ok, err == nil, "%v: 16 MiB and 64 times %d bytes", err, len(data))
			require.Equal(t, ok, !readertest.Has(faults, afdo.ErrLimit))
			if !ok {
				require.ErrorIs(t, err, afdo.ErrLimit)
			}
		}
	}
}

// Looking up callees alternately in two units decodes the tables of each unit once.
func TestSymbolDecodesOnce(t *testing.T) {
	const rows = 1_000
	h := gen.NewHandmade(true)
	for i := range uint32(2) {
		h.Unit(string(rune('a'+i)), h.Section(naive.StringTable, gen.Comb(10_000, 1_000)), h.Section(naive.SymbolNames, func(e *gen.Enc) {
			e.U32(rows)
			for j := range uint32(rows) {
				e.U32(j)
				e.U32(i*rows + j)
				e.U32(naive.NoInfo)
			}
		}), i*rows, (i+1)*rows)
	}
	r, err := afdo.OpenBytes(h.Bytes())
	require.NoError(t, err)
	used := allocated(func() {
		for j := range afdo.SymbolID(rows) {
			for i := range afdo.SymbolID(2) {
				s, err := r.SymbolByID(i*rows + j)
				require.NoError(t, err)
				require.Greater(t, len(s.Name()), 10_000)
			}
		}
	})
	require.Less(t, used, uint64(100<<20), "each of the two takes 10 MB, twice that while it grows")
}
