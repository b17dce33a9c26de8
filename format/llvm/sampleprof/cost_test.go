package sampleprof

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/synth"
)

// A countingReaderAt counts the reads and the bytes that are read through it.
type countingReaderAt struct {
	io.ReaderAt
	mu    sync.Mutex
	reads [][2]int64
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	c.reads = append(c.reads, [2]int64{off, int64(len(p))})
	c.mu.Unlock()
	return c.ReaderAt.ReadAt(p, off)
}

func (c *countingReaderAt) take() (reads [][2]int64, n int64) {
	reads, c.reads = c.reads, nil
	for _, r := range reads {
		n += r[1]
	}
	return reads, n
}

// realistic returns a profile whose functions and records are about as many and as nested as in
// real profiles.
func realistic(t testing.TB) *Profile {
	t.Helper()
	p, _ := FromGCOV(synth.Profile(synth.Small))
	return p
}

// TestWhatIsRead counts the bytes that calls read. Opening reads the header and the section table.
// The first lookup reads the names, the function offsets and the function. The next lookup reads
// its function only.
func TestWhatIsRead(t *testing.T) {
	p := realistic(t)
	data := extBinary(t, p, WriteOptions{})
	counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err := NewReader(counting, int64(len(data)))
	require.NoError(t, err)
	_, n := counting.take()
	assert.Less(t, n, int64(300))

	list := p.sorted()
	middle, other := p.Name(list[len(list)/2].Name).Text, p.Name(list[len(list)/3].Name).Text
	f, err := r.Function(middle)
	require.NoError(t, err)
	reads, _ := counting.take()
	sections := map[SectionType]Section{}
	for _, s := range r.Sections() {
		sections[s.Type] = s
	}
	whole := func(t SectionType) [2]int64 { return [2]int64{sections[t].Offset, sections[t].Size} }
	w := bodyWriter{rank: identityRank(r.names.len())}
	w.function(f, uint32(f.Name))
	require.Len(t, reads, 3)
	assert.Equal(t, whole(SectionNames), reads[0])
	assert.Equal(t, whole(SectionFuncOffsets), reads[1])
	assert.Equal(t, int64(len(w.data)), reads[2][1], "the bytes of the function and no others")

	_, err = r.Function(other)
	require.NoError(t, err)
	reads, n = counting.take()
	require.Len(t, reads, 1)
	assert.Less(t, n, int64(20_000))
	_, err = r.Function("nobody")
	require.ErrorIs(t, err, afdo.ErrNotFound)
	reads, _ = counting.take()
	assert.Empty(t, reads)

	_, err = r.Summary()
	require.NoError(t, err)
	reads, _ = counting.take()
	assert.Equal(t, [][2]int64{whole(SectionSummary)}, reads)
}

func identityRank(n int) []uint32 {
	rank := make([]uint32, n)
	for i := range rank {
		rank[i] = uint32(i)
	}
	return rank
}

// TestAllocations checks that a Reader of a file in memory copies nothing: it allocates tables and
// the function that is looked up.
func TestAllocations(t *testing.T) {
	data := extBinary(t, realistic(t), WriteOptions{})
	used := allocated(func() {
		r, err := OpenBytes(data)
		require.NoError(t, err)
		n := 0
		for f, err := range r.Functions() {
			require.NoError(t, err)
			n += len(f.Records)
		}
		require.Positive(t, n)
	})
	require.Less(t, used, uint64(len(data)))

	r, err := OpenBytes(data)
	require.NoError(t, err)
	walk := func() (records int) {
		for f := range r.Functions() {
			records += len(f.Records)
		}
		return records
	}
	records := walk()
	allocations := testing.AllocsPerRun(3, func() { walk() })
	require.Less(t, allocations, float64(r.Sections()[4].Size)/100, "%d records", records)
}

// TestLookups looks every function up by name, by GUID and by context, in every layout. Each must
// equal the function in the whole profile.
func TestLookups(t *testing.T) {
	for name, data := range seeds(t) {
		r, err := OpenBytes(data)
		require.NoError(t, err)
		p := decoded(t, data)
		m := merger{compare: p.compare}
		for f := range p.Functions() {
			var found []*Function
			take := func(g *Function, err error) {
				require.NoError(t, err, name)
				found = append(found, g)
			}
			if n := p.Name(f.Name); p.ContextSensitive {
				context := string(appendContext(nil, f.Context, p.Name))
				if !n.Hashed {
					take(r.Function(context))
				}
				if len(f.Context) == 1 {
					take(r.FunctionByGUID(n.GUID()))
				}
			} else {
				if !n.Hashed {
					take(r.Function(n.Text))
				}
				take(r.FunctionByGUID(n.GUID()))
			}
			for _, g := range found {
				tr := translation{p: p, name: r.Name}
				require.Equal(t, f, tr.function(g, unweighted), name)
			}
		}
		require.Zero(t, m.dropped)
	}
}

func TestContexts(t *testing.T) {
	text := "[main]:7:2\n 1: 4\n[main:3 @ foo:1.2 @ leaf]:7:1\n 1: 4\n[leaf]:3:3\n 1: 3\n"
	r, err := OpenBytes(extBinary(t, parse(t, text), WriteOptions{}))
	require.NoError(t, err)
	var totals []uint64
	for f, err := range r.Contexts("leaf") {
		require.NoError(t, err)
		totals = append(totals, f.Total)
	}
	require.Equal(t, []uint64{3, 7}, totals)
	for _, name := range []string{"[main:3 @ foo:1.2 @ leaf]", "main:3 @ foo:1.2 @ leaf"} {
		f, err := r.Function(name)
		require.NoError(t, err)
		require.Len(t, f.Context, 3)
	}
	for _, name := range []string{"foo", "main:4 @ foo:1.2 @ leaf", "main:3 @", ""} {
		_, err := r.Function(name)
		require.ErrorIs(t, err, afdo.ErrNotFound, name)
	}
	for _, err := range r.Contexts("nobody") {
		require.ErrorIs(t, err, afdo.ErrNotFound)
	}
}

// TestConcurrency calls a Reader from many goroutines, from the first call on.
func TestConcurrency(t *testing.T) {
	p := realistic(t)
	for _, o := range []WriteOptions{{}, {Compress: true}, {SplitLayout: true}} {
		data := extBinary(t, p, o)
		path := filepath.Join(t.TempDir(), "profile")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		r, err := Open(path)
		require.NoError(t, err)
		list := p.sorted()
		var wait sync.WaitGroup
		var wrong atomic.Int64
		for i := range 8 {
			wait.Go(func() {
				for j := range 40 {
					want := list[(i*41+j*7)%len(list)]
					f, err := r.Function(p.Name(want.Name).Text)
					if err != nil || f.Total != want.Total || len(f.Records) != len(want.Records) {
						wrong.Add(1)
					}
				}
				for range r.Functions() {
				}
				if _, err := r.Summary(); err != nil {
					wrong.Add(1)
				}
			})
		}
		wait.Wait()
		require.Zero(t, wrong.Load())
		require.NoError(t, r.Close())
		require.ErrorIs(t, r.Close(), afdo.ErrClosed)
		_, err = r.Function(p.Name(list[0].Name).Text)
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = r.Summary()
		require.ErrorIs(t, err, afdo.ErrClosed)
		for _, err := range r.Functions() {
			require.ErrorIs(t, err, afdo.ErrClosed)
		}
	}
}

// TestFileChanges truncates or overwrites a file while it is open. The next call that reads the
// file must return an error.
func TestFileChanges(t *testing.T) {
	data := extBinary(t, realistic(t), WriteOptions{})
	for name, change := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
	} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		r, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, change(path))
		_, err = Read(r)
		var read *afdo.ReadError
		require.ErrorAs(t, err, &read, name)
		require.True(t, errors.Is(err, afdo.ErrChanged) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
		require.NoError(t, r.Close())
	}
	_, err := Open(t.TempDir())
	require.Error(t, err)
	_, err = Open(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = NewReader(bytes.NewReader(nil), -1)
	require.Error(t, err)
}
