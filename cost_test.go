package afdo_test

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// countingReaderAt notes which bytes were read.
type countingReaderAt struct {
	io.ReaderAt
	mu    sync.Mutex
	reads int
	bytes int64
	spans [][2]int64
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	c.bytes += int64(len(p))
	c.spans = append(c.spans, [2]int64{off, off + int64(len(p))})
	return c.ReaderAt.ReadAt(p, off)
}

// One unit of a file of 10,000 costs the header, the section table, the file names section, and
// that unit's sections, and what was read ahead.
func TestUnitCost(t *testing.T) {
	units, which := testenv.Rounds(2_000, 10_000), 1_777
	for _, compact := range []bool{false, true} {
		data := gen.Big(units, compact)
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		unit := truth.Units[which]
		first := truth.Sections[0].Offset
		for _, s := range truth.Sections {
			first = min(first, s.Offset)
		}
		allowed := [][2]int64{{0, first}}
		size := func(i uint32) int64 {
			s := truth.Sections[i]
			allowed = append(allowed, [2]int64{s.Offset, s.Offset + s.Size})
			return s.Size
		}
		fileSize := int64(len(data))
		ahead := fileSize/16 + fileSize/64 // of the section table and the end of the file
		allowed = append(allowed, [2]int64{0, fileSize / 16}, [2]int64{fileSize - fileSize/64, fileSize})
		want := first
		for i, s := range truth.Sections {
			if s.Type == naive.FileNames {
				want += size(uint32(i))
			}
		}
		want += size(unit.StringTableSection) + size(unit.SymbolNamesSection)
		for _, s := range unit.Symbols {
			if s.HasInfo {
				want += size(s.InfoSection)
			}
		}

		counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)))
		require.NoError(t, err)
		u, err := r.Unit(gen.BigPath(which))
		require.NoError(t, err)
		require.NoError(t, u.Load())
		reads := counting.reads
		got, err := readUnit(u)
		require.NoError(t, err)
		require.Equal(t, comparable(truth).Units[which], got)
		require.Equal(t, reads, counting.reads, "Load has read all of the unit")

		require.LessOrEqual(t, counting.bytes, want+ahead)
		for _, span := range counting.spans {
			require.Truef(t, within(span, allowed), "bytes %d to %d are no business of the lookup", span[0], span[1])
		}
		require.LessOrEqual(t, counting.reads, 5, "the end of the file, the section table, the rest of it, the file names, the unit")
	}
}

// within reports whether a span is covered by sections, several of which may be adjacent.
func within(span [2]int64, allowed [][2]int64) bool {
	for at := span[0]; at < span[1]; {
		next := at
		for _, a := range allowed {
			if a[0] <= at && at < a[1] {
				next = a[1]
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// Looking a symbol up by name does not need the samples of the others.
func TestSymbolCost(t *testing.T) {
	data := gen.Big(100, true)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err := afdo.NewReader(counting, int64(len(data)))
	require.NoError(t, err)
	u, err := r.Unit(gen.BigPath(50))
	require.NoError(t, err)
	counting.bytes = 0
	s, err := u.Symbol(gen.BigName(50, 1))
	require.NoError(t, err)
	for range 2 {
		_, err = s.Info()
		require.NoError(t, err)
		_, err = u.Symbol(gen.BigName(50, 1))
		require.NoError(t, err)
	}
	unit := truth.Units[50]
	want := truth.Sections[unit.StringTableSection].Size + truth.Sections[unit.SymbolNamesSection].Size +
		truth.Sections[unit.Symbols[1].InfoSection].Size
	require.Equal(t, want, counting.bytes)
}

// bytesPerOpen opens a file and finds one unit.
func openUnit(t *testing.T, data []byte) *afdo.Unit {
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	u, err := r.Unit(gen.BigPath(1))
	require.NoError(t, err)
	return u
}

// No call allocates by the record, and none of a lookup by the unit or section.
func TestAllocations(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := gen.Big(50, compact)
		few := testing.AllocsPerRun(10, func() { openUnit(t, data) })
		data = gen.Big(5_000, compact)
		many := testing.AllocsPerRun(10, func() { openUnit(t, data) })
		require.LessOrEqual(t, many, few+8, "beyond the growth of the checkpoints")

		nested := gen.Nested(1_000, compact)
		r, err := afdo.OpenBytes(nested)
		require.NoError(t, err)
		u, err := r.Unit(gen.HostilePath)
		require.NoError(t, err)
		s, err := u.Symbol("f")
		require.NoError(t, err)
		c := new(afdo.Cursor)
		records := 0
		walk := func() {
			records = 0
			info, err := s.Info()
			if err != nil {
				t.Fatal(err)
			}
			for c.Reset(info); c.Next(); {
				records++
				for range c.Targets() {
				}
			}
		}
		walk()
		require.Equal(t, 1_001, records)
		require.Zero(t, testing.AllocsPerRun(10, walk))

		symbols := func() {
			for s, err := range u.Symbols() {
				if err != nil || s.Name() == "" {
					t.Fatal(err)
				}
			}
		}
		symbols()
		require.Zero(t, testing.AllocsPerRun(10, symbols))
	}
}
