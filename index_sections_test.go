package afdo_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/gen"
	"github.com/go-afdo/afdo/internal/naive"
)

// tableSpan is where header and section table are in a file of which the sections stand together.
func tableSpan(f *naive.File) [2]int64 { return [2]int64{0, f.Sections[0].Offset} }

// A Reader that is asked for everything looks at some entries of the section table one by one, and then at all of them at once.
func TestSectionTableAfterAll(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := reindex(t, gen.Big(3_000, compact), &afdo.IndexOptions{})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		want := comparable(truth).Units
		counting := &countingReaderAt{ReaderAt: bytes.NewReader(data)}
		r, err := afdo.NewReader(counting, int64(len(data)))
		require.NoError(t, err)
		for u, err := range r.Units() {
			require.NoError(t, err)
			got, err := readUnit(u)
			require.NoError(t, err)
			require.Equal(t, want[u.Index()], got)
		}
		table, whole := tableSpan(truth), 0
		partly := int64(0)
		for _, span := range counting.spans {
			switch {
			case span == table:
				whole++
			case within(span, [][2]int64{table}):
				partly += span[1] - span[0]
			}
		}
		require.Equal(t, 1, whole)
		require.Less(t, partly, table[1]/8)
	}
}

// The section table may be put into another order, as the RFC allows, by a program that does not know of the index.
func TestSectionTableReordered(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		l := layoutOf(truth, data)
		for i := range l.Sections {
			if i != l.Summary && i != l.FileNames {
				l.Table = append(l.Table, i)
			}
		}
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
			for _, o := range []afdo.Option{afdo.RequireChecksums(), afdo.SkipChecksums(), afdo.IgnoreIndex()} {
				r, err := afdo.OpenBytes(changed, withUnqualified, o)
				require.NoError(t, err)
				require.Zero(t, q.ask(t, r, nil))
				got, err := read(r)
				require.NoError(t, err)
				require.Equal(t, comparable(now), got)
			}
			r, err := afdo.OpenBytes(changed)
			require.NoError(t, err)
			faults, _ := check(t, r)
			require.True(t, has(faults, afdo.ErrIndex), "what the index says is not so any more")
		}
	}
}

// A section table with a fault is an error of the call that comes upon it. Whoever wants it from Open ignores the index.
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
			_, err := afdo.OpenBytes(bad, afdo.IgnoreIndex())
			require.ErrorIs(t, err, afdo.ErrHeader)
			_, err = afdo.OpenBytes(bad, afdo.SkipChecksums())
			require.ErrorIs(t, err, afdo.ErrHeader)

			r, err := afdo.OpenBytes(bad, withUnqualified)
			require.NoError(t, err)
			require.NotZero(t, q.ask(t, r, afdo.ErrHeader), "section %d", i)
			for _, err := range r.Sections() {
				require.ErrorIs(t, err, afdo.ErrHeader)
			}
			faults, _ := check(t, r)
			require.True(t, has(faults, afdo.ErrHeader))
			require.ErrorIs(t, r.Reindex(&bytes.Buffer{}, nil), afdo.ErrHeader)
		}
	}
}

// What the index says of the section table is checked, whether it leads anywhere or not.
func TestSectionTableLie(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data := reindex(t, gen.Big(200, compact), &afdo.IndexOptions{})
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		info, err := r.Index()
		require.NoError(t, err)
		block := info.Blocks[len(info.Blocks)-1]
		require.Equal(t, "sections", block.Kind)
		from, to := indexSection(truth)
		end := to - 4 // of the block, which is within the last page here
		start := end - int(block.Size)
		require.Greater(t, start, from+(to-from)/1024*1024)
		for i := start; i < end; i++ {
			bad := slices.Clone(data)
			bad[i] ^= 0x10
			if i == end-1 && compact {
				bad[i] = data[i] ^ 0x80 // the lower bits may be none of a number
			}
			fixPages(bad[from:to])
			r, err := afdo.OpenBytes(bad)
			require.NoError(t, err)
			got, err := read(r)
			if err == nil {
				require.Equal(t, comparable(truth), got)
			}
			faults, _ := check(t, r)
			require.True(t, has(faults, afdo.ErrIndex), "byte %d of %d", i-start, block.Size)
		}
	}
}
