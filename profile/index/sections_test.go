package index_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile/index"
)

// tableSpan returns the range of the header and the section table in a file whose sections are
// adjacent.
func tableSpan(f *naive.File) [2]int64 { return [2]int64{0, f.Sections[0].Offset} }

// A Reader that reads the whole file first reads some entries of the section table one by one, and
// then all of them at once.
func TestSectionTableAfterAll(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := readertest.Reindex(t, gen.Big(testenv.Rounds(1_000, 3_000), compact), &index.Options{})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		want := readertest.Comparable(truth).Units
		counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)), afdo.TrustIndex())
		require.NoError(t, err)
		for u, err := range r.Units() {
			require.NoError(t, err)
			got, err := readertest.Unit(u)
			require.NoError(t, err)
			require.Equal(t, want[u.Index()], got)
		}
		table, whole := tableSpan(truth), 0
		partly := int64(0)
		for _, span := range counting.Spans {
			switch {
			case span == table:
				whole++
			case readertest.Within(span, [][2]int64{table}):
				partly += span[1] - span[0]
			}
		}
		require.Equal(t, 1, whole)
		require.Less(t, partly, table[1]/8)
	}
}

// A program that does not know the index may reorder the section table, as the RFC allows.
func TestSectionTableReordered(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		l := layoutOf(truth, data)
		l.Table = orderOf(l)
		last := len(l.Table) - 1
		for _, edit := range []func(){
			func() { l.Table[0], l.Table[1] = l.Table[1], l.Table[0] },
			func() { l.Table[2], l.Table[last-1] = l.Table[last-1], l.Table[2] },
			func() { slices.Reverse(l.Table) },
		} {
			edit()
			changed := l.Bytes()
			now, err := naive.Decode(changed)
			require.NoError(t, err)
			for _, o := range []afdo.Option{afdo.RequireChecksums(), afdo.SkipChecksums(), plainReader} {
				r, err := openIndexed(changed, o)
				require.NoError(t, err)
				require.Zero(t, q.ask(t, r, nil))
				got, err := readertest.File(r.Reader)
				require.NoError(t, err)
				require.Equal(t, readertest.Comparable(now), got)
			}
			r, err := openIndexed(changed)
			require.NoError(t, err)
			faults, _ := readertest.CheckFile(r.data)
			require.True(t, readertest.Has(faults, afdo.ErrIndex), "what the index says is not so any more")
		}
	}
}

// A fault in the section table is returned by the call that finds it. Without the index, Open
// returns it.
func TestSectionTableFaulty(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		for i := range truth.Sections {
			l := layoutOf(truth, data)
			if i == l.Summary || i == l.FileNames || i == len(l.Sections)-1 {
				continue
			}
			l.Edit = func(index int, offset, size uint64) (uint64, uint64) {
				if index == i {
					offset++ // into the next one
				}
				return offset, size
			}
			bad := l.Bytes()
			_, err := openIndexed(bad, plainReader)
			require.ErrorIs(t, err, afdo.ErrHeader)
			_, err = openIndexed(bad, afdo.SkipChecksums())
			require.ErrorIs(t, err, afdo.ErrHeader)

			r, err := openIndexed(bad)
			require.NoError(t, err)
			require.NotZero(t, q.ask(t, r, afdo.ErrHeader), "section %d", i)
			for _, err := range r.Sections() {
				require.ErrorIs(t, err, afdo.ErrHeader)
			}
			faults, _ := readertest.CheckFile(r.data)
			require.True(t, readertest.Has(faults, afdo.ErrHeader))
			require.ErrorIs(t, r.reindex(&bytes.Buffer{}, nil), afdo.ErrHeader)
		}
	}
}

// physical converts a position in the contents of an index's pages to a position in the section.
func physical(at int) int { return at + at/1020*4 }

// A Reader checks what the index contains about the section table, whether or not the positions are
// in the file.
func TestSectionTableLie(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := readertest.Reindex(t, gen.Big(200, compact), &index.Options{})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		r, err := openIndexed(data)
		require.NoError(t, err)
		info, err := r.info()
		require.NoError(t, err)
		at := slices.IndexFunc(info.Blocks, func(b index.Block) bool { return b.Kind == "sections" })
		block := info.Blocks[at]
		from, to := indexSection(truth)
		pages := (to - from + 1023) / 1024
		end := to - from - 4*pages // of the block, in what the pages hold
		for _, after := range info.Blocks[at+1:] {
			end -= int(after.Size)
		}
		start := from + physical(end-int(block.Size))
		end = from + physical(end)
		require.Equal(t, (start-from)/1024, (end-from)/1024, "the block is within a page here")
		for i := start; i < end; i += testenv.Rounds(7, 1) {
			bad := slices.Clone(data)
			bad[i] ^= 0x10
			if i == end-1 && compact {
				bad[i] = data[i] ^ 0x80 // the lower bits may be none of a number
			}
			fixPages(bad[from:to])
			r, err := openIndexed(bad)
			require.NoError(t, err)
			got, err := readertest.File(r.Reader)
			if err == nil {
				require.Equal(t, readertest.Comparable(truth), got)
			}
			faults, _ := readertest.CheckFile(r.data)
			require.True(t, readertest.Has(faults, afdo.ErrIndex), "byte %d of %d", i-start, block.Size)
		}
	}
}

// Entries of the section table may change places, also between groups that are read together, and
// so may whole groups. The first and the second answer of a Reader are both correct.
func TestSectionTableReorderedAnywhere(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := readertest.Reindex(t, gen.Big(100, compact), &index.Options{})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		want := readertest.Comparable(truth).Units
		l := layoutOf(truth, data)
		inOrder := orderOf(l)
		for name, swap := range map[string]func(table []int, k int){
			"two neighbours": func(table []int, k int) { table[k], table[k+1] = table[k+1], table[k] },
			"two pairs": func(table []int, k int) {
				table[k], table[k+1], table[k+2], table[k+3] = table[k+1], table[k], table[k+3], table[k+2]
			},
			"two groups": func(table []int, k int) {
				for i := range 32 {
					table[k-31+i], table[k+1+i] = table[k+1+i], table[k-31+i]
				}
			},
		} {
			for k := 31; k+33 < len(inOrder); k += 32 {
				l.Table = slices.Clone(inOrder)
				swap(l.Table, k)
				changed := l.Bytes()
				plain, err := openIndexed(changed, plainReader)
				require.NoError(t, err)
				for i := k - 1; i < k+6; i++ {
					r, err := openIndexed(changed)
					require.NoError(t, err)
					a, err := plain.Section(i)
					require.NoError(t, err)
					b, err := r.Section(i)
					require.NoError(t, err)
					require.Equal(t, a, b, name)
				}
				for i := k / 6; i < k/6+5; i++ { // some 6 sections a unit
					r, err := openIndexed(changed)
					require.NoError(t, err)
					u, err := r.Unit(gen.BigPath(i % 100))
					require.NoError(t, err)
					got, err := readertest.Unit(u)
					require.NoError(t, err, name)
					require.Equal(t, want[u.Index()], got)
				}
			}
		}
	}
}

// orderOf returns the section table of a layout, in file order.
func orderOf(l *gen.Layout) (table []int) {
	for i := range l.Sections {
		if i != l.Summary && i != l.FileNames {
			table = append(table, i)
		}
	}
	return table
}

// A hookedReaderAt calls do once, at the first read at an offset.
type hookedReaderAt struct {
	*bytes.Reader
	at int64
	do func()
}

func (h *hookedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.Reader.ReadAt(p, off)
	if do := h.do; do != nil && off == h.at {
		h.do = nil
		do()
	}
	return n, err
}

// Another goroutine may read the whole section table while a section is read that turns out to be a
// different one.
func TestSectionTableReorderedMeanwhile(t *testing.T) {
	data := readertest.Reindex(t, gen.Big(200, false), &index.Options{})
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	l := layoutOf(truth, data)
	l.Table = orderOf(l)
	l.Table[31], l.Table[32] = l.Table[32], l.Table[31]
	changed := l.Bytes()
	now, err := naive.Decode(changed)
	require.NoError(t, err)
	hooked := 0
	for i := range now.Units {
		h := &hookedReaderAt{Reader: bytes.NewReader(changed)}
		r, err := afdo.NewReader(h, int64(len(changed)), afdo.TrustIndex())
		require.NoError(t, err)
		u, err := r.Unit(now.Units[i].Path)
		require.NoError(t, err)
		stringTable, _ := u.SectionIndexes()
		h.at = now.Sections[stringTable].Offset
		h.do = func() {
			hooked++
			_, err := r.Section(0)
			require.NoError(t, err)
		}
		_, err = u.NumSymbols()
		require.NoError(t, err)
	}
	require.NotZero(t, hooked)
}

// A fault in the section table is returned by the call that finds it, even if a checksum shows it.
// Later calls return it as well.
func TestSectionTableFaultIsRemembered(t *testing.T) {
	for _, compact := range []bool{false, true} {
		units := testenv.Rounds(700, 2_000)
		data := readertest.Reindex(t, gen.Big(units, compact), &index.Options{NoLookups: true})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		l := layoutOf(truth, data)
		at := orderOf(l)[64*3-1] // the last one of a group
		l.Edit = func(index int, offset, size uint64) (uint64, uint64) {
			if index == at {
				size++ // into the first of the next group
			}
			return offset, size
		}
		bad := l.Bytes()
		counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(bad)}
		r, err := afdo.NewReader(counting, int64(len(bad)), afdo.TrustIndex())
		require.NoError(t, err)
		failed := 0
		for i := range units {
			u, err := r.Unit(gen.BigPath(i))
			require.NoError(t, err)
			stringTable, symbolNames := u.SectionIndexes()
			if _, err := u.NumSymbols(); err != nil {
				require.ErrorIs(t, err, afdo.ErrHeader, "sections %d and %d", stringTable, symbolNames)
				failed++
			}
		}
		require.NotZero(t, failed)
		_, err = r.Section(7)
		require.ErrorIs(t, err, afdo.ErrHeader)
		read := counting.Bytes
		for i := range 100 {
			_, err := r.Section(i)
			require.ErrorIs(t, err, afdo.ErrHeader)
		}
		require.Equal(t, read, counting.Bytes)
	}
}

// The contents of an index may end exactly at the end of a page, and with arrays or names of no
// bytes.
func TestIndexOfWholePages(t *testing.T) {
	for _, compact := range []bool{false, true} {
		whole := 0
		for units := 60; units < 110; units++ {
			f := &naive.File{}
			for i := range units {
				f.Units = append(f.Units, naive.Unit{Path: gen.BigPath(i)})
			}
			f.Units = append(f.Units, naive.Unit{})
			f.Summary = f.Summarize()
			plain := gen.Encode(f, compact)
			scheme := index.Scheme{Unqualified: readertest.Unqualified}
			with := func() []byte {
				return readertest.Reindex(t, plain, &index.Options{NoChecksums: true, Unqualified: scheme})
			}
			size := func(data []byte) int {
				r, err := openIndexed(data)
				require.NoError(t, err)
				info, err := r.info()
				require.NoError(t, err)
				return int(info.Section.Size)
			}
			missing := 1024 - size(with())%1024
			for n := max(missing-2, 0); n < min(missing+1, 256); n++ { // the length of a longer block may take a byte
				scheme.Name = strings.Repeat("x", n)
				data := with()
				if size(data)%1024 != 0 {
					continue
				}
				whole++
				r, err := openIndexed(data)
				require.NoError(t, err)
				u, err := r.Unit(gen.BigPath(1))
				require.NoError(t, err)
				for s, err := range r.elsewhere(u) {
					t.Fatal(s, err)
				}
				faults, _ := readertest.CheckFile(r.data)
				require.Empty(t, faults)
			}
		}
		require.NotZero(t, whole)
	}
}
