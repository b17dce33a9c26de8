package afdo_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/gen"
	"github.com/go-afdo/afdo/internal/naive"
)

// requireSymbol requires a symbol ID to lead to the same symbol, or error, whether a Reader
// looks it up in the encoded tables of its unit or in the decoded ones.
func requireSymbol(t *testing.T, cold *afdo.Reader, u *afdo.Unit, id afdo.SymbolID) {
	t.Helper()
	want, wantErr := u.SymbolByID(id)
	got, err := cold.Symbol(id)
	if wantErr != nil {
		require.EqualError(t, err, wantErr.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, want.ID(), got.ID())
	require.Equal(t, want.Name(), got.Name())
	require.Equal(t, want.HasInfo(), got.HasInfo())
	require.Equal(t, u.Index(), got.Unit().Index())
}

// requireSymbols does so for the symbols of a file and for IDs besides.
func requireSymbols(t *testing.T, data []byte) {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	cold, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for u, err := range r.Units() {
		require.NoError(t, err)
		start, end := u.IDs()
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			requireSymbol(t, cold, u, s.ID())
			if next := s.ID() + 1; next < end {
				requireSymbol(t, cold, u, next)
			}
		}
		if start != end {
			requireSymbol(t, cold, u, start)
			requireSymbol(t, cold, u, end-1)
		}
	}
}

func TestSymbolAgrees(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.afdo"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if bytes.HasPrefix(data, []byte("gcov")) {
			requireSymbols(t, data)
		}
	}
	for seed := range uint64(300) {
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 0)), gen.All())
		requireSymbols(t, data)
	}
	for _, compact := range []bool{false, true} {
		requireSymbols(t, gen.Big(20, compact))
		requireSymbols(t, gen.TrieChain(1_000, compact))
	}
}

// unitOf returns a file with one unit.
func unitOf(compact bool, strings, rows func(e *gen.Enc), end uint32) []byte {
	h := newHandmade(compact)
	h.unit("a.c", h.section(naive.StringTable, strings), h.section(naive.SymbolNames, rows), 0, end)
	return h.bytes()
}

// someRows is the data of symbol names from pairs of a string index and a symbol ID.
func someRows(rows ...[2]uint32) func(e *gen.Enc) {
	return func(e *gen.Enc) {
		e.U32(uint32(len(rows)))
		for _, row := range rows {
			e.U32(row[0])
			e.U32(row[1])
			e.U32(naive.NoInfo)
		}
	}
}

// manyRows is the data of symbol names of n symbols with IDs from start.
func manyRows(start, n uint32) func(e *gen.Enc) {
	rows := make([][2]uint32, n)
	for i := range n {
		rows[i] = [2]uint32{i, start + i}
	}
	return someRows(rows...)
}

// A fault that stands in the way of a symbol is an error; one elsewhere in the unit need not be.
func TestSymbolOfFaultyUnit(t *testing.T) {
	comb := comb(10, 3) // four strings
	lies := func(e *gen.Enc) { e.U32(3); e.U8(2); leaf(e, "f", 0); leaf(e, "f", 0) }
	for _, compact := range []bool{false, true} {
		for name, c := range map[string]struct {
			strings, rows func(e *gen.Enc)
			id            afdo.SymbolID
			want          error // nil for a symbol that is found
		}{
			"sound":                 {comb, someRows([2]uint32{0, 0}, [2]uint32{1, 1}), 1, nil},
			"no such symbol":        {comb, someRows([2]uint32{0, 0}, [2]uint32{1, 1}), 3, afdo.ErrNotFound},
			"no rows":               {comb, noRows, 0, afdo.ErrNotFound},
			"symbol twice":          {comb, someRows([2]uint32{0, 5}, [2]uint32{1, 5}), 5, nil},
			"no such string":        {comb, someRows([2]uint32{4, 0}), 0, afdo.ErrSymbol},
			"string missing":        {lies, someRows([2]uint32{1, 0}), 0, afdo.ErrTrie},
			"string twice":          {lies, someRows([2]uint32{0, 0}), 0, nil},
			"symbol of others":      {comb, someRows([2]uint32{0, 99}, [2]uint32{1, 7}), 7, afdo.ErrSymbol},
			"symbol of others last": {comb, someRows([2]uint32{0, 0}, [2]uint32{1, 99}), 0, nil},
			"rows cut":              {comb, func(e *gen.Enc) { e.U32(2); e.U32(0); e.U32(6) }, 5, afdo.ErrMalformed},
			"strings cut":           {func(e *gen.Enc) { e.U32(1); e.U8(1); e.U16(500); e.String("abcde") }, someRows([2]uint32{0, 0}), 0, afdo.ErrTruncated},
			"too many strings":      {func(e *gen.Enc) { e.U32(1 << 30); e.U8(0) }, someRows([2]uint32{0, 0}), 0, afdo.ErrCount},
		} {
			r, err := afdo.OpenBytes(unitOf(compact, c.strings, c.rows, 10))
			require.NoError(t, err)
			_, err = r.Symbol(c.id)
			require.ErrorIs(t, err, c.want, name)
		}
	}
}

// Of many symbols with names of megabytes, one can be had: it counts how long that one is.
func TestSymbolOfHugeName(t *testing.T) {
	const prefix = 1 << 20
	for _, compact := range []bool{false, true} {
		data := gen.HugeNames(prefix, 4096, compact)
		r, err := afdo.OpenBytes(data, afdo.MaxNameBytes(prefix+4))
		require.NoError(t, err)
		s, err := r.Symbol(4095)
		require.NoError(t, err)
		require.Len(t, s.Name(), prefix+4)

		r, err = afdo.OpenBytes(data, afdo.MaxNameBytes(prefix+3))
		require.NoError(t, err)
		for range 20 {
			_, err = r.Symbol(4095)
			require.ErrorIs(t, err, afdo.ErrLimit)
			require.NotErrorIs(t, err, afdo.ErrMalformed)
		}
	}
}

// Eight symbols of a unit cost a part of what decoding it does. Its sections are read once, whoever comes after.
func TestSymbolCostsLittle(t *testing.T) {
	const strings = 201
	for _, compact := range []bool{false, true} {
		data := unitOf(compact, comb(1_000, strings-1), manyRows(0, strings), strings)
		counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)))
		require.NoError(t, err)
		_, err = r.NumUnits()
		require.NoError(t, err)
		counting.reads = 0
		used := allocated(func() {
			for id := range afdo.SymbolID(8) {
				s, err := r.Symbol(25 * id)
				require.NoError(t, err)
				require.GreaterOrEqual(t, len(s.Name()), 1_000)
			}
		})
		require.Less(t, used, uint64(60<<10), "names and paths of 1 KB, where the unit has 200 KB")
		for range 2 {
			for id := range afdo.SymbolID(strings) {
				_, err := r.Symbol(id)
				require.NoError(t, err)
			}
			u, err := r.Unit("a.c")
			require.NoError(t, err)
			n, err := u.NumSymbols()
			require.NoError(t, err)
			require.Equal(t, strings, n)
		}
		require.Equal(t, 1, counting.reads, "string table and symbol names, which stand together, once")
	}
}

// Where thousands of units share a string table, the limit of what their decoded tables may
// take ends the lookups, and until then they have not read or kept the table each time.
func TestSymbolOfSharedTables(t *testing.T) {
	const units = 3_000
	h := newHandmade(true)
	names := h.section(naive.StringTable, comb(60_000, 3_000))
	for i := range uint32(units) {
		h.unit(string(rune('a'+i)), names, h.section(naive.SymbolNames, someRows([2]uint32{0, i})), i, i+1)
	}
	data := h.bytes()
	counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err := afdo.NewReader(counting, int64(len(data)), afdo.MaxNameBytes(1<<20))
	require.NoError(t, err)
	found := 0
	used := allocated(func() {
		for id := range afdo.SymbolID(units) {
			if _, err := r.Symbol(id); err != nil {
				require.ErrorIs(t, err, afdo.ErrLimit)
				break
			}
			found++
		}
	})
	require.NotZero(t, found)
	require.Less(t, found, 20)
	require.Less(t, counting.bytes, int64(20*len(data)))
	require.Less(t, used, uint64(20<<20))
}

// Lookups from many goroutines find the same as one after the other.
func TestSymbolConcurrently(t *testing.T) {
	const units = 50
	data := gen.Big(units, true)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3 {
				for _, u := range truth.Units {
					for _, want := range u.Symbols {
						s, err := r.Symbol(afdo.SymbolID(want.ID))
						if err != nil || s.Name() != want.Name || s.HasInfo() != want.HasInfo {
							t.Errorf("symbol %d: %+v, %v", want.ID, s, err)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}
