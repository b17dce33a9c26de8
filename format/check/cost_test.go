package check

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// timesFile limits the memory of a check, as a multiple of the file size.
const timesFile = 40

// allocated returns how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// checkCost checks a file, and that this takes at most timesFile times its size in memory. It
// returns errors and remarks. If a section were read once for each of its references, a test would
// take minutes.
func checkCost(t *testing.T, data []byte) (faults, remarks []*afdo.FormatError) {
	t.Helper()
	used := allocated(func() { faults, remarks = checkFile(data) })
	require.Less(t, used, uint64(4<<20+timesFile*len(data)))
	return faults, remarks
}

// A section to which thousands of references lead is checked only once.
func TestSharedSections(t *testing.T) {
	users := uint32(testenv.Rounds(8_000, 20_000))
	for name, build := range map[string]func(h *gen.Handmade){
		"string table": func(h *gen.Handmade) {
			shared := h.Section(naive.StringTable, gen.OneString(strings.Repeat("x", 60_000)))
			for i := range users {
				h.Unit(fmt.Sprint(i), shared, h.Section(naive.SymbolNames, gen.NoRows), 0, 0)
			}
		},
		"string table of odd shape": func(h *gen.Handmade) {
			shared := h.Section(naive.StringTable, func(e *gen.Enc) {
				e.U32(2)
				e.U8(2)
				for i := range uint32(2) {
					e.U16(30_001)
					e.String(strings.Repeat("x", 30_000) + fmt.Sprint(i))
					e.U8(0x80)
					e.U32(i)
				}
			})
			for i := range users {
				h.Unit(fmt.Sprint(i), shared, h.Section(naive.SymbolNames, gen.NoRows), 0, 0)
			}
		},
		"symbol names": func(h *gen.Handmade) {
			shared := h.Section(naive.SymbolNames, func(e *gen.Enc) {
				e.U32(20_000)
				for i := range uint32(20_000) {
					e.U32(i)
					e.U32(i)
					e.U32(naive.NoInfo)
				}
			})
			for i := range users {
				h.Unit(fmt.Sprint(i), h.Section(naive.StringTable, gen.OneString("")), shared, 0, 0)
			}
		},
		"symbol info": func(h *gen.Handmade) {
			shared := h.Section(naive.SymbolInfo, gen.ManyCounts(30_000))
			rows := func(start uint32) func(e *gen.Enc) {
				return func(e *gen.Enc) {
					e.U32(users)
					for i := range users {
						e.U32(i)
						e.U32(start + i)
						e.U32(shared)
					}
				}
			}
			for i := range uint32(2) {
				h.Unit(fmt.Sprint(i), h.Section(naive.StringTable, gen.OneString("")), h.Section(naive.SymbolNames, rows(i*users)), i*users, (i+1)*users)
			}
		},
	} {
		for _, compact := range []bool{false, true} {
			h := gen.NewHandmade(compact)
			build(h)
			h.Unit("", h.Section(naive.StringTable, func(e *gen.Enc) { e.U32(0); e.U8(0) }), h.Section(naive.SymbolNames, gen.NoRows), 1<<30, 1<<30)
			data := h.Bytes()
			faults, _ := checkCost(t, data)
			require.True(t, has(faults, afdo.ErrUnused), "%s: the sharing is reported", name)
		}
	}
}

// If sections overlap, which a Reader rejects, a check does not read all of them.
func TestOverlap(t *testing.T) {
	const sections = 2_000
	for _, compact := range []bool{false, true} {
		h := gen.NewHandmade(compact)
		rows := h.Section(naive.SymbolNames, func(e *gen.Enc) {
			e.U32(sections)
			for i := range uint32(sections) {
				e.U32(0)
				e.U32(i)
				e.U32(4 + i)
			}
		})
		h.Unit("a.c", h.Section(naive.StringTable, gen.OneString("f")), rows, 0, sections)
		info := h.Section(naive.SymbolInfo, gen.ManyCounts(100_000))
		for range sections - 1 {
			h.Section(naive.SymbolInfo, gen.ManyCounts(0))
		}
		var offset, size uint64
		h.Edit = func(i int, off, n uint64) (uint64, uint64) {
			switch {
			case i == int(info):
				offset, size = off, n
			case i > int(info):
				return offset, size
			}
			return off, n
		}
		data := h.Bytes()
		_, err := afdo.OpenBytes(data)
		require.ErrorIs(t, err, afdo.ErrHeader)
		faults, _ := checkCost(t, data)
		require.True(t, has(faults, afdo.ErrHeader))
		require.True(t, has(faults, afdo.ErrLimit))
	}
}

// A section table in which every entry has an error does not exhaust the memory.
func TestTableOfFaults(t *testing.T) {
	sections := testenv.Rounds(30_000, 100_000)
	for _, compact := range []bool{false, true} {
		h := gen.NewHandmade(compact)
		h.Table = make([]int, sections)
		for i := range h.Table {
			h.Table[i] = -1
		}
		h.Unit("", 0, 0, 0, 0)
		data := h.Bytes()
		before := inUse()
		headers := 0
		for p := range V4(data, Options{}) {
			if headers == sections/2 {
				require.Less(t, inUse(), before+uint64(4<<20+timesFile*len(data)))
			}
			if errors.Is(p.Err, afdo.ErrHeader) {
				headers++
			}
		}
		require.GreaterOrEqual(t, headers, sections)
	}
}

// inUse returns how many bytes of the heap are in use.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCheck compares the time of a check, which is at most twice that of walking all records,
// with that time.
func BenchmarkCheck(b *testing.B) {
	for name, compact := range map[string]bool{"normal": false, "compact": true} {
		data := gen.Big(50_000, compact)
		b.Run("what=walk/mode="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, err := afdo.OpenBytes(data)
				require.NoError(b, err)
				require.NoError(b, walkAll(r))
			}
		})
		b.Run("what=check/mode="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				faults, remarks := checkFile(data)
				require.Empty(b, faults)
				require.Empty(b, remarks)
			}
		})
	}
}

// walkAll reads all records of a file.
func walkAll(r *afdo.Reader) error {
	c := new(afdo.Cursor)
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		for s, err := range u.Symbols() {
			if err != nil {
				return err
			}
			if !s.HasInfo() {
				continue
			}
			info, err := s.Info()
			if err != nil {
				return err
			}
			for c.Reset(info); c.Next(); {
				for range c.Targets() {
				}
			}
			if c.Err() != nil {
				return c.Err()
			}
		}
	}
	return nil
}
