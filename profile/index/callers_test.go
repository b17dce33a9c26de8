package index_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// callerIDs returns the symbol IDs that Callers returns, and the number of others.
func callerIDs(t *testing.T, r *indexedReader, callees []afdo.SymbolID, n int) (ids []afdo.SymbolID, others int) {
	t.Helper()
	first, others, err := r.program.Callers(callees, n)
	require.NoError(t, err)
	for _, s := range first {
		ids = append(ids, s.ID())
	}
	return ids, others
}

// Callers returns the first functions that InlinedInto yields, however the file is opened and
// whether or not it believes the index's lists of callers.
func TestCallers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0xca))
	called := 0
	for seed := range uint64(testenv.Rounds(12, 200)) {
		plain, data, _ := randomIndexed(t, seed)
		truth, err := openIndexed(plain, plainReader)
		require.NoError(t, err)
		var all []afdo.SymbolID
		for u, err := range truth.Units() {
			require.NoError(t, err)
			for s, err := range u.Symbols() {
				require.NoError(t, err)
				all = append(all, s.ID())
			}
		}
		readers := indexedSources(t, data)
		for range min(len(all), 30) {
			callees := []afdo.SymbolID{all[random.IntN(len(all))], all[random.IntN(len(all))]}[:1+random.IntN(2)]
			var want []afdo.SymbolID
			for s, err := range truth.program.InlinedInto(callees) {
				require.NoError(t, err)
				want = append(want, s.ID())
			}
			called += len(want)
			n := random.IntN(3)
			shown := len(want)
			if n > 0 {
				shown = min(n, shown)
			}
			for name, r := range readers {
				ids, others := callerIDs(t, r, callees, n)
				require.True(t, slices.Equal(want[:shown], ids), "seed %d, %s: %d of %d callers of %d", seed, name, ids, want, callees)
				require.Equal(t, len(want)-shown, others)
			}
		}
	}
	require.NotZero(t, called)
}

// Wrong lists of callers in pages with correct checksums make no lookup fail. If a list has a
// symbol ID that does not exist, or cannot be decoded, the file is searched.
func TestCallersLie(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		from, to := indexSection(truth)
		q := newQuestions(truth)
		for i := from + 6; i < to-4; i += testenv.Rounds(31, 1) {
			bad := slices.Clone(data)
			bad[i] ^= 1 << (i % 8)
			fixPages(bad[from:to])
			for name, r := range indexedSources(t, bad) {
				for _, callee := range []afdo.SymbolID{1, 2, 3, 9, 1000} {
					_, _, err := r.program.Callers([]afdo.SymbolID{callee}, 0)
					if err != nil {
						require.ErrorIs(t, err, afdo.ErrMalformed, "%s, byte %d", name, i-from)
					}
				}
				if name != "readerat" { // which believes the entries of units
					q.subset(t, r)
				}
			}
		}
	}
}

// In a file without inlined functions, the index answers that there are no callers. No samples are
// read, so damaged samples are not noticed.
func TestNoCallers(t *testing.T) {
	for _, compact := range []bool{false, true} {
		f := &naive.File{Units: []naive.Unit{{Path: "a.c", End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "f", HasInfo: true, Head: 7, Locations: []naive.Location{gen.Count(1, 0, 5)}}, {ID: 1, Name: "g"},
		}}}}
		f.Summary = f.Summarize()
		data := readertest.Reindex(t, gen.Encode(f, compact), fullIndex())
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		data[truth.Sections[truth.Units[0].Symbols[0].InfoSection].Offset+1] ^= 1
		for name, r := range indexedSources(t, data) {
			callers, err := found(r.program.InlinedInto([]afdo.SymbolID{1}))
			require.NoError(t, err, name)
			require.Empty(t, callers, name)
		}
	}
}
