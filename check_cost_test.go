package afdo_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/check"
	"github.com/go-afdo/afdo/internal/gen"
	"github.com/go-afdo/afdo/internal/naive"
)

// handmade is a file put together section by section: a summary, a file names section to be filled
// with entries, and whatever is added.
type handmade struct {
	*gen.Layout
	units   gen.Enc
	entries uint32
}

func newHandmade(compact bool) *handmade {
	h := &handmade{Layout: gen.Lay(&naive.File{}, compact)}
	h.units.Compact = compact
	return h
}

// section adds a section and returns its index.
func (h *handmade) section(typ uint8, fill func(e *gen.Enc)) uint32 {
	e := &gen.Enc{Compact: h.Compact}
	fill(e)
	return uint32(h.Add(gen.Section{Type: typ, Compact: h.Compact, Data: e.Buf}))
}

func (h *handmade) unit(path string, strings, symbols, start, end uint32) {
	h.entries++
	h.units.U32(uint32(len(path)) + 1)
	h.units.String(path)
	h.units.U8(0)
	for _, v := range []uint32{strings, symbols, start, end} {
		h.units.U32(v)
	}
}

func (h *handmade) bytes() []byte {
	e := &gen.Enc{Compact: h.Compact}
	e.U32(h.entries)
	e.Bytes(h.units.Buf)
	h.Sections[h.FileNames].Data = e.Buf
	return h.Layout.Bytes()
}

// oneString is the data of a string table with one string.
func oneString(s string) func(e *gen.Enc) {
	return func(e *gen.Enc) {
		e.U32(1)
		if s != "" {
			e.U8(1)
			e.U16(uint16(len(s)))
			e.String(s)
		}
		e.U8(0x80)
		e.U32(0)
	}
}

func noRows(e *gen.Enc) { e.U32(0) }

// manyCounts is the data of a symbol info with n records.
func manyCounts(n uint32) func(e *gen.Enc) {
	return func(e *gen.Enc) {
		e.U64(1)
		e.U64(0)
		e.U32(n)
		for range n {
			e.U8(naive.Zero)
			e.U24(1)
		}
	}
}

// checkCost checks a file and returns faults and remarks. Memory must stay within a multiple of the
// file. That each section is gone through a few times at most shows in the time alone: if it were
// as often as things refer to it, a test would take minutes.
func checkCost(t *testing.T, data []byte) (faults, remarks []*afdo.FormatError) {
	t.Helper()
	used := allocated(func() { faults, remarks = checkFile(data) })
	require.Less(t, used, uint64(4<<20+timesFile*len(data)))
	return faults, remarks
}

// Sections that thousands refer to are checked once.
func TestCheckSharedSections(t *testing.T) {
	const users = 20_000
	for name, build := range map[string]func(h *handmade){
		"string table": func(h *handmade) {
			shared := h.section(naive.StringTable, oneString(strings.Repeat("x", 60_000)))
			for i := range users {
				h.unit(fmt.Sprint(i), shared, h.section(naive.SymbolNames, noRows), 0, 0)
			}
		},
		"string table of odd shape": func(h *handmade) {
			shared := h.section(naive.StringTable, func(e *gen.Enc) {
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
				h.unit(fmt.Sprint(i), shared, h.section(naive.SymbolNames, noRows), 0, 0)
			}
		},
		"symbol names": func(h *handmade) {
			shared := h.section(naive.SymbolNames, func(e *gen.Enc) {
				e.U32(20_000)
				for i := range uint32(20_000) {
					e.U32(i)
					e.U32(i)
					e.U32(naive.NoInfo)
				}
			})
			for i := range users {
				h.unit(fmt.Sprint(i), h.section(naive.StringTable, oneString("")), shared, 0, 0)
			}
		},
		"symbol info": func(h *handmade) {
			shared := h.section(naive.SymbolInfo, manyCounts(30_000))
			rows := func(start uint32) func(e *gen.Enc) {
				return func(e *gen.Enc) {
					e.U32(users)
					for i := range uint32(users) {
						e.U32(i)
						e.U32(start + i)
						e.U32(shared)
					}
				}
			}
			for i := range uint32(2) {
				h.unit(fmt.Sprint(i), h.section(naive.StringTable, oneString("")), h.section(naive.SymbolNames, rows(i*users)), i*users, (i+1)*users)
			}
		},
	} {
		for _, compact := range []bool{false, true} {
			h := newHandmade(compact)
			build(h)
			h.unit("", h.section(naive.StringTable, func(e *gen.Enc) { e.U32(0); e.U8(0) }), h.section(naive.SymbolNames, noRows), 1<<30, 1<<30)
			data := h.bytes()
			faults, _ := checkCost(t, data)
			require.True(t, has(faults, afdo.ErrUnused), "%s: the sharing is reported", name)
		}
	}
}

// Sections that overlap, which no Reader opens, are not all read.
func TestCheckOverlap(t *testing.T) {
	const sections = 2_000
	for _, compact := range []bool{false, true} {
		h := newHandmade(compact)
		rows := h.section(naive.SymbolNames, func(e *gen.Enc) {
			e.U32(sections)
			for i := range uint32(sections) {
				e.U32(0)
				e.U32(i)
				e.U32(4 + i)
			}
		})
		h.unit("a.c", h.section(naive.StringTable, oneString("f")), rows, 0, sections)
		info := h.section(naive.SymbolInfo, manyCounts(100_000))
		for range sections - 1 {
			h.section(naive.SymbolInfo, manyCounts(0))
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
		data := h.bytes()
		_, err := afdo.OpenBytes(data)
		require.ErrorIs(t, err, afdo.ErrHeader)
		faults, _ := checkCost(t, data)
		require.True(t, has(faults, afdo.ErrHeader))
		require.True(t, has(faults, afdo.ErrLimit))
	}
}

// A section table that is nothing but faults does not fill the memory.
func TestCheckTableOfFaults(t *testing.T) {
	const sections = 100_000
	for _, compact := range []bool{false, true} {
		h := newHandmade(compact)
		h.Table = make([]int, sections)
		for i := range h.Table {
			h.Table[i] = -1
		}
		h.unit("", 0, 0, 0, 0)
		data := h.bytes()
		before := inUse()
		headers := 0
		for p := range check.V4(data, check.Options{}) {
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

// inUse returns how many bytes are allocated and in use.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Check takes no longer than twice a walk of the whole file.
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

// walkAll steps through all records.
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
