package index_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// openMapped maps data from a file.
func openMapped(t *testing.T, data []byte, o ...afdo.Option) (*indexedReader, error) {
	t.Helper()
	return mapped(t, fileOf(t, data), data, o...)
}

// fileOf writes data to a file.
func fileOf(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// mapped maps a file that has some data.
func mapped(t *testing.T, path string, data []byte, o ...afdo.Option) (*indexedReader, error) {
	t.Helper()
	r, err := afdo.Open(path, trusting(o)...)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return newIndexedReader(r, data), err
}

// many returns a number of units for which the section table is larger than one read of a mapped
// file.
func many(compact bool) int {
	if compact {
		return 3_500
	}
	return 1_000
}

// large returns the sections of a file with a large section table, which a test can change, and the
// contents of the file, which stay the same.
func large(t *testing.T, compact bool) (*gen.Layout, *naive.File) {
	data, truth := largeFile[compact]()
	require.NotNil(t, truth)
	return layoutOf(truth, data), truth
}

var largeFile = map[bool]func() ([]byte, *naive.File){
	false: sync.OnceValues(func() ([]byte, *naive.File) { return makeLarge(false) }),
	true:  sync.OnceValues(func() ([]byte, *naive.File) { return makeLarge(true) }),
}

func makeLarge(compact bool) ([]byte, *naive.File) {
	data := gen.Big(many(compact), compact)
	truth, _ := naive.Decode(data)
	return data, truth
}

// A Reader does not copy a large section table, and the file's contents are the same.
func TestLargeSectionTable(t *testing.T) {
	for _, compact := range []bool{true, false}[:testenv.Rounds(1, 2)] {
		l, _ := large(t, compact)
		l.Add(gen.Section{Type: 0x33, Data: []byte("padding")})
		for _, fixed := range [][2]int{{l.Summary, l.FileNames}, {0, 1}, {31, 32}, {3_777, 12}, {1, 0}, {2_500, 2_499}, {len(l.Sections) - 1, 64}}[:testenv.Rounds(2, 7)] {
			swapped := *l
			swapped.Sections = append([]gen.Section{}, l.Sections...)
			move := func(to int, at, other *int) {
				s := swapped.Sections
				s[to], s[*at] = s[*at], s[to]
				if *other == to {
					*other = *at
				}
				*at = to
			}
			move(fixed[0], &swapped.Summary, &swapped.FileNames)
			move(fixed[1], &swapped.FileNames, &swapped.Summary)
			data := swapped.Bytes()
			want, err := openIndexed(data)
			require.NoError(t, err)
			got, err := openMapped(t, data)
			require.NoError(t, err)
			require.Equal(t, want.NumSections(), got.NumSections())
			for i := 0; i < want.NumSections(); i += 97 {
				a, err := want.Section(i)
				require.NoError(t, err)
				b, err := got.Section(i)
				require.NoError(t, err)
				require.Equal(t, a, b)
			}
			n, err := got.NumUnits()
			require.NoError(t, err)
			require.Equal(t, many(compact)+1, n)
			_, err = got.Summary()
			require.NoError(t, err)
			for s, err := range got.Sections() { // now the table is in memory
				require.NoError(t, err)
				if a, err := want.Section(s.Index); err != nil || a != s {
					require.NoError(t, err)
					require.Equal(t, a, s)
				}
			}
		}
	}
}

// Open finds a fault at any position of a large section table, in mapped files and others.
func TestLargeSectionTableFaulty(t *testing.T) {
	for _, compact := range []bool{true, false}[:testenv.Rounds(1, 2)] {
		l, truth := large(t, compact)
		n := len(truth.Sections)
		for name, edit := range map[string]func(index int, offset, size uint64) (uint64, uint64){
			"overlap": func(_ int, offset, size uint64) (uint64, uint64) { return offset, size + 1 },
			"empty":   func(_ int, offset, _ uint64) (uint64, uint64) { return offset, 0 },
			"outside": func(_ int, offset, _ uint64) (uint64, uint64) { return offset, 1 << 40 },
			"before":  func(_ int, _, size uint64) (uint64, uint64) { return 3, size },
		} {
			for _, at := range []int{0, n - 2, 32, l.Summary, l.FileNames, 1, 31, 33, n / 2, n - 40}[:testenv.Rounds(2, 10)] {
				bad := *l
				bad.Edit = func(index int, offset, size uint64) (uint64, uint64) {
					if index == at {
						return edit(index, offset, size)
					}
					return offset, size
				}
				data := bad.Bytes()
				_, want := openIndexed(data)
				_, got := openMapped(t, data)
				if name == "overlap" && at >= n-1 { // nothing is behind the last one
					continue
				}
				require.ErrorIs(t, want, afdo.ErrHeader, "%s at %d", name, at)
				require.EqualError(t, got, want.Error(), "%s at %d", name, at)
			}
		}
		l.Table = orderOf(l)
		last := len(l.Table) - 1
		l.Table[last], l.Table[last-1] = l.Table[last-1], l.Table[last]
		got, err := openMapped(t, l.Bytes())
		require.NoError(t, err, "another order is legal")
		u, err := got.Unit(gen.BigPath(many(compact) - 1))
		require.NoError(t, err)
		unit, err := readertest.Unit(u)
		require.NoError(t, err)
		require.Equal(t, readertest.Comparable(truth).Units[many(compact)-1], unit)
	}
}

// For a file with a large section table, the first answer of a Reader is the same as for the file
// in memory, whatever is asked first.
func TestLargeSectionTableFirstCall(t *testing.T) {
	for _, compact := range []bool{true, false}[:testenv.Rounds(1, 2)] {
		plain, _ := largeFile[compact]()
		indexed := readertest.Reindex(t, plain, &index.Options{})
		damaged := slices.Clone(indexed)
		truth, err := naive.Decode(indexed)
		require.NoError(t, err)
		for _, s := range truth.Sections {
			if s.Type == naive.SummaryInfo {
				damaged[s.Offset+3] ^= 1
			}
		}
		unsummed := readertest.Reindex(t, plain, &index.Options{NoChecksums: true})
		last := truth.Units[many(compact)-1].Symbols[0]
		calls := map[string]func(r *indexedReader) (any, error){
			"units":   func(r *indexedReader) (any, error) { return r.NumUnits() },
			"summary": func(r *indexedReader) (any, error) { return r.Summary() },
			"index":   func(r *indexedReader) (any, error) { return r.info() },
			"section": func(r *indexedReader) (any, error) { return r.Section(r.NumSections() - 1) },
			"symbol": func(r *indexedReader) (any, error) {
				s, err := r.SymbolByID(afdo.SymbolID(last.ID))
				return s.Name(), err
			},
			"unit": func(r *indexedReader) (any, error) {
				u, err := r.Unit(gen.BigPath(many(compact) - 1))
				if err != nil {
					return nil, err
				}
				return readertest.Unit(u)
			},
			"reindex": func(r *indexedReader) (any, error) {
				var b bytes.Buffer
				err := r.reindex(&b, &index.Options{NoLookups: true, NoInlining: true})
				return b.Bytes(), err
			},
			"check": func(r *indexedReader) (any, error) {
				faults, _ := readertest.CheckFile(r.data)
				return faults, nil
			},
		}
		for _, data := range [][]byte{indexed, damaged, plain, unsummed}[:testenv.Rounds(2, 4)] {
			path := fileOf(t, data)
			for _, o := range [][]afdo.Option{
				nil, {plainReader}, {afdo.SkipChecksums()}, {plainReader, afdo.RequireChecksums()},
			}[:testenv.Rounds(2, 4)] {
				for name, call := range calls {
					if (o != nil || !testenv.Sweep()) && (name == "reindex" || name == "check") { // which take long
						continue
					}
					a, wantErr := openIndexed(data, o...)
					b, gotErr := mapped(t, path, data, o...)
					if wantErr == nil && gotErr == nil {
						var want, got any
						want, wantErr = call(a)
						got, gotErr = call(b)
						require.Equal(t, want, got, name)
					}
					require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), name)
				}
			}
		}
	}
}
