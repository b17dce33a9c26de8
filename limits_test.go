package afdo_test

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// timesFile limits the memory for a hostile file, as a multiple of the size of the file.
const timesFile = 40

func TestDeepNesting(t *testing.T) {
	depth := testenv.Rounds(200_000, 2_000_000)
	for _, compact := range []bool{false, true} {
		data := gen.Nested(depth, compact)
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		u, err := r.Unit(gen.HostilePath)
		require.NoError(t, err)
		s, err := u.Symbol("f")
		require.NoError(t, err)
		deepest, sum := 0, uint64(0)
		used := allocated(func() {
			info, err := s.Info()
			require.NoError(t, err)
			c := info.Cursor()
			for c.Next() {
				deepest = max(deepest, c.Depth())
				sum += c.Location().Count
			}
			require.NoError(t, c.Err())
			faults, _ := readertest.CheckFile(data)
			require.Empty(t, faults)
		})
		require.Equal(t, depth, deepest)
		require.EqualValues(t, 7, sum)
		require.Less(t, used, uint64(len(data))*timesFile)
	}
}

func TestTrieChain(t *testing.T) {
	length := testenv.Rounds(500_000, 2_000_000)
	data := gen.TrieChain(length, true)
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	used := allocated(func() {
		u, err := r.Unit(gen.HostilePath)
		require.NoError(t, err)
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			require.Len(t, s.Name(), length)
			cold, err := r.Unit(gen.HostilePath)
			require.NoError(t, err)
			_, err = cold.Symbol(s.Name())
			require.NoError(t, err)
		}
		faults, _ := readertest.CheckFile(data)
		require.Empty(t, faults)
	})
	require.Less(t, used, uint64(len(data))*timesFile)
}

// A string table of a few bytes can expand to names of any length. The option MaxNameBytes limits
// their total length.
func TestHugeNames(t *testing.T) {
	data := gen.HugeNames(1<<20, 4096, true) // 4 GiB of names
	r, err := afdo.OpenBytes(data, afdo.MaxNameBytes(32<<20))
	require.NoError(t, err)
	used := allocated(func() {
		u, err := r.Unit(gen.HostilePath)
		require.NoError(t, err)
		_, err = u.NumSymbols()
		require.ErrorIs(t, err, afdo.ErrLimit)
		require.NotErrorIs(t, err, afdo.ErrMalformed)
		faults, _ := readertest.CheckFile(data)
		require.True(t, readertest.Has(faults, afdo.ErrLimit))
	})
	require.Less(t, used, uint64(512<<20), "twice, with what growing the text leaves behind")

	r, err = afdo.OpenBytes(data)
	require.NoError(t, err)
	u, err := r.Unit(gen.HostilePath)
	require.NoError(t, err)
	_, err = u.Symbol("not there") // follows the encoded trie, which spells nothing out
	require.ErrorIs(t, err, afdo.ErrNotFound)
	_, err = u.NumSymbols()
	require.ErrorIs(t, err, afdo.ErrLimit, "the default limits 4 GiB, too")
}

// A count that exceeds what the rest of the section can hold is an error. It causes no large
// allocation and no long loop.
func TestHugeCounts(t *testing.T) {
	unit := func() *naive.File {
		return &naive.File{Units: []naive.Unit{
			{Path: "a.c", End: 1, Symbols: []naive.Symbol{{Name: "f", HasInfo: true, Head: 1, Locations: []naive.Location{gen.Count(1, 0, 2)}}}},
			{Path: "", Start: 1, End: 1},
		}}
	}
	const huge = 0xFFFFFFFF
	u32 := func(data []byte, at int) { binary.BigEndian.PutUint32(data[at:], huge) }
	record := func(t byte, tail ...byte) []byte {
		data := make([]byte, 20)
		data[19] = 1 // one location
		return append(append(data, t, 0, 0, 1), tail...)
	}
	for name, edit := range map[string]func(l *gen.Layout){
		"strings":   func(l *gen.Layout) { u32(section(l, naive.StringTable).Data, 0) },
		"units":     func(l *gen.Layout) { u32(section(l, naive.FileNames).Data, 0) },
		"symbols":   func(l *gen.Layout) { u32(section(l, naive.SymbolNames).Data, 0) },
		"locations": func(l *gen.Layout) { u32(section(l, naive.SymbolInfo).Data, 16) },
		"targets": func(l *gen.Layout) {
			section(l, naive.SymbolInfo).Data = record(5, 0xff, 0xff, 0xff, 0xff)
		},
		"inlined locations": func(l *gen.Layout) {
			section(l, naive.SymbolInfo).Data = record(6, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
		},
		"entries": func(l *gen.Layout) {
			binary.BigEndian.PutUint64(section(l, naive.SummaryInfo).Data[40:], 1<<63)
		},
	} {
		t.Run(name, func(t *testing.T) {
			layout := gen.Lay(unit(), false)
			edit(layout)
			data := layout.Bytes()
			used := allocated(func() {
				r, err := afdo.OpenBytes(data)
				require.NoError(t, err, name)
				_, err = readertest.File(r)
				require.ErrorIs(t, err, afdo.ErrCount, name)
				faults, _ := readertest.CheckFile(data)
				require.True(t, readertest.Has(faults, afdo.ErrCount), name)
			})
			require.Less(t, used, uint64(1<<20), name)
		})
	}
}

func section(l *gen.Layout, typ uint8) *gen.Section {
	for i := range l.Sections {
		if l.Sections[i].Type == typ {
			return &l.Sections[i]
		}
	}
	return nil
}

func TestHugeSectionTable(t *testing.T) {
	for _, compact := range []bool{false, true} {
		layout := gen.Lay(&naive.File{Units: []naive.Unit{{}}}, compact)
		n := uint64(1<<56 - 1)
		layout.NumSections = &n
		data := layout.Bytes()
		used := allocated(func() {
			_, err := afdo.OpenBytes(data)
			require.ErrorIs(t, err, afdo.ErrHeader)
			faults, _ := readertest.CheckFile(data)
			require.True(t, readertest.Has(faults, afdo.ErrHeader))
		})
		require.Less(t, used, uint64(1<<20))
	}
}

// In a compact section table, an entry may contain any offset. Reading the table must not go beyond
// the bytes that its entries can take.
func TestShortFiles(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := gen.RFCExample(compact)
		for n := range data {
			r, err := afdo.OpenBytes(data[:n])
			if err == nil {
				_, err = readertest.File(r)
			}
			require.Error(t, err, "%d of %d bytes", n, len(data))
			require.True(t, errors.Is(err, afdo.ErrMalformed), "%d of %d bytes: %v", n, len(data), err)
		}
	}
}

// A sparseReaderAt is a file of any size that contains zeros, except for some bytes at given
// offsets.
type sparseReaderAt map[int64][]byte

func (s sparseReaderAt) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for at, data := range s {
		if from := at - off; from >= 0 && from < int64(len(p)) {
			copy(p[from:], data)
		} else if from < 0 && -from < int64(len(data)) {
			copy(p, data[-from:])
		}
	}
	return len(p), nil
}

// fileHeader returns a header and section table for count entries. places are the offsets and sizes
// of the summary, of the file names, and of the first entries.
func fileHeader(compact bool, count uint64, places ...uint64) []byte {
	e := gen.Enc{Compact: compact}
	head := []byte("gcov\x00\x00\x00\x04\x00")
	if compact {
		head[8] = 0x80
	}
	e.U56(count)
	for _, v := range places {
		e.U64(v)
	}
	return append(head, e.Buf...)
}

// An io.ReaderAt may claim a size that no file has.
func TestHugeSizes(t *testing.T) {
	open := func(size int64, parts sparseReaderAt, o ...afdo.Option) error {
		_, err := afdo.NewReader(parts, size, o...)
		return err
	}
	for _, bits := range []int{33, 40, 60} {
		size := uint64(1) << bits
		for _, index := range []string{"\x7fafdo\x01", "\x7f"} { // as large as the file
			err := open(int64(size), sparseReaderAt{0: fileHeader(false, 1, 100, 10, 110, 10, 200, size-200), 200: []byte(index)})
			require.NoError(t, err, "the index is not used")
		}
	}
	for _, count := range []uint64{1 << 27, 1 << 29} { // tables of 2 and 8 GB
		if count == 1<<29 || math.MaxInt == math.MaxInt32 {
			err := open(1<<40, sparseReaderAt{0: fileHeader(false, count, 1<<35, 10, 1<<36, 10)})
			require.ErrorIs(t, err, afdo.ErrLimit)
		}
	}
	// Two sections that overlap by numbers of more than 56 bits.
	const size = 1 << 60
	err := open(size, sparseReaderAt{0: fileHeader(true, 3, size/2, 10, size/2+10, 10, 20000, 1<<57, 20005, 10, 20030, 10)})
	require.ErrorIs(t, err, afdo.ErrHeader)
	require.ErrorContains(t, err, "overlap")
}
