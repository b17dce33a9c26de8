package gcov

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func each(t *testing.T, test func(t *testing.T, o WriteOptions)) {
	for _, o := range allOptions {
		t.Run(fmt.Sprintf("version %d, %v", o.Version, o.ByteOrder), func(t *testing.T) { test(t, o) })
	}
}

func TestSample(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		data, want := sample(o)

		h, err := DecodeHeader(data[:12])
		require.NoError(t, err)
		assert.Equal(t, Header(o), h)

		p, err := ParseBytes(data)
		require.NoError(t, err)
		require.NoError(t, profile.Compare(want, p))
		assert.Equal(t, want.Summary, p.Summary)
		assert.Equal(t, want.NumUnits(), p.NumUnits())

		written, losses := encode(t, want, o)
		requireSameBytes(t, data, written)
		assert.Zero(t, losses)
	})
}

func TestDecodeDoesNotKeepData(t *testing.T) {
	data, want := sample(allOptions[2])
	p := decoded(t, data)
	clear(data)
	require.NoError(t, profile.Compare(want, p))
}

// ParseBytes accepts unusual files that all readers of the format accept.
func TestDecodeTolerates(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		v3 := o.Version == 3
		f := newFile(o).words(0x67636461, o.Version, 99) // a stamp
		if v3 {
			f.words(0xa8000000).counters(0, 0, 0, 0, 0, 0)
		}
		f.words(0xaa000000, 0xffffffff)
		if v3 {
			f.words(3).str("f").str("").str("f") // twice, and one that is the unknown file
		}
		f.words(6)
		for i, name := range []string{"z", "", "a", "z", "", "b"} { // unsorted, repeated, empty
			f.str(name)
			if v3 {
				f.words([]uint32{0, 0xffffffff, 1, 2, 0xffffffff, 0}[i])
			}
		}
		head := func(count, timestamp uint64) *file {
			f.counters(count)
			if v3 {
				f.counters(timestamp)
			}
			return f
		}
		f.words(0xac000000, 0, 4)
		head(math.MaxUint64, 9).words(0, 3, 3)
		f.words(5<<16, 0).counters(5) // positions, call sites and targets out of order and twice
		f.words(4<<16, 2).counters(4)
		f.words(7).counters(5, 1)
		f.words(7).counters(2, math.MaxUint64)
		f.words(4<<16, 2).counters(40)
		f.words(7).counters(2, 1)
		f.words(7).counters(1, 6)
		f.words(4<<16, 5, 1, 0).words(1<<16, 0).counters(1)
		f.words(3<<16, 2, 0, 0)
		f.words(4<<16, 5, 1, 0).words(1<<16, 0).counters(2)
		head(1, 3).words(3, 1, 0).words(5<<16, 0).counters(6) // z again
		head(0, 0).words(2, 0, 0)                             // says nothing
		head(0, 0).words(0, 0, 0)
		f.words(0xae000000, 4, 0, 0xaf000000, 4, 0) // an empty working set

		want := profile.New()
		unit, timestamp := profile.UnknownUnit, uint64(0)
		if v3 {
			unit, timestamp = want.AddUnit("f"), 3
		}
		z, a, b := want.AddSymbol(unit, "z"), want.AddSymbol(profile.UnknownUnit, "a"), want.AddSymbol(unit, "b")
		empty := want.AddSymbol(profile.UnknownUnit, "")
		var body profile.Body
		body.Enter(3, 0, a)
		body.Leave()
		body.Count(4, 0, 44)
		body.Call(4, 0, a, math.MaxUint64)
		body.Call(4, 0, b, 1)
		body.Call(4, 0, empty, 6)
		body.Enter(4, 0, b)
		body.Count(1, 0, 3)
		body.Leave()
		body.Count(5, 0, 11)
		want.AddFunction(z, profile.Function{HeadCount: math.MaxUint64, Timestamp: timestamp, Records: body.Records()})
		require.NoError(t, profile.Compare(want, decoded(t, f.bytes)))
	})
}

func TestDecodeKeepsBareNamesAndFiles(t *testing.T) {
	f := newFile(allOptions[2]).header(3)
	f.words(0xa8000000).counters(0, 0, 0, 0, 0, 0)
	f.words(0xaa000000, 0, 2).str("used").str("unused")
	f.words(3).str("").words(0xffffffff).str("bare").words(0).str("").words(0)
	f.words(0xac000000, 0, 1).counters(0, 0).words(0, 0, 0).tail() // which says nothing of the empty name
	p := decoded(t, f.bytes)
	require.Equal(t, 3, p.NumUnits())
	assert.Equal(t, "unused", p.UnitPath(2))
	require.Equal(t, 2, p.NumSymbols())
	for _, name := range []string{"bare", ""} {
		_, ok := p.FindSymbol(1, name)
		assert.True(t, ok, "symbol %q", name)
	}
	assert.Zero(t, p.NumFunctions())
	assert.Equal(t, &afdo.Summary{}, p.Summary)
}

// Each case is the little-endian sample file with one error.
func TestDecodeMalformed(t *testing.T) {
	v2, _ := sample(allOptions[0])
	v3, _ := sample(allOptions[2])
	names2 := 12
	names3 := 12 + 4 + 6*8 + 2*20
	functions2 := bytes.Index(v2, []byte{0, 0, 0, 0xac})
	functions3 := bytes.Index(v3, []byte{0, 0, 0, 0xac})
	tail := len(v3) - 1536 - 20
	callee := functions3 + 12
	run := callee + 16 + 12
	for _, c := range []struct {
		name   string
		data   []byte
		at     int
		value  uint32
		class  error
		offset int
		detail string
	}{
		{"magic", v3, 0, 0x12345678, afdo.ErrMagic, 0, "does not begin with adcg or gcda"},
		{"summary tag", v3, 12, 0xaa000000, errLayout, 12, "tag 0xaa000000, want that of the summary, 0xa8000000"},
		{"summary entries", v3, 56, 10000, afdo.ErrCount, 56, "10000 summary entries"},
		{"summary entries, high word", v3, 60, 1, afdo.ErrCount, 56, "4294967298 summary entries"},
		{"names tag", v2, names2, 0xa8000000, errLayout, names2, "the names, 0xaa000000"},
		{"number of files", v3, names3 + 8, 1000, afdo.ErrCount, names3 + 8, "1000 source files"},
		{"length of a file", v3, names3 + 12, 0xffffff00, afdo.ErrTruncated, names3 + 12, "a source file needs 4294967040 bytes"},
		{"file without NUL", v3, names3 + 12, 7, afdo.ErrName, names3 + 12, "does not end with its only NUL"},
		{"file with two NUL", v3, names3 + 16, 0x61006162, afdo.ErrName, names3 + 12, "does not end with its only NUL"},
		{"file of no bytes", v3, names3 + 12, 0, afdo.ErrName, names3 + 12, "does not end with its only NUL"},
		{"number of names", v3, names3 + 36, 1 << 30, afdo.ErrCount, names3 + 36, "1073741824 names"},
		{"name of no bytes", v2, names2 + 12, 0, afdo.ErrName, names2 + 12, "a name of 0 bytes"},
		{"length of a name", v2, names2 + 17, 1 << 20, afdo.ErrTruncated, names2 + 17, "a name needs 1048576 bytes"},
		{"file of a name", v3, names3 + 45, 2, afdo.ErrSymbol, names3 + 45, "file index 2 of a name, but there are 2 files"},
		{"functions tag", v2, functions2, 0xad000000, errLayout, functions2, "the functions, 0xac000000"},
		{"number of functions", v2, functions2 + 8, 100000, afdo.ErrCount, functions2 + 8, "100000 functions"},
		{"one function more", v3, functions3 + 8, 3, afdo.ErrSymbol, tail + 16, "name index 384, but there are 5 names"},
		{"name of a function", v3, callee + 16, 5, afdo.ErrSymbol, callee + 16, "name index 5, but there are 5 names"},
		{"positions", v3, run + 20, 1 << 31, afdo.ErrCount, run + 20, "2147483648 positions"},
		{"call sites", v3, run + 24, 1 << 31, afdo.ErrCount, run + 24, "2147483648 call sites"},
		{"targets", v3, run + 32, 1 << 28, afdo.ErrCount, run + 32, "268435456 targets"},
		{"type of a target", v3, run + 44, 4, errLayout, run + 44, "histogram type 4 of a target, want 7"},
		{"name of a target", v3, run + 48, 5, afdo.ErrSymbol, run + 48, "name index 5 of a target"},
		{"name of a target, high word", v3, run + 52, 1, afdo.ErrSymbol, run + 48, "name index 4294967297 of a target"},
		{"name at a call site", v3, run + 104, 77, afdo.ErrSymbol, run + 104, "name index 77, but there are 5 names"},
		{"module grouping tag", v3, tail, 0, errLayout, tail, "the module grouping, 0xae000000"},
		{"modules", v3, tail + 8, 1, errLayout, tail + 8, "1 modules"},
		{"working set tag", v3, tail + 12, 0xae000000, errLayout, tail + 12, "the working set, 0xaf000000"},
		{"trailing word", append(bytes.Clone(v3), 0, 0, 0, 0), 0, 0x67636461, errLayout, len(v3), "4 bytes after the last section"},
		{"trailing byte", append(bytes.Clone(v2), 1), 0, 0x67636461, errLayout, len(v2), "1 bytes after the last section"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := bytes.Clone(c.data)
			binary.LittleEndian.PutUint32(data[c.at:], c.value)
			_, err := ParseBytes(data)
			require.Error(t, err)
			assert.ErrorIs(t, err, c.class)
			assert.ErrorIs(t, err, afdo.ErrMalformed)
			assert.NotErrorIs(t, err, afdo.ErrVersion)
			assert.ErrorContains(t, err, c.detail)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			assert.EqualValues(t, c.offset, fault.Offset)
		})
	}
}

// ParseBytes accepts the empty working set, which is a single zero with a length of 0 words or 4
// bytes, and no other short one.
func TestDecodeShortWorkingSet(t *testing.T) {
	whole, want := sample(allOptions[2])
	data := whole[:len(whole)-1536+4]
	length := len(data) - 8
	for _, c := range []struct {
		length, value uint32
		class         error
		offset        int
	}{
		{length: 0}, {length: 1}, {length: 4},
		{384, 0, afdo.ErrTruncated, length + 4},
		{5, 0, afdo.ErrTruncated, length + 4},
		{4, 1, afdo.ErrTruncated, length + 4},
	} {
		binary.LittleEndian.PutUint32(data[length:], c.length)
		binary.LittleEndian.PutUint32(data[length+4:], c.value)
		p, err := ParseBytes(data)
		if c.class == nil {
			require.NoError(t, err)
			require.NoError(t, profile.Compare(want, p))
			continue
		}
		assert.ErrorIs(t, err, c.class)
		var fault *afdo.FormatError
		require.ErrorAs(t, err, &fault)
		assert.EqualValues(t, c.offset, fault.Offset)
	}
}

func TestDecodeOtherVersions(t *testing.T) {
	v4 := append([]byte("gcov\x00\x00\x00\x04"), make([]byte, 40)...)
	for _, c := range []struct {
		name    string
		data    []byte
		version uint32
		text    string
	}{
		{"1", newFile(allOptions[0]).header(1).bytes, 1, "version 1 profile, not version 2 or 3"},
		{"0, big-endian", newFile(allOptions[1]).header(0).bytes, 0, "version 0 profile"},
		{"of gcov", newFile(allOptions[0]).header(0x4231322a).bytes, 0x4231322a, "version 1110520362 profile"},
		{"4 in the old magic", newFile(allOptions[0]).header(4).bytes, 4, "package afdo reads that"},
		{"4", v4, 4, "version 4 profile, not version 2 or 3; package afdo reads that"},
		{"3 in the magic of 4", append([]byte("gcov\x00\x00\x00\x03"), make([]byte, 40)...), 3, "version 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseBytes(c.data)
			assert.ErrorIs(t, err, afdo.ErrVersion)
			assert.NotErrorIs(t, err, afdo.ErrMalformed)
			assert.ErrorContains(t, err, c.text)
			var version *afdo.VersionError
			require.ErrorAs(t, err, &version)
			assert.EqualValues(t, c.version, version.Version)
		})
	}
}

func TestDecodeTruncated(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		data, _ := sample(o)
		for n := 0; n < len(data); n += testenv.Rounds(3, 1) {
			_, err := ParseBytes(data[:n])
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, "%d of %d bytes", n, len(data))
			require.LessOrEqual(t, fault.Offset, int64(n))
			if n >= 4 {
				require.ErrorIs(t, err, afdo.ErrMalformed)
				require.NotErrorIs(t, err, afdo.ErrMagic)
			}
		}
	})
}

func TestDecodeAnyByteChanged(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		data, _ := sample(o)
		for i := range len(data) - 1530 {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				changed := bytes.Clone(data)
				changed[i] ^= flip
				p, err := ParseBytes(changed)
				if err == nil {
					back, _ := encode(t, p, o)
					require.NoError(t, profile.Compare(p, decoded(t, back)), "byte %d", i)
				}
			}
		}
	})
}

// The error for strings that are padded to words, as some builds of google/autofdo write them in
// version 2, explains that.
func TestDecodeExplainsPadding(t *testing.T) {
	for _, o := range allOptions[:2] {
		f := newFile(o).header(2).words(0xaa000000, 8, 3)
		for _, name := range []string{"", "main", "run_it_"} {
			words := len(name)/4 + 1
			f.words(uint32(words))
			f.bytes = append(append(f.bytes, name...), make([]byte, 4*words-len(name))...)
		}
		f.words(0xac000000, 1, 0).tail()
		_, err := ParseBytes(f.bytes)
		assert.ErrorIs(t, err, afdo.ErrMalformed)
		assert.ErrorContains(t, err, "padded to words")
	}
}

// A count for which the file has too few bytes does not lead to a large allocation.
func TestDecodeHugeCounts(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		data, _ := sample(o)
		huge := []byte{0xff, 0xff, 0xff, 0xff}
		for i := headerSize; i+4 <= len(data)-1540; i++ {
			changed := bytes.Clone(data)
			copy(changed[i:], huge)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ParseBytes(changed)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "offset %d: %v", i, err)
		}
	})
}

func TestDeepNesting(t *testing.T) {
	depth := testenv.Rounds(20_000, 1_000_000)
	for _, o := range allOptions[1:3] {
		f := newFile(o).header(o.Version)
		if o.Version == 3 {
			f.words(0xa8000000).counters(0, 0, 0, 0, 0, 0)
		}
		f.words(0xaa000000, 0)
		if o.Version == 3 {
			f.words(0)
		}
		f.words(2)
		for _, name := range []string{"", "f"} {
			f.str(name)
			if o.Version == 3 {
				f.words(0xffffffff)
			}
		}
		f.words(0xac000000, 0, 1).counters(1)
		if o.Version == 3 {
			f.counters(0)
		}
		f.words(1)
		for range depth {
			f.words(0, 1, 1<<16, 1)
		}
		f.words(1, 0, 2<<16, 0).counters(42)
		f.tail()

		p := decoded(t, f.bytes)
		fn := p.Function(0)
		require.Len(t, fn.Records, depth+1)
		assert.EqualValues(t, depth, fn.Records[0].Count)
		assert.Equal(t, profile.Record{Line: 2, Count: 42}, fn.Records[depth])
		written, _ := encode(t, p, o)
		assert.Equal(t, len(f.bytes), len(written))
		require.NoError(t, profile.Compare(p, decoded(t, written)))

		// Cut anywhere in the middle it is an error, no more.
		_, err := ParseBytes(f.bytes[:len(f.bytes)/2])
		assert.ErrorIs(t, err, afdo.ErrMalformed)
	}
}

// Reading a large function in many small pieces takes time roughly proportional to the size of the
// file.
func TestRepeatedFunction(t *testing.T) {
	positions, pieces := uint32(testenv.Rounds(6_000, 60_000)), uint32(testenv.Rounds(20_000, 200_000))
	f := newFile(allOptions[0]).header(2).words(0xaa000000, 0, 1).str("f")
	f.words(0xac000000, 0, pieces+1).counters(1).words(0, positions, 0)
	for i := range positions {
		f.words(i<<16, 0).counters(1)
	}
	for i := range pieces {
		f.counters(1).words(0, 1, 0).words(i%positions<<16, 0).counters(1)
	}
	p := decoded(t, f.tail().bytes)
	fn := p.Function(0)
	assert.EqualValues(t, pieces+1, fn.HeadCount)
	require.Len(t, fn.Records, int(positions))
	sum := uint64(0)
	for _, r := range fn.Records {
		sum += r.Count
	}
	assert.EqualValues(t, positions+pieces, sum)
}

func TestErrorText(t *testing.T) {
	data, _ := sample(allOptions[2])
	_, err := ParseBytes(data[:1000])
	assert.EqualError(t, err, "gcov: at offset 409: truncated section: the working set takes 1536 bytes, 591 are left")
	_, err = ParseBytes([]byte(strings.Repeat("x", 100)))
	assert.EqualError(t, err, "gcov: at offset 0: not a GCOV profile: the file does not begin with adcg or gcda")
}
