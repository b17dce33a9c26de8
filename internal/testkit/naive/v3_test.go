package naive_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// A words writes files of versions 2 and 3.
type words struct {
	order binary.AppendByteOrder
	buf   []byte
}

func (w *words) word(vs ...uint32) {
	for _, v := range vs {
		w.buf = w.order.AppendUint32(w.buf, v)
	}
}

func (w *words) counter(vs ...uint64) {
	for _, v := range vs {
		w.word(uint32(v), uint32(v>>32))
	}
}

func (w *words) string(s string) {
	w.word(uint32(len(s)) + 1)
	w.buf = append(append(w.buf, s...), 0)
}

// old writes a file of version 2 or 3 by hand, with the head of "main" twice.
func old(version uint32, order binary.AppendByteOrder) []byte {
	w := &words{order: order}
	w.word(0x67636461, version, 0)
	if version == 3 {
		w.word(0xa8000000)
		w.counter(10, 1<<40, 30, 4, 5)
		w.counter(1)
		w.word(999999)
		w.counter(7, 8)
	}
	w.word(0xaa000000, 12345)
	if version == 3 {
		w.word(2)
		w.string("a.c")
		w.string("dir/b.c")
	}
	w.word(4)
	for i, name := range []string{"", "helper", "main", "other"} {
		w.string(name)
		if version == 3 {
			w.word([]uint32{0xffffffff, 1, 0, 0xffffffff}[i])
		}
	}
	w.word(0xac000000, 54321, 2)
	for i := range uint64(2) {
		w.counter(1<<33 + i)
		if version == 3 {
			w.counter(5 + i)
		}
		w.word(2)
		w.word(2, 1) // positions, call sites
		w.word(7<<16|0xffff, 2)
		w.counter(100)
		w.word(7)
		w.counter(1, 60)
		w.word(7)
		w.counter(3, 40)
		w.word(0xffff<<16, 0)
		w.counter(1 << 35)
		w.word(9<<16|1, 1)
		w.word(1, 0)
		w.word(3<<16, 0)
		w.counter(0)
	}
	return w.buf
}

func tail(order binary.AppendByteOrder) []byte {
	w := &words{order: order}
	w.word(0xae000000, 0, 0)
	w.word(0xaf000000, 384)
	for i := range uint32(128) {
		w.word(i)
		w.counter(uint64(i) << 30)
	}
	return w.buf
}

func TestDecodeV3(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := old(version, order)
			got, err := naive.DecodeV3(data)
			require.NoError(t, err)
			require.Nil(t, got.WorkingSet)

			withTail, err := naive.DecodeV3(append(data, tail(order)...))
			require.NoError(t, err)
			require.Len(t, withTail.WorkingSet, 128)
			require.Equal(t, naive.V3Working{NumCounters: 127, MinCount: 127 << 30}, withTail.WorkingSet[127])
			withTail.WorkingSet = nil
			require.Equal(t, withTail, got)

			require.Equal(t, wantOld(version, order == binary.BigEndian), got)
		}
	}
}

func wantOld(version uint32, bigEndian bool) *naive.V3 {
	body := naive.V3Body{
		Positions: []naive.V3Position{
			{Line: 7, Disc: 0xffff, Count: 100, Targets: []naive.V3Target{
				{Type: 7, Name: 1, Count: 60}, {Type: 7, Name: 3, Count: 40},
			}},
			{Line: 0xffff, Count: 1 << 35},
		},
		CallSites: []naive.V3CallSite{{
			Line: 9, Disc: 1, Name: 1,
			Body: naive.V3Body{Positions: []naive.V3Position{{Line: 3}}},
		}},
	}
	const unknown = naive.V3UnknownFile
	f := &naive.V3{
		Version: version, BigEndian: bigEndian,
		Names: []naive.V3Name{{"", unknown}, {"helper", unknown}, {"main", unknown}, {"other", unknown}},
		Functions: []naive.V3Function{
			{Head: 1 << 33, Name: 2, Body: body},
			{Head: 1<<33 + 1, Name: 2, Body: body},
		},
	}
	if version == 3 {
		f.Summary = &naive.Summary{
			TotalCount: 10, MaxCount: 1 << 40, MaxFnCount: 30, NumCounts: 4, NumFunctions: 5,
			Entries: []naive.Entry{{Cutoff: 999999, MinCount: 7, NumCounts: 8}},
		}
		f.Files = []string{"a.c", "dir/b.c"}
		f.Names[1].File, f.Names[2].File = 1, 0
		f.Functions[0].Timestamp, f.Functions[1].Timestamp = 5, 6
	}
	return f
}

func TestCanonicalV3(t *testing.T) {
	f, err := naive.DecodeV3(old(3, binary.LittleEndian))
	require.NoError(t, err)
	p, err := f.Canonical()
	require.NoError(t, err)

	helper := naive.Key{Path: "dir/b.c", Name: "helper"}
	main := naive.Key{Path: "a.c", Name: "main"}
	other := naive.Key{Name: "other"}
	inlined := &naive.Body{
		Counts:  map[naive.Place]uint64{{Line: 3}: 0},
		Calls:   map[naive.Place]map[naive.Key]uint64{},
		Inlined: map[naive.Place]map[naive.Key]*naive.Body{},
	}
	require.Equal(t, &naive.Profile{
		Symbols: map[naive.Key]bool{helper: true, main: true, other: true},
		Functions: map[naive.Key]*naive.Function{main: {
			Head: 1<<34 + 1, Timestamp: 5,
			Body: &naive.Body{
				Counts:  map[naive.Place]uint64{{Line: 7, Disc: 0xffff}: 200, {Line: 0xffff}: 1 << 36},
				Calls:   map[naive.Place]map[naive.Key]uint64{{Line: 7, Disc: 0xffff}: {helper: 120, other: 80}},
				Inlined: map[naive.Place]map[naive.Key]*naive.Body{{Line: 9, Disc: 1}: {helper: inlined}},
			},
		}},
	}, p)
}

func TestDecodeV3Corrupt(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := old(version, order)
			for n := range data {
				_, err := naive.DecodeV3(data[:n])
				require.ErrorIsf(t, err, naive.ErrMalformed, "%d of %d bytes", n, len(data))
			}
			whole := append(data, tail(order)...)
			grouping := len(data) + 12 // a file may end here as well
			for n := len(data) + 1; n < len(whole); n++ {
				_, err := naive.DecodeV3(whole[:n])
				if n == grouping {
					require.NoError(t, err)
					continue
				}
				require.ErrorIsf(t, err, naive.ErrMalformed, "%d of %d bytes", n, len(whole))
			}
			_, err := naive.DecodeV3(append(whole, 0))
			require.ErrorContains(t, err, "1 bytes after the end")
		}
	}

	word := func(vs ...uint32) []byte {
		w := &words{order: binary.LittleEndian}
		w.word(vs...)
		return w.buf
	}
	start := []uint32{0x67636461, 2, 0, 0xaa000000, 0}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"version 4", []byte("gcov\x00\x00\x00\x04"), "wrong magic"},
		{"version 1", word(0x67636461, 1, 0), "version 1"},
		{"mixed byte order", word(0x67636461, 0x03000000, 0), "version 50331648"},
		{"wrong tag", word(0x67636461, 3, 0, 0xaa000000), "tag 0xaa000000, not 0xa8000000"},
		{"string of length 0", word(append(start, 1, 0)...), "one NUL"},
		{"string of two NULs", append(word(append(start, 1, 2)...), 0, 0), "one NUL"},
		{"string without NUL", append(word(append(start, 1, 1)...), 'x'), "one NUL"},
		{"more names than fit", word(append(start, 0xffffffff)...), "bytes wanted"},
		{"name of a function", word(append(start, 0, 0xac000000, 0, 1, 0, 0, 0)...), "name index 0 of 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := naive.DecodeV3(c.data)
			require.ErrorIs(t, err, naive.ErrMalformed, c.name)
			require.ErrorContains(t, err, c.want, c.name)
		})
	}
}

func TestDecodeV3Limit(t *testing.T) {
	nested := func(n int) []byte {
		w := &words{order: binary.LittleEndian}
		w.word(0x67636461, 2, 0, 0xaa000000, 0, 1)
		w.string("f")
		w.word(0xac000000, 0, 1, 0, 0, 0)
		for range n {
			w.word(0, 1, 0, 0)
		}
		w.word(0, 0)
		return w.buf
	}
	_, err := naive.DecodeV3(nested(naive.MaxDepth))
	require.NoError(t, err)
	_, err = naive.DecodeV3(nested(naive.MaxDepth + 1))
	require.ErrorIs(t, err, naive.ErrLimit)
}
