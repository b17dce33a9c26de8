package memprof_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// section returns the MemProf section of an indexed profile, and its file offset.
func section(data []byte) (section []byte, offset int64) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	at, end := word(5), uint64(len(data))
	for i := 6; i < 9; i++ {
		if next := word(i); next > at {
			end = min(end, next)
		}
	}
	return data[at:end], int64(at)
}

func open(t testing.TB, data []byte) *memprof.Reader {
	t.Helper()
	r, err := memprof.OpenBytes(section(data))
	require.NoError(t, err)
	return r
}

// file returns an indexed profile of version 13 that contains only the MemProf section of p.
func file(t testing.TB, p *memprof.Profile, version int) []byte {
	t.Helper()
	const headerSize, summaryFields = 72, 6
	table := headerSize + 8*(2+summaryFields)
	offset := table + 24
	section, err := p.Section(version, int64(offset))
	require.NoError(t, err)
	end := uint64(offset + len(section))
	words := []uint64{0x8169666f72706cff, 13 | 1<<62, 0, 0, uint64(table), uint64(offset), end, 0, end + 8,
		summaryFields, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}
	var data []byte
	for _, w := range words {
		data = binary.LittleEndian.AppendUint64(data, w)
	}
	var b bytes.Buffer
	b.Write(data)
	b.Write(section)
	b.Write(make([]byte, 16))
	return b.Bytes()
}

// plain returns a text of all records, sorted. It leaves out what depends on the version of the
// section and on the order of records.
func plain(t testing.TB, src memprof.Source) string {
	t.Helper()
	var lines []string
	stack := func(id memprof.StackID) (s string) {
		for f, err := range src.Frames(id) {
			require.NoError(t, err)
			s += fmt.Sprintf(" %x:%d:%d:%v", f.Function, f.LineOffset, f.Column, f.Inlined)
		}
		return s
	}
	for rec, err := range src.Records() {
		require.NoError(t, err)
		lines = append(lines, fmt.Sprintf("%x", rec.Function))
		for _, a := range rec.Allocs {
			a.Block[memprof.AccessHistogram] = 0
			lines = append(lines, fmt.Sprintf("%x alloc%s %v", rec.Function, stack(a.Stack), a.Block))
		}
		for _, c := range rec.Calls {
			lines = append(lines, fmt.Sprintf("%x call%s", rec.Function, stack(c.Stack)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
