package index_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile/index"
)

// Opening a file and looking up a symbol in all of 10,000 units reads some pages of the index and
// the names of one unit. If the symbol was inlined into other units, the lookup may read more
// pages, but needs no more requests.
func TestIndexCost(t *testing.T) {
	units, which := testenv.Rounds(2_000, 10_000), 1_777
	for _, compact := range []bool{true, false}[:testenv.Rounds(1, 2)] {
		data := readertest.Reindex(t, gen.Big(units, compact), fullIndex())
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		place := func(i uint32) [2]int64 {
			s := truth.Sections[i]
			return [2]int64{s.Offset, s.Offset + s.Size}
		}
		unit := truth.Units[which]
		own := [][2]int64{place(unit.StringTableSection), place(unit.SymbolNamesSection)}
		for _, s := range unit.Symbols {
			if s.HasInfo {
				own = append(own, place(s.InfoSection))
			}
		}
		index := place(uint32(len(truth.Sections) - 1))
		var fileNames [2]int64
		first := index[0]
		for i, s := range truth.Sections {
			first = min(first, s.Offset)
			if s.Type == naive.FileNames {
				fileNames = place(uint32(i))
			}
		}

		for name, ask := range map[string]func(r *indexedReader) int{
			"named": func(r *indexedReader) int {
				got, err := found(r.program.Named(gen.BigName(which, 1)))
				require.NoError(t, err)
				return len(got)
			},
			"cut": func(r *indexedReader) int {
				got, err := found(r.program.Clones(gen.BigName(which, 1)))
				require.NoError(t, err)
				return len(got)
			},
			"missing": func(r *indexedReader) int {
				got, err := found(r.program.Named("no such name"))
				require.NoError(t, err)
				return len(got) + 1
			},
			"owner": func(r *indexedReader) int {
				_, err := r.UnitOf(afdo.SymbolID(unit.Symbols[0].ID))
				require.NoError(t, err)
				return 1
			},
			"unit": func(r *indexedReader) int {
				u, err := r.Unit(gen.BigPath(which))
				require.NoError(t, err)
				got, err := found(r.elsewhere(u))
				require.NoError(t, err)
				return len(got) + 1
			},
		} {
			counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
			r, err := afdo.NewReader(counting, int64(len(data)), afdo.TrustIndex())
			require.NoError(t, err)
			require.Equal(t, 1, ask(newIndexedReader(r, data)), name)

			pages, names, table := int64(0), int64(0), int64(0)
			for _, span := range counting.Spans {
				switch {
				case readertest.Within(span, [][2]int64{index}):
					pages += span[1] - span[0]
				case readertest.Within(span, [][2]int64{fileNames}):
					names += span[1] - span[0]
				case readertest.Within(span, [][2]int64{{0, first}}):
					table += span[1] - span[0]
				default:
					require.Truef(t, readertest.Within(span, own), "%s: bytes %d to %d are no business of the lookup", name, span[0], span[1])
				}
			}
			most := int64(128*1024 + 6*32*1024)
			if name == "unit" { // three symbols: what each is worth a request for may be read, and one gap
				most += (3 + 1) * 256 * 1024
			}
			require.LessOrEqual(t, pages, most, name)
			require.Zero(t, names, name)
			require.Zero(t, table, name)
			require.LessOrEqual(t, counting.Reads, 9, name)
		}
	}
}

// Many goroutines use an index at the same time, before it has been read.
func TestIndexConcurrently(t *testing.T) {
	_, data, _ := randomIndexed(t, 8)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	q := newQuestions(truth)
	for _, o := range []afdo.Option{afdo.RequireChecksums(), plainReader} {
		for _, r := range indexedSources(t, data, o) {
			var wg sync.WaitGroup
			for range testenv.Rounds(2, 4) {
				wg.Go(func() {
					if failed := q.ask(t, r, nil); failed != 0 {
						t.Error(failed)
					}
				})
			}
			wg.Wait()
		}
	}
}

// Check reads the names once and copies no section, so it allocates at most ten times the size of
// this file, which consists mostly of names.
func TestCheckMemory(t *testing.T) {
	data := readertest.Reindex(t, gen.Big(2_000, true), fullIndex())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for err := range index.Check(data, func(*afdo.Reader) (*index.Options, error) { return fullIndex(), nil }, true) {
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*len(data)))
}
