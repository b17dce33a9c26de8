package afdo_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// requireSymbol checks that Unit.SymbolByID, Reader.SymbolByID and Reader.SymbolsByID return the
// same symbol or error for an ID.
func requireSymbol(t *testing.T, cold *afdo.Reader, u *afdo.Unit, id afdo.SymbolID) {
	t.Helper()
	want, wantErr := u.SymbolByID(id)
	got, err := cold.SymbolByID(id)
	if wantErr != nil {
		require.EqualError(t, err, wantErr.Error())
		_, err = cold.SymbolsByID([]afdo.SymbolID{id})
		require.EqualError(t, err, wantErr.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, readertest.Describe(want), readertest.Describe(got))
}

// requirePicked checks for random subsets of a file's symbols that one call finds the same symbols
// as lookups one by one.
func requirePicked(t *testing.T, data []byte, ids []afdo.SymbolID, r *rand.Rand) {
	t.Helper()
	for _, share := range []int{1, 2, 9, 20, 50} {
		var some []afdo.SymbolID
		for _, id := range ids {
			if r.IntN(share) == 0 {
				some = append(some, id)
			}
		}
		if len(some) > 0 {
			some = append(some, some[0]) // twice
		}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		cold, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		got, err := cold.SymbolsByID(some)
		require.NoError(t, err)
		require.Len(t, got, len(some))
		for i, id := range some {
			want, err := cold.SymbolByID(id)
			require.NoError(t, err)
			require.Equal(t, readertest.Describe(want), readertest.Describe(got[i]))
		}
	}
}

// requireSymbols checks lookups by ID, see requireSymbol and requirePicked, for all symbols of a
// file and for IDs that do not exist.
func requireSymbols(t *testing.T, data []byte) {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	cold, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var ids []afdo.SymbolID
	for u, err := range r.Units() {
		require.NoError(t, err)
		start, end := u.IDs()
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			ids = append(ids, s.ID())
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
	requirePicked(t, data, ids, rand.New(rand.NewPCG(uint64(len(data)), 3)))
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
	for seed := range uint64(testenv.Rounds(30, 300)) {
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 0)), gen.All())
		requireSymbols(t, data)
	}
	for _, compact := range []bool{false, true} {
		requireSymbols(t, gen.Big(20, compact))
		requireSymbols(t, gen.TrieChain(1_000, compact))
	}
}

// unitOf returns a file with one unit. strings and rows write its string table and its symbol
// names, and its symbol IDs are from 0 to end-1.
func unitOf(compact bool, strings, rows func(e *gen.Enc), end uint32) []byte {
	h := gen.NewHandmade(compact)
	h.Unit("a.c", h.Section(naive.StringTable, strings), h.Section(naive.SymbolNames, rows), 0, end)
	return h.Bytes()
}

// someRows returns a function that writes symbol names. Each row is a string index and a symbol ID.
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

// manyRows returns a function that writes the symbol names of n symbols, with IDs from start.
func manyRows(start, n uint32) func(e *gen.Enc) {
	rows := make([][2]uint32, n)
	for i := range n {
		rows[i] = [2]uint32{i, start + i}
	}
	return someRows(rows...)
}

// A fault that affects the looked-up symbol is an error. A fault elsewhere in the unit may stay
// unnoticed if SymbolsByID decodes only a few of many symbols.
func TestSymbolOfFaultyUnit(t *testing.T) {
	comb := gen.Comb(10, 19) // twenty strings
	lies := func(e *gen.Enc) { e.U32(3); e.U8(2); gen.Leaf(e, "f", 0); gen.Leaf(e, "f", 0) }
	many := func(rows ...[2]uint32) func(e *gen.Enc) { // after eighteen others, in the order of their IDs
		var all [][2]uint32
		for i := range uint32(18) {
			all = append(all, [2]uint32{i, i})
		}
		return someRows(append(all, rows...)...)
	}
	for _, compact := range []bool{false, true} {
		for name, c := range map[string]struct {
			strings, rows func(e *gen.Enc)
			id            afdo.SymbolID
			want          error // nil for a symbol that is found
		}{
			"sound":            {comb, many([2]uint32{18, 18}, [2]uint32{19, 19}), 19, nil},
			"no such symbol":   {comb, many([2]uint32{18, 18}, [2]uint32{19, 19}), 30, afdo.ErrNotFound},
			"no rows":          {comb, gen.NoRows, 0, afdo.ErrNotFound},
			"symbol twice":     {comb, many([2]uint32{18, 25}, [2]uint32{19, 25}), 25, afdo.ErrSymbol},
			"another twice":    {comb, many([2]uint32{18, 25}, [2]uint32{19, 25}), 5, nil},
			"no such string":   {comb, many([2]uint32{20, 18}), 18, afdo.ErrSymbol},
			"another without":  {comb, many([2]uint32{20, 18}), 5, nil},
			"string missing":   {lies, someRows([2]uint32{1, 0}), 0, afdo.ErrTrie},
			"string twice":     {lies, someRows([2]uint32{0, 0}), 0, afdo.ErrTrie},
			"another's twice":  {lies, many(), 0, nil},
			"symbol of others": {comb, many([2]uint32{18, 99}, [2]uint32{19, 27}), 27, afdo.ErrSymbol},
			"rows cut":         {comb, func(e *gen.Enc) { e.U32(2); e.U32(0); e.U32(6) }, 5, afdo.ErrMalformed},
			"strings cut":      {func(e *gen.Enc) { e.U32(1); e.U8(1); e.U16(500); e.String("abcde") }, someRows([2]uint32{0, 0}), 0, afdo.ErrTruncated},
			"too many strings": {func(e *gen.Enc) { e.U32(1 << 30); e.U8(0) }, someRows([2]uint32{0, 0}), 0, afdo.ErrCount},
		} {
			r, err := afdo.OpenBytes(unitOf(compact, c.strings, c.rows, 50))
			require.NoError(t, err)
			_, err = r.SymbolsByID([]afdo.SymbolID{c.id})
			require.ErrorIs(t, err, c.want, name)
			if c.want != nil {
				_, err = r.SymbolByID(c.id)
				require.ErrorIs(t, err, c.want, name)
			}
		}
	}
}

// In a unit whose names take megabytes each, a lookup of one symbol succeeds if its own name is
// within the limit MaxNameBytes.
func TestSymbolOfHugeName(t *testing.T) {
	const prefix = 1 << 20
	for _, compact := range []bool{false, true} {
		data := gen.HugeNames(prefix, 4096, compact)
		r, err := afdo.OpenBytes(data, afdo.MaxNameBytes(prefix+4))
		require.NoError(t, err)
		s, err := r.SymbolsByID([]afdo.SymbolID{4095})
		require.NoError(t, err)
		require.Len(t, s[0].Name(), prefix+4)

		r, err = afdo.OpenBytes(data, afdo.MaxNameBytes(prefix+3))
		require.NoError(t, err)
		for range testenv.Rounds(3, 20) {
			_, err = r.SymbolsByID([]afdo.SymbolID{4095})
			require.ErrorIs(t, err, afdo.ErrLimit)
			require.NotErrorIs(t, err, afdo.ErrMalformed)
		}
	}
}

// Looking up eight symbols of a large unit costs a fraction of decoding the unit. A second lookup
// in the unit decodes it, once for all later lookups.
func TestSymbolCostsLittle(t *testing.T) {
	const strings = 201
	for _, compact := range []bool{false, true} {
		data := unitOf(compact, gen.Comb(1_000, strings-1), manyRows(0, strings), strings)
		counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)))
		require.NoError(t, err)
		_, err = r.NumUnits()
		require.NoError(t, err)
		counting.Reads = 0
		used := allocated(func() {
			symbols, err := r.SymbolsByID([]afdo.SymbolID{0, 25, 50, 75, 100, 125, 150, 175})
			require.NoError(t, err)
			for _, s := range symbols {
				require.GreaterOrEqual(t, len(s.Name()), 1_000)
			}
		})
		require.Less(t, used, uint64(60<<10), "names and paths of 1 KB, where the unit has 200 KB")
		for range 2 {
			for id := range afdo.SymbolID(strings) {
				_, err := r.SymbolByID(id)
				require.NoError(t, err)
			}
			u, err := r.Unit("a.c")
			require.NoError(t, err)
			n, err := u.NumSymbols()
			require.NoError(t, err)
			require.Equal(t, strings, n)
		}
		require.LessOrEqual(t, counting.Reads, 2, "string table and symbol names, which stand together, once for some and once for all")
	}
}

// SymbolsByID finds the same symbols in units whose rows are in the order of their IDs, as the
// builder writes them, and in units with another order.
func TestSymbolsByIDInAnyOrder(t *testing.T) {
	const n = 300
	ids := []afdo.SymbolID{6, 9, 9, 120, 297}
	for _, compact := range []bool{false, true} {
		for name, place := range map[string]func(i uint32) [2]uint32{
			"in order":  func(i uint32) [2]uint32 { return [2]uint32{i, i} },
			"backwards": func(i uint32) [2]uint32 { return [2]uint32{n - 1 - i, n - 1 - i} },
			"swapped":   func(i uint32) [2]uint32 { return [2]uint32{i ^ 1, i ^ 1} },
			"apart":     func(i uint32) [2]uint32 { return [2]uint32{i, 3 * i} },
		} {
			var rows [][2]uint32
			for i := range uint32(n) {
				rows = append(rows, place(i))
			}
			r, err := afdo.OpenBytes(unitOf(compact, gen.Comb(4, n-1), someRows(rows...), 3*n))
			require.NoError(t, err)
			u, err := r.Unit("a.c")
			require.NoError(t, err)
			for _, some := range [][]afdo.SymbolID{ids, ids[3:]} {
				got, err := r.SymbolsByID(some)
				require.NoError(t, err, name)
				for i, id := range some {
					want, err := u.SymbolByID(id)
					require.NoError(t, err, name)
					require.Equal(t, readertest.Describe(want), readertest.Describe(got[i]), name)
				}
			}
		}
	}
}

// A string table that thousands of units share is read and decoded once.
func TestSymbolOfSharedTables(t *testing.T) {
	const units = 3_000
	h := gen.NewHandmade(true)
	names := h.Section(naive.StringTable, gen.Comb(300, 800))
	for i := range uint32(units) {
		h.Unit(string(rune('a'+i)), names, h.Section(naive.SymbolNames, someRows([2]uint32{0, i})), i, i+1)
	}
	data := h.Bytes()
	counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err := afdo.NewReader(counting, int64(len(data)), afdo.MaxNameBytes(1<<20))
	require.NoError(t, err)
	used := allocated(func() {
		for id := range afdo.SymbolID(units) {
			s, err := r.SymbolByID(id)
			require.NoError(t, err)
			require.Equal(t, strings.Repeat("x", 300)+"a", s.Name())
		}
	})
	require.Less(t, counting.Bytes, int64(2*len(data)))
	require.Less(t, used, uint64(20<<20))

	r, err = afdo.NewReader(counting, int64(len(data)))
	require.NoError(t, err)
	all := make([]afdo.SymbolID, units)
	for i := range all {
		all[i] = afdo.SymbolID(i)
	}
	counting.Bytes = 0
	used = allocated(func() {
		_, err := r.SymbolsByID(all)
		require.NoError(t, err)
	})
	require.Less(t, counting.Bytes, int64(2*len(data)), "at once, they are not more")
	require.Less(t, used, uint64(20<<20))
}

// Concurrent lookups find the same symbols as lookups one after another.
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
						s, err := r.SymbolByID(afdo.SymbolID(want.ID))
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

// SymbolsByID reads the tables of one unit after another into the same memory. Names that it
// returned before stay correct.
func TestSymbolsOfManyUnits(t *testing.T) {
	f := &naive.File{}
	names := make(map[afdo.SymbolID]string)
	var ids []afdo.SymbolID
	for unit := range 60 {
		u := naive.Unit{Path: gen.BigPath(unit), Start: uint32(1000 * unit), End: uint32(1000*unit + 1000)}
		n := 20 + unit*37%90 // symbols; some units have more than those before and some have fewer
		for i := range n {
			id := u.Start + uint32(i)
			names[afdo.SymbolID(id)] = fmt.Sprintf("_ZN4unit%d6symbol%dEv", unit*unit, i+unit)
			u.Symbols = append(u.Symbols, naive.Symbol{ID: id, Name: names[afdo.SymbolID(id)]})
		}
		ids = append(ids, afdo.SymbolID(u.Start), afdo.SymbolID(u.Start)+afdo.SymbolID(n-1))
		if unit%5 == 0 { // so many that all of the unit are decoded
			for i := range n / 2 {
				ids = append(ids, afdo.SymbolID(u.Start)+afdo.SymbolID(i))
			}
		}
		f.Units = append(f.Units, u)
	}
	f.Summary = f.Summarize()
	slices.Reverse(ids)
	for _, compact := range []bool{false, true} {
		for name, r := range readertest.Sources(t, gen.Encode(f, compact)) {
			for range 2 {
				symbols, err := r.SymbolsByID(ids)
				require.NoError(t, err)
				for i, s := range symbols {
					require.Equal(t, names[ids[i]], s.Name(), name)
					again, err := s.Unit().Symbol(s.Name())
					require.NoError(t, err)
					require.Equal(t, ids[i], again.ID(), name)
				}
			}
		}
	}
}
