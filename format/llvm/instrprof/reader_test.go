package instrprof_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// manyFunctions returns an indexed file of n functions with ten counters each.
func manyFunctions(t testing.TB, n int) []byte {
	t.Helper()
	p := &instrprof.Profile{Flags: instrprof.IRLevel}
	for i := range n {
		counters := make([]uint64, 10)
		for k := range counters {
			counters[k] = uint64(i*k) % 1000
		}
		r, err := instrprof.NewRecord(fmt.Sprintf("function_%d", i), uint64(i), counters, nil, instrprof.ValueSites{})
		require.NoError(t, err)
		require.NoError(t, p.Add(r, 1))
	}
	return asIndexed(t, p)
}

// A counting counts the reads and the bytes that are read through it.
type counting struct {
	io.ReaderAt
	mu    sync.Mutex
	bytes int
	calls int
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	c.bytes += len(p)
	c.calls++
	c.mu.Unlock()
	return c.ReaderAt.ReadAt(p, off)
}

// TestLookupReadsLittle checks that opening a file and looking up a function read a few hundred
// bytes, however large the file is.
func TestLookupReadsLittle(t *testing.T) {
	data := manyFunctions(t, 20_000)
	src := &counting{ReaderAt: bytes.NewReader(data)}
	r, err := instrprof.NewReader(src, int64(len(data)))
	require.NoError(t, err)
	require.LessOrEqual(t, src.bytes, 1024+16)
	require.Equal(t, 2, src.calls)
	for i := 0; i < 20_000; i += 977 {
		src.bytes, src.calls = 0, 0
		records, err := r.Function(fmt.Sprintf("function_%d", i))
		require.NoError(t, err)
		require.Len(t, records, 1)
		require.Equal(t, uint64(i), records[0].Hash())
		require.Equal(t, uint64(9*i)%1000, records[0].Counters().At(9))
		require.LessOrEqual(t, src.bytes, 8+3*1024)
		require.LessOrEqual(t, src.calls, 4)
	}
}

// TestLookupFindsAll looks up every function of a file, and some that it does not have.
func TestLookupFindsAll(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 47, 48, 49, 1000} {
		data := manyFunctions(t, n)
		r, err := instrprof.OpenBytes(data)
		require.NoError(t, err)
		require.Equal(t, n, r.NumFunctions())
		for p := range r.Check() {
			require.NoError(t, p.Err)
		}
		for i := range n {
			rec, err := r.Record(fmt.Sprintf("function_%d", i), uint64(i))
			require.NoError(t, err)
			require.Equal(t, 10, rec.Counters().Len())
			_, err = r.Record(fmt.Sprintf("function_%d", i), uint64(i)+1)
			require.ErrorIs(t, err, afdo.ErrNotFound)
			_, err = r.Function(fmt.Sprintf("no_function_%d", i))
			require.ErrorIs(t, err, afdo.ErrNotFound)
		}
	}
}

// TestWalkAllocates checks that iterating over the records of a file in memory allocates nothing
// for each record.
func TestWalkAllocates(t *testing.T) {
	r, err := instrprof.OpenBytes(manyFunctions(t, 5000))
	require.NoError(t, err)
	var sum uint64
	allocs := testing.AllocsPerRun(5, func() {
		for rec, err := range r.Records() {
			require.NoError(t, err)
			for i := range rec.Counters().Len() {
				sum += rec.Counters().At(i)
			}
		}
	})
	require.NotZero(t, sum)
	require.Less(t, allocs, 50.0)
}

func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.profdata")
	data := manyFunctions(t, 1000)
	require.NoError(t, os.WriteFile(path, data, 0o666))
	r, err := instrprof.Open(path)
	require.NoError(t, err)
	require.Equal(t, int64(len(data)), r.Size())
	rec, err := r.Record("function_7", 7)
	require.NoError(t, err)

	// A file that is cut under the reader gives an error, not a partial answer.
	require.NoError(t, os.Truncate(path, int64(len(data)/2)))
	_, err = r.Function("function_8")
	require.ErrorIs(t, err, afdo.ErrChanged)
	var failed error
	for _, err := range r.Records() {
		failed = err
	}
	require.ErrorIs(t, failed, afdo.ErrChanged)

	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Close(), afdo.ErrClosed)
	_, err = r.Function("function_7")
	require.ErrorIs(t, err, afdo.ErrClosed)
	require.Equal(t, uint64(7), rec.Counters().At(1))
	require.Equal(t, "function_7", rec.Name())

	_, err = instrprof.Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = instrprof.Open(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
}

func TestConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.profdata")
	require.NoError(t, os.WriteFile(path, manyFunctions(t, 300), 0o666))
	r, err := instrprof.Open(path)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(zooDir, "vtables.profraw"))
	require.NoError(t, err)
	raw, err := instrprof.OpenRawBytes(data)
	require.NoError(t, err)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := g; i < 300; i += 7 {
				if _, err := r.Record(fmt.Sprintf("function_%d", i), uint64(i)); err != nil {
					t.Error(err)
				}
			}
			n := 0
			for _, err := range r.Records() {
				if err != nil {
					t.Error(err)
				}
				n++
			}
			p := &instrprof.Profile{}
			if err := p.AddRaw(raw, 1, nil); err != nil || n != 300 {
				t.Error(n, err)
			}
		})
	}
	all.Wait()
	require.NoError(t, r.Close())
}

// TestCorpus reads files of earlier versions of LLVM, and compares them with the text of
// llvm-profdata 22.
func TestCorpus(t *testing.T) {
	dir := corpus(t)
	for _, name := range []string{"a14", "f19", "a16", "a19", "f14", "f16"}[:testenv.Rounds(1, 6)] {
		file := name + ".profdata"
		p, err := instrprof.Load(filepath.Join(dir, file))
		require.NoError(t, err)
		fromRaw, err := instrprof.Load(filepath.Join(dir, name+".profraw"))
		require.NoError(t, err)
		require.Equal(t, asText(t, p), asText(t, fromRaw), name)
		require.Equal(t, llvmText(t, dir, file), asText(t, p), name)
		require.True(t, bytes.Equal(llvmIndexed(t, dir, file), asIndexed(t, p)), name)
	}
}

func corpus(t testing.TB) string {
	t.Helper()
	return testenv.Corpus(t, "llvm")
}

// TestOlderVersions reads a profile in older versions, which have other headers and fewer fields in
// a record. All fields that a version has must be the same.
func TestOlderVersions(t *testing.T) {
	for version, old := range olderVersions(t) {
		data := read(t, zooDir, "ir.profdata")
		if version < 3 {
			data = withoutValues(t, data)
		}
		want, err := walked(t, data)
		require.NoError(t, err)
		r, err := instrprof.OpenBytes(old)
		require.NoError(t, err)
		require.Equal(t, version, r.Header().Version)
		for p := range r.Check() {
			require.NoError(t, p.Err)
		}
		got, err := walked(t, old)
		require.NoError(t, err)
		require.Equal(t, sortPlain(want), sortPlain(got))
		slow, err := naiveIndexed(old)
		require.NoError(t, err)
		require.Equal(t, sortPlain(want), sortPlain(slow))
	}
}

// olderVersions returns a profile as a file of every version up to 13. Before version 3 it has no
// values.
func olderVersions(t testing.TB) map[uint32][]byte {
	t.Helper()
	files := map[uint32][]byte{}
	for version := uint32(1); version <= 13; version++ {
		data := read(t, zooDir, "ir.profdata")
		if version < 3 {
			data = withoutValues(t, data)
		}
		files[version] = older(t, data, uint64(version))
	}
	return files
}

// withoutValues returns an indexed file with the records of another one, without their value
// profiles.
func withoutValues(t testing.TB, data []byte) []byte {
	t.Helper()
	list, err := naiveIndexed(data)
	require.NoError(t, err)
	p := new(instrprof.Profile)
	for _, f := range list {
		rec, err := instrprof.NewRecord(f.Name, f.Hash, f.Counters, f.Bitmap, instrprof.ValueSites{})
		require.NoError(t, err)
		require.NoError(t, p.Add(rec, 1))
	}
	return asIndexed(t, p)
}

// older writes the functions of a file in the encoding of an earlier version, with a hash table of
// one bucket.
func older(t testing.TB, data []byte, version uint64) []byte {
	t.Helper()
	r, err := instrprof.OpenBytes(data)
	require.NoError(t, err)
	size := 40
	for _, since := range []uint64{8, 9, 10, 12} {
		if version >= since {
			size += 8
		}
	}
	le := binary.LittleEndian
	out := append([]byte(nil), data[:size]...)
	le.PutUint64(out[8:], uint64(r.Header().Flags)<<32|version)
	if version >= 4 {
		out = append(out, data[72:72+64+16*24]...) // the summary
	}
	start := len(out)
	out = le.AppendUint16(out, uint16(r.NumFunctions()))
	list, err := naiveIndexed(data)
	require.NoError(t, err)
	for _, p := range list {
		rec, err := instrprof.NewRecord(p.Name, p.Hash, p.Counters, p.Bitmap, p.Values)
		require.NoError(t, err)
		body := le.AppendUint64(nil, p.Hash)
		if version >= 2 {
			body = le.AppendUint64(body, uint64(len(p.Counters)))
		}
		for _, c := range p.Counters {
			body = le.AppendUint64(body, c)
		}
		if version >= 11 {
			body = le.AppendUint64(body, 0)
		}
		if version >= 3 {
			body = append(body, instrprof.EncodedValues(rec)...)
		}
		for _, w := range []uint64{nameHash(p.Name), uint64(len(p.Name)), uint64(len(body))} {
			out = le.AppendUint64(out, w)
		}
		out = append(append(out, p.Name...), body...)
	}
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	le.PutUint64(out[32:], uint64(len(out)))
	for _, w := range []int{1, r.NumFunctions(), start} {
		out = le.AppendUint64(out, uint64(w))
	}
	end := uint64(len(out))
	for i, since := range []uint64{8, 9, 10, 12} {
		if version >= since {
			// No MemProf, no traces.
			le.PutUint64(out[40+8*i:], []uint64{0, end, 0, end + 8}[i])
		}
	}
	switch { // no binary IDs, no vtable names
	case version >= 12:
		out = append(out, make([]byte, 16)...)
	case version >= 9:
		out = append(out, make([]byte, 8)...)
	}
	return out
}
