package afdo_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile/index"
)

// requestShapes describes two generated profiles: one of 2 MB, and one of 6 MB with large units
// whose functions are inlined into all others.
var requestShapes = map[string]synth.Options{
	"plain":   synth.Medium,
	"headers": {Seed: 1, Units: 300, Functions: 2_000, Shape: synth.Headers},
}

// shapesOfRequests returns the profiles to test: all of requestShapes in a sweep, and otherwise
// only the larger one.
func shapesOfRequests() map[string]synth.Options {
	if testenv.Sweep() {
		return requestShapes
	}
	return map[string]synth.Options{"headers": requestShapes["headers"]}
}

// compactFiles caches the results of compactFile, by profile and options of the index.
var compactFiles = make(map[string][]byte)

// compactFile returns a generated compact file. The caller must not change the bytes.
func compactFile(t testing.TB, o synth.Options, x *index.Options) []byte {
	t.Helper()
	key := fmt.Sprint(o, x != nil)
	if compactFiles[key] == nil {
		var b bytes.Buffer
		require.NoError(t, builder.Write(&b, synth.Profile(o), builder.Options{Compact: true, Index: x}))
		compactFiles[key] = b.Bytes()
	}
	return compactFiles[key]
}

// smallUnits returns the paths of n units with few symbols, spread over the file.
func smallUnits(t testing.TB, data []byte, n int) (paths []string) {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	var all []string
	for u, err := range r.Units() {
		require.NoError(t, err)
		if start, end := u.IDs(); end-start < 500 {
			all = append(all, u.Path())
		}
	}
	for i := range n {
		paths = append(paths, all[i*len(all)/n])
	}
	return paths
}

// countUnit iterates over all symbols and samples of a unit and returns their numbers.
func countUnit(t testing.TB, u *afdo.Unit) (symbols, records int) {
	t.Helper()
	var c afdo.Cursor
	for s, err := range u.Symbols() {
		require.NoError(t, err)
		symbols++
		if !s.HasInfo() {
			continue
		}
		info, err := s.Info()
		require.NoError(t, err)
		for c.Reset(info); c.Next(); {
			records++
		}
		require.NoError(t, c.Err())
	}
	return symbols, records
}

// Opening a file and reading one unit takes three reads, with and without an index, and with and
// without Unit.Load.
func TestRequests(t *testing.T) {
	for name, o := range shapesOfRequests() {
		for _, x := range []*index.Options{nil, {}} {
			data := compactFile(t, o, x)
			whole, err := afdo.OpenBytes(data)
			require.NoError(t, err)
			for _, path := range smallUnits(t, data, 14) {
				for _, load := range []bool{false, true} {
					counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
					r, err := afdo.NewReader(counting, int64(len(data)), afdo.TrustIndex())
					require.NoError(t, err)
					u, err := r.Unit(path)
					require.NoError(t, err)
					if load {
						require.NoError(t, u.Load())
					}
					symbols, records := countUnit(t, u)
					what := fmt.Sprintf("%s, %s, load %v, index %v", name, path, load, x != nil)
					require.LessOrEqual(t, counting.Reads, 3, what)
					require.Less(t, counting.Bytes, int64(len(data)/4), what)

					v, err := whole.Unit(path)
					require.NoError(t, err)
					wantSymbols, wantRecords := countUnit(t, v)
					require.Equal(t, [2]int{wantSymbols, wantRecords}, [2]int{symbols, records}, what)
				}
			}
		}
	}
}

// Reading a unit of several megabytes takes one read for each chunk of it, not one for each
// function.
func TestRequestsOfLargeUnit(t *testing.T) {
	data := compactFile(t, requestShapes["headers"], nil)
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	var largest *afdo.Unit
	most := afdo.SymbolID(0)
	for u, err := range r.Units() {
		require.NoError(t, err)
		if start, end := u.IDs(); end-start > most {
			largest, most = u, end-start
		}
	}
	counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err = afdo.NewReader(counting, int64(len(data)))
	require.NoError(t, err)
	u, err := r.Unit(largest.Path())
	require.NoError(t, err)
	symbols, records := countUnit(t, u)
	require.Greater(t, symbols, 1_000)
	require.Greater(t, records, 1_000)
	require.LessOrEqual(t, counting.Reads, 3+2*len(data)/(64<<10))
}

// Looking up symbols of many units takes a few reads, and finds the same names as in a file in
// memory.
func TestRequestsOfNames(t *testing.T) {
	for name, o := range shapesOfRequests() {
		for _, x := range []*index.Options{nil, {}} {
			data := compactFile(t, o, x)
			whole, err := afdo.OpenBytes(data)
			require.NoError(t, err)
			var ids []afdo.SymbolID
			for u, err := range whole.Units() {
				require.NoError(t, err)
				if start, end := u.IDs(); start != end && u.Index()%7 == 0 {
					ids = append(ids, start, end-1)
				}
			}
			want, err := whole.SymbolsByID(ids)
			require.NoError(t, err)
			counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
			r, err := afdo.NewReader(counting, int64(len(data)), afdo.TrustIndex())
			require.NoError(t, err)
			got, err := r.SymbolsByID(ids)
			require.NoError(t, err)
			for i := range want {
				require.Equal(t, readertest.Describe(want[i]), readertest.Describe(got[i]))
			}
			require.Greater(t, len(ids), 80)
			require.LessOrEqual(t, counting.Reads, 14, "%s, index %v", name, x != nil)
		}
	}
}
