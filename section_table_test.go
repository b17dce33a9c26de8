package afdo_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// largeTableUnits returns how many units make a section table larger than 256 KiB.
func largeTableUnits(compact bool) int {
	if compact {
		return 12_000
	}
	return 3_300
}

// largeTable returns a file with a section table larger than 256 KiB. A Reader of the mapped file
// does not keep such a table in memory. The caller must not change the bytes.
func largeTable(compact bool) []byte {
	if compact {
		return largeCompact()
	}
	return largeNormal()
}

var (
	largeNormal  = sync.OnceValue(func() []byte { return gen.Big(largeTableUnits(false), false) })
	largeCompact = sync.OnceValue(func() []byte { return gen.Big(largeTableUnits(true), true) })
)

// A Reader that does not keep the section table in memory returns the same as one that does, for a
// few units and for all.
func TestLargeTable(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := largeTable(compact)
		memory, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		few, _ := openCopy(t, data)
		for i := 0; i < memory.NumSections(); i += 7_919 {
			require.Equal(t, second1(memory.Section(i)), second1(few.Section(i)))
		}
		for _, i := range []int{0, 1, 1_777, largeTableUnits(compact) / 2, largeTableUnits(compact) - 1} {
			u, err := few.Unit(gen.BigPath(i))
			require.NoError(t, err)
			require.NoError(t, u.Load())
			same, err := memory.Unit(gen.BigPath(i))
			require.NoError(t, err)
			require.Equal(t, second1(readertest.Unit(same)), second1(readertest.Unit(u)))
		}
		require.Equal(t, second1(memory.Summary()), second1(few.Summary()))

		all, _ := openCopy(t, data)
		requireSameSections(t, sections(t, memory), sections(t, all))
		if !compact || !testenv.Sweep() { // as it takes some seconds
			continue
		}
		whole, _ := openCopy(t, data)
		want, err := readertest.File(memory)
		require.NoError(t, err)
		got, err := readertest.File(whole)
		require.NoError(t, err)
		require.True(t, assert.ObjectsAreEqual(want, got), "other units")
	}
}

func second1[T any](v T, err error) any {
	if err != nil {
		return err
	}
	return v
}

func sections(t *testing.T, r *afdo.Reader) (all []afdo.Section) {
	for s, err := range r.Sections() {
		if err != nil {
			require.NoError(t, err)
		}
		all = append(all, s)
	}
	return all
}

// requireSameSections compares two lists of sections. They are too long for the output of testify.
func requireSameSections(t *testing.T, want, got []afdo.Section) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i])
		}
	}
}

// Opening a file with a large section table takes memory for one chunk of the table and for the
// checkpoints.
func TestLargeTableMemory(t *testing.T) {
	for _, compact := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "profile.afdo")
		require.NoError(t, os.WriteFile(path, largeTable(compact), 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := afdo.Open(path)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<10))
	}
}

// A damaged section table gives the same error whether or not it is kept in memory, wherever the
// damage is.
func TestDamagedLargeTable(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := slices.Clone(largeTable(compact))
		memory, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		first, err := memory.Section(0)
		require.NoError(t, err)
		require.Greater(t, first.Offset, int64(256<<10))
		path := filepath.Join(t.TempDir(), "profile.afdo")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		defer file.Close()
		refused := 0
		for at := 60; at < int(first.Offset); at += testenv.Rounds(20_011, 257) { // at other bytes of an entry, and of a chunk
			for _, flip := range []byte{0x80, 0x01, 0xff}[:testenv.Rounds(1, 3)] {
				was := data[at]
				data[at] ^= flip
				_, err := file.WriteAt(data[at:at+1], int64(at))
				require.NoError(t, err)
				_, want := afdo.OpenBytes(data)
				r, got := afdo.Open(path)
				require.Equal(t, want, got, "byte %d", at)
				if want != nil {
					refused++
				} else {
					require.NoError(t, r.Close())
				}
				data[at] = was
				_, err = file.WriteAt(data[at:at+1], int64(at))
				require.NoError(t, err)
			}
		}
		require.Positive(t, refused)
	}
}

// A large section table whose entries are not in file order gives the same content as a sorted one.
func TestLargeTableOutOfOrder(t *testing.T) {
	data := slices.Clone(largeTable(false))
	memory, err := afdo.OpenBytes(largeTable(false))
	require.NoError(t, err)
	const entries = 8 + 1 + 7 + 2*16
	a, b := data[entries+16*100:][:16], data[entries+16*15_000:][:16]
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
	r, _ := openCopy(t, data)
	requireSameSections(t, sections(t, memory), sections(t, r))
}

// Reading a file with a large section table fails after the file was modified or truncated.
func TestLargeTableChanges(t *testing.T) {
	data := largeTable(true)
	for _, change := range []func(path string) error{
		func(path string) error { return os.Truncate(path, 8_192) },
		func(path string) error { return os.Truncate(path, 0) },
		func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)) },
	} {
		r, path := openCopy(t, data)
		require.NoError(t, change(path))
		_, err := r.Section(r.NumSections() / 2)
		require.ErrorIs(t, err, afdo.ErrChanged)
		_, err = r.Unit(gen.BigPath(1))
		require.ErrorIs(t, err, afdo.ErrChanged)
	}
}
