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

// requestShapes are profiles of 2 and of 6 MB, one of which has large units that all others inline
// from.
var requestShapes = map[string]synth.Options{
	"plain":   synth.Medium,
	"headers": {Seed: 1, Units: 300, Functions: 2_000, Shape: synth.Headers},
}

// shapesOfRequests returns those that a test tries: the harder one alone, but in a sweep.
func shapesOfRequests() map[string]synth.Options {
	if testenv.Sweep() {
		return requestShapes
	}
	return map[string]synth.Options{"headers": requestShapes["headers"]}
}

// compactFiles are what compactFile has made, by shape and whether there is an index.
var compactFiles = make(map[string][]byte)

// compactFile returns a file that is not to be changed.
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

// smallUnits returns the paths of n units of less than some number of symbols, spread over the
// file.
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

// countUnit goes through all symbols and samples of a unit and returns how many there are.
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

// To open a file and read one unit of it takes three reads, be the unit loaded or walked, with an
// index or without.
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

// A unit of megabytes takes a read for each piece of it, not one for each function.
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

// The names of symbols of many units come in a few reads, and are those of the file in memory.
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
