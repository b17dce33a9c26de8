package afdo_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// Reading one unit of a file with 10,000 units reads the header, the section table, the file names,
// the sections of that unit, and what is read ahead.
func TestUnitCost(t *testing.T) {
	units, which := testenv.Rounds(2_000, 10_000), 1_777
	for _, compact := range []bool{true, false}[:testenv.Rounds(1, 2)] {
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

		counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)))
		require.NoError(t, err)
		u, err := r.Unit(gen.BigPath(which))
		require.NoError(t, err)
		require.NoError(t, u.Load())
		reads := counting.Reads
		got, err := readertest.Unit(u)
		require.NoError(t, err)
		require.Equal(t, readertest.Comparable(truth).Units[which], got)
		require.Equal(t, reads, counting.Reads, "Load has read all of the unit")

		require.LessOrEqual(t, counting.Bytes, want+ahead)
		for _, span := range counting.Spans {
			require.Truef(t, readertest.Within(span, allowed), "bytes %d to %d are no business of the lookup", span[0], span[1])
		}
		require.LessOrEqual(t, counting.Reads, 5, "the end of the file, the section table, the rest of it, the file names, the unit")
	}
}

// Looking up a symbol by name does not read the samples of other symbols.
func TestSymbolCost(t *testing.T) {
	data := gen.Big(100, true)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
	r, err := afdo.NewReader(counting, int64(len(data)))
	require.NoError(t, err)
	u, err := r.Unit(gen.BigPath(50))
	require.NoError(t, err)
	counting.Bytes = 0
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
	require.Equal(t, want, counting.Bytes)
}

// openUnit opens a file and finds one of its units.
func openUnit(t *testing.T, data []byte) *afdo.Unit {
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	u, err := r.Unit(gen.BigPath(1))
	require.NoError(t, err)
	return u
}

// Walking a function allocates nothing for its records. A lookup allocates nothing for other units
// and sections.
func TestAllocations(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := gen.Big(50, compact)
		few := testing.AllocsPerRun(3, func() { openUnit(t, data) })
		data = gen.Big(testenv.Rounds(1_000, 5_000), compact)
		many := testing.AllocsPerRun(3, func() { openUnit(t, data) })
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
