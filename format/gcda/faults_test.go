package gcda

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// words returns a file that consists of the given little-endian words.
func words(w ...uint32) []byte {
	var data []byte
	for _, v := range w {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return data
}

const (
	version12 = 0x4232322a // "B22*"
	version9  = 0x4139332a // "A93*"
)

func TestCounterFaults(t *testing.T) {
	file := func(w ...uint32) []byte { return words(append([]uint32{magicCounters, version12, 1, 2}, w...)...) }
	for want, data := range map[string][]byte{
		`gcda: at offset 0: truncated section: the magic number takes 4 bytes, 2 are left`:                {1, 2},
		`gcda: at offset 0: not a GCOV profile: the file does not begin with "gcda" in either byte order`: words(magicNotes, version12),
		`gcda: unsupported profile version: version "408*", not one of GCC 8 to 16`:                       words(magicCounters, 0x3430382a, 0),
		`gcda: unsupported profile version: version "B72*", not one of GCC 8 to 16`:                       words(magicCounters, 0x4237322a, 0),
		`gcda: at offset 12: truncated section: the checksum takes 4 bytes, 0 are left`:                   words(magicCounters, version12, 1),
		`gcda: at offset 24: truncated section: a record takes 12 bytes, 4 are left`:                      file(tagFunction, 12, 0),
		`gcda: at offset 16: bad layout: a record with tag 0x01410000 where none is allowed`:              file(tagBlocks, 4, 1),
		`gcda: at offset 16: bad layout: a record with tag 0x01a10000 where none is allowed`:              file(tagArcCounters, 8, 0, 0),
		`gcda: at offset 24: bad layout: a record with tag 0x01a10000 where none is allowed`:              file(tagFunction, 0, tagArcCounters, 8, 0, 0),
		`gcda: at offset 52: bad layout: a record with tag 0x01a10000 where none is allowed`:              file(tagFunction, 12, 1, 2, 3, tagArcCounters, 8, 0, 0, tagArcCounters, 8, 0, 0),
		`gcda: at offset 36: bad layout: a second record of function 0x1`:                                 file(tagFunction, 12, 1, 2, 3, tagFunction, 12, 1, 2, 4),
		`gcda: at offset 36: bad count: 12 bytes of counters`:                                             file(tagFunction, 12, 1, 2, 3, tagArcCounters, 12, 0, 0, 0),
		`gcda: at offset 36: bad layout: 4 bytes too many in the record with tag 0x01000000 at offset 16`: file(tagFunction, 16, 1, 2, 3, 4),
		`gcda: at offset 20: bad layout: 4 bytes after the end`:                                           file(0, 0),
		`gcda: at offset 12: truncated section: a record of -8589934592 bytes`:                            words(magicCounters, version9, 1, tagObjectSummary, 1<<31),
		`gcda: at offset 36: bad layout: a record with tag 0xa1000000 where none is allowed`:              file(tagFunction, 12, 1, 2, 3, tagObjectSummary, 8, 1, 1),
	} {
		c, err := ReadCounters(data)
		assert.Nil(t, c)
		assert.EqualError(t, err, want)
	}
}

func TestNoteFaults(t *testing.T) {
	file := func(w ...uint32) []byte { return words(append([]uint32{magicNotes, version12, 1, 2, 0, 1}, w...)...) }
	function := []uint32{tagFunction, 40, 1, 2, 3, 0, 0, 0, 7, 1, 9, 1} // without name and file
	after := func(w ...uint32) []byte { return file(append(function, w...)...) }
	for want, data := range map[string][]byte{
		`gcda: at offset 24: bad layout: a record with tag 0x01410000 before the first function`:       file(tagBlocks, 4, 1),
		`gcda: at offset 24: bad graph: function "" has 3 blocks and only 0 arcs`:                      after(tagBlocks, 4, 3),
		`gcda: at offset 84: bad layout: a second number of blocks of function ""`:                     after(tagBlocks, 4, 2, tagBlocks, 4, 2),
		`gcda: at offset 96: bad graph: block 2 in function "" with 2 blocks`:                          after(tagBlocks, 4, 2, tagArcs, 12, 0, 2, 0),
		`gcda: at offset 96: bad layout: a line before the first source file`:                          after(tagBlocks, 4, 2, tagLines, 16, 0, 5, 0, 0),
		`gcda: at offset 100: bad file name: a source file of 4 bytes does not end with its first NUL`: after(tagBlocks, 4, 2, tagLines, 16, 0, 0, 4, 0x41424344),
	} {
		n, err := ReadNotes(data)
		assert.Nil(t, n)
		assert.EqualError(t, err, want)
	}
}

// A file that is truncated anywhere but between two records is rejected.
func TestTruncated(t *testing.T) {
	for _, path := range fixtures(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := range data {
			again, err := rewrite(path, data[:n])
			if err == nil && filepath.Ext(path) == ".gcda" {
				require.Equal(t, data[:n], again)
			} else if err != nil {
				require.ErrorIs(t, err, afdo.ErrMalformed, "%s: %d", path, n)
			}
		}
	}
}

// The longer summaries of GCC 8 are read and written with their sums and histogram.
func TestSummaryOfGCC8(t *testing.T) {
	const version8 = 0x4138332a // "A83*"
	data := words(magicCounters, version8, 77,
		tagProgramSummary, 1+10+8+5, 5, 40, 2, 100, 0, 60, 0, 70, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 2, 0, 0, 0,
		tagFunction, 3, 1, 2, 3, tagArcCounters, 2, 70, 1, 0)
	c, err := ReadCounters(data)
	require.NoError(t, err)
	require.Len(t, c.Summaries, 1)
	assert.Equal(t, uint32(2), c.Summaries[0].Runs)
	assert.Equal(t, uint64(1<<32+70), c.Summaries[0].SumMax)
	assert.Equal(t, []Counter{{Kind: Arcs, Values: []int64{1<<32 + 70}}}, c.Functions[0].Counters)
	again, err := WriteCounters(c)
	require.NoError(t, err)
	assert.Equal(t, data, again)
	c.Summaries[0].SumMax = 3
	again, err = WriteCounters(c)
	require.NoError(t, err)
	back, err := ReadCounters(again)
	require.NoError(t, err)
	assert.Equal(t, uint64(3), back.Summaries[0].SumMax)
}

func TestUnrepresentable(t *testing.T) {
	h := Header{Version: version12}
	_, err := WriteCounters(&Counters{})
	assert.ErrorIs(t, err, afdo.ErrVersion)
	_, err = WriteCounters(&Counters{Header: h, Summaries: []Summary{{SumMax: 1 << 32}}})
	assert.EqualError(t, err, "gcda: the format cannot hold it: a sum of the largest counters of 4294967296")
	_, err = WriteCounters(&Counters{Header: h, Functions: []FunctionCounters{{Counters: []Counter{{Kind: 48}}}}})
	assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
}

// A large number of zero counters that are not stored in the file does not lead to a large
// allocation.
func TestZerosTakeNoMemory(t *testing.T) {
	zeros := int32(-1 << 31)
	c, err := ReadCounters(words(magicCounters, version12, 1, 2, tagFunction, 12, 1, 2, 3, tagArcCounters, uint32(zeros)))
	require.NoError(t, err)
	assert.Equal(t, []Counter{{Zeros: 1 << 28}}, c.Functions[0].Counters)
	n := &Notes{Header: c.Header, Functions: []Function{{ID: ID{1, 2, 3}, Blocks: 2}}}
	for _, err := range n.Counts(c) {
		assert.EqualError(t, err, `gcda: graph: files of different compiles: function "": 268435456 counters for 0 arcs`)
	}
	_, err = c.Add(c, 2)
	require.NoError(t, err)
}
