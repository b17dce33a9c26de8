package sampleprof

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestDamagedFilesAsNaive flips a bit of a file or truncates it. Reading must end in an error, or
// find the functions that the naive decoder finds. FuzzSampleProfile starts with the undamaged
// files.
func TestDamagedFilesAsNaive(t *testing.T) {
	for name, data := range seeds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			damaged := slices.Clone(data)
			for range testenv.Rounds(1, 150, 500) {
				bit := rng.IntN(8 * len(data))
				damaged[bit/8] ^= 1 << (bit % 8)
				requireLikeNaive(t, damaged)
				damaged[bit/8] = data[bit/8]
			}
			for range testenv.Rounds(1, 30, 100) {
				requireLikeNaive(t, data[:rng.IntN(len(data))])
			}
		})
	}
}

// A part is a section of a file that assemble makes.
type part struct {
	kind  SectionType
	flags SectionFlags
	data  []byte
}

// assemble returns an ExtBinary file with the given sections, in the given order.
func assemble(parts ...part) []byte {
	sections := make([]Section, len(parts))
	head := putHeader(nil, ExtBinary)
	at := int64(len(head) + tableCountSize + len(parts)*tableEntrySize)
	var body []byte
	for i, p := range parts {
		sections[i] = Section{Type: p.kind, Flags: p.flags, Offset: at, Size: int64(len(p.data))}
		at += int64(len(p.data))
		body = append(body, p.data...)
	}
	return append(putTable(head, sections), body...)
}

// numbers returns the ULEB128 encodings of the numbers, one after another.
func numbers(list ...uint64) []byte {
	var b []byte
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func strs(list ...string) []byte {
	b := numbers(uint64(len(list)))
	for _, s := range list {
		b = append(append(b, s...), 0)
	}
	return b
}

var emptySummary = part{SectionSummary, 0, numbers(0, 0, 0, 0, 0, 0)}

// withBodies returns an ExtBinary file with the names a and b and with the given section of
// function records.
func withBodies(body []byte) []byte {
	return assemble(emptySummary, part{SectionNames, 0, strs("a", "b")}, part{SectionBodies, 0, body})
}

const (
	headOf3   = 10 + 8 + 3*32 // the header of a file of three sections
	namesOf3  = headOf3 + 6
	bodiesOf3 = namesOf3 + 5
)

func patch(data []byte, at int, with ...byte) []byte {
	data = slices.Clone(data)
	copy(data[at:], with)
	return data
}

// nothingDeflated returns a compressed section whose uncompressed content is empty.
func nothingDeflated() []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_ = z.Close()
	return append(numbers(0, uint64(packed.Len())), packed.Bytes()...)
}

func tooMany() []byte { return numbers(1 << 40) }

// corruptFiles are files with one fault each, with the class, section and offset of the error.
var corruptFiles = map[string]struct {
	data    []byte
	class   error
	section int
	kind    SectionType
	offset  int64
}{
	"empty":                   {nil, errMagic, afdo.HeaderSection, 0, 0},
	"no profile":              {[]byte("\x7fELF12345678"), errMagic, afdo.HeaderSection, 0, 0},
	"compact":                 {numbers(magicCompact, 103), errMagic, afdo.HeaderSection, 0, 0},
	"no version":              {numbers(magicExtBinary), afdo.ErrTruncated, afdo.HeaderSection, 0, 9},
	"no table":                {numbers(magicExtBinary, 103), afdo.ErrTruncated, afdo.HeaderSection, 0, 10},
	"cut table":               {withBodies(nil)[:40], afdo.ErrCount, afdo.HeaderSection, 0, 10},
	"many sections":           {append(putHeader(nil, ExtBinary), 255, 255, 255, 255, 255, 255, 255, 255), afdo.ErrCount, afdo.HeaderSection, 0, 10},
	"cut":                     {withBodies(numbers(1, 0, 5, 0, 0))[:headOf3+8], afdo.ErrHeader, afdo.HeaderSection, 0, 18 + 32 + 16},
	"section in the header":   {patch(withBodies(nil), 18+16, 17), afdo.ErrHeader, afdo.HeaderSection, 0, 18 + 16},
	"sections overlap":        {patch(withBodies(nil), 18+32+16, headOf3+5), afdo.ErrHeader, afdo.HeaderSection, 0, 18 + 32 + 16},
	"names twice":             {assemble(part{SectionNames, 0, strs("a")}, part{SectionNames, 0, strs("a")}), afdo.ErrSection, afdo.HeaderSection, 0, 18 + 32},
	"bodies without names":    {assemble(part{SectionBodies, 0, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18},
	"no contexts":             {assemble(part{SectionSummary, flagFullContext, numbers(0, 0, 0, 0, 0, 0)}, part{SectionNames, 0, strs("a")}, part{SectionBodies, 0, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18 + 64},
	"composite":               {assemble(part{sectionComposite, 0, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18},
	"functions of a type":     {assemble(part{40, 0, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18},
	"type of 35 bits":         {assemble(part{1<<34 + SectionBodies, 0, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18},
	"hidden bodies":           {assemble(part{SectionNames, 0, strs("a")}, part{SectionFuncOffsets, 0, numbers(1, 0, 0)}, part{7, 0, numbers(1, 0, 0, 0, 0)}), afdo.ErrSection, 1, SectionFuncOffsets, headOf3 + 3},
	"half hidden":             {assemble(part{SectionNames, 0, strs("a")}, part{SectionFuncOffsets, 0, numbers(1, 0, 0)}, part{7, 0, numbers(1, 0, 0, 0, 0)}, part{SectionFuncOffsets, flagFlat, numbers(1, 0, 0)}, part{SectionBodies, flagFlat, numbers(1, 0, 0, 0, 0)}), afdo.ErrSection, 1, SectionFuncOffsets, headOf3 + 64 + 3},
	"a summary of more":       {assemble(part{SectionSummary, 0, numbers(5, 0, 0, 0, 1, 0)}), afdo.ErrSummary, 0, SectionSummary, 50},
	"older, without bodies":   {append(putHeader(nil, Binary), 5, 0, 0, 0, 1, 0, 0), afdo.ErrSummary, 0, SectionSummary, 10},
	"compressed, of nothing":  {assemble(part{SectionNames, 0, strs("a")}, part{SectionBodies, flagCompressed, nothingDeflated()}), afdo.ErrSection, 1, SectionBodies, 0},
	"unknown flag":            {assemble(part{SectionSummary, 1 << 35, numbers(0, 0, 0, 0, 0, 0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18 + 8},
	"MD5s of symbols":         {assemble(part{SectionSymbolList, flagMD5, numbers(0)}), afdo.ErrSection, afdo.HeaderSection, 0, 18 + 8},
	"many MD5s in a tree":     {patch(assemble(part{SectionNames, flagMD5 | flagFixedMD5 | flagEytzinger, numbers(1, 1, 1, 0, 0)}, part{SectionMetadata, flagProbes, numbers(0, 1)}), 9, 104), afdo.ErrCount, 0, SectionNames, 10 + 8 + 64},
	"summary ends":            {assemble(part{SectionSummary, 0, numbers(0, 0)}), afdo.ErrTruncated, 0, SectionSummary, 10 + 8 + 32 + 2},
	"summary goes on":         {assemble(part{SectionSummary, 0, numbers(0, 0, 0, 0, 0, 0, 0)}), afdo.ErrUnused, 0, SectionSummary, 10 + 8 + 32 + 6},
	"cutoff":                  {assemble(part{SectionSummary, 0, numbers(0, 0, 0, 0, 0, 1, 1<<32, 0, 0)}), afdo.ErrVarint, 0, SectionSummary, 10 + 8 + 32 + 6},
	"many entries":            {assemble(part{SectionSummary, 0, append(numbers(0, 0, 0, 0, 0), tooMany()...)}), afdo.ErrCount, 0, SectionSummary, 10 + 8 + 32 + 5},
	"names end":               {patch(withBodies(nil), namesOf3+4, 'x'), afdo.ErrTruncated, 1, SectionNames, bodiesOf3},
	"many names":              {patch(withBodies(nil), namesOf3, 5), afdo.ErrCount, 1, SectionNames, namesOf3},
	"few names":               {patch(withBodies(nil), namesOf3, 1), afdo.ErrUnused, 1, SectionNames, namesOf3 + 3},
	"name of the function":    {withBodies(numbers(1, 2, 0, 0, 0)), errName, 2, SectionBodies, bodiesOf3 + 1},
	"name of a target":        {withBodies(numbers(1, 0, 0, 1, 1, 0, 5, 1, 2, 7, 0)), errName, 2, SectionBodies, bodiesOf3 + 8},
	"name of what is inlined": {withBodies(numbers(1, 0, 0, 0, 1, 1, 0, 9, 0, 0, 0)), errName, 2, SectionBodies, bodiesOf3 + 7},
	"line":                    {withBodies(numbers(1, 0, 0, 1, 1<<16, 0, 5, 0, 0)), errLine, 2, SectionBodies, bodiesOf3 + 4},
	"line of a call":          {withBodies(numbers(1, 0, 0, 0, 1, 1<<16, 0, 1, 0, 0, 0)), errLine, 2, SectionBodies, bodiesOf3 + 5},
	"discriminator":           {withBodies(numbers(1, 0, 0, 1, 1, 1<<32, 5, 0, 0)), afdo.ErrVarint, 2, SectionBodies, bodiesOf3 + 5},
	"number":                  {withBodies(append(numbers(1, 0), 255, 255, 255, 255, 255, 255, 255, 255, 255, 2, 0, 0)), afdo.ErrVarint, 2, SectionBodies, bodiesOf3 + 2},
	"body ends":               {withBodies(numbers(1, 0, 0, 0)), afdo.ErrTruncated, 2, SectionBodies, bodiesOf3 + 4},
	"many records":            {withBodies(append(numbers(1, 0, 0), tooMany()...)), afdo.ErrCount, 2, SectionBodies, bodiesOf3 + 3},
	"many targets":            {withBodies(append(numbers(1, 0, 0, 1, 1, 0, 5), tooMany()...)), afdo.ErrCount, 2, SectionBodies, bodiesOf3 + 7},
	"many calls":              {withBodies(append(numbers(1, 0, 0, 0), tooMany()...)), afdo.ErrCount, 2, SectionBodies, bodiesOf3 + 4},
	"half a function":         {withBodies(numbers(1, 0, 0, 0, 0, 1)), afdo.ErrTruncated, 2, SectionBodies, bodiesOf3 + 6},
	"compressed, no stream":   {assemble(part{SectionSummary, flagCompressed, numbers(6, 7)}), afdo.ErrCount, 0, SectionSummary, 51},
	"compressed, no zlib":     {assemble(part{SectionSummary, flagCompressed, numbers(6, 3, 1, 2, 3)}), afdo.ErrCompressed, 0, SectionSummary, 0},
	"compressed, too much":    {assemble(part{SectionSummary, flagCompressed, numbers(1<<40, 3, 1, 2, 3)}), afdo.ErrCount, 0, SectionSummary, 50},
	"compressed, and more":    {assemble(part{SectionSummary, flagCompressed, append(deflate(emptySummary.data), 0)}), afdo.ErrUnused, 0, SectionSummary, 50 + int64(len(deflate(emptySummary.data)))},
	"compressed, bad inside":  {assemble(part{SectionSummary, flagCompressed, deflate(numbers(0, 0))}), afdo.ErrTruncated, 0, SectionSummary, 2},
	"symbol list":             {assemble(part{SectionSymbolList, 0, []byte("a")}), afdo.ErrTruncated, 0, SectionSymbolList, 51},
	"attributes":              {assemble(part{SectionNames, 0, strs("a")}, part{SectionMetadata, flagHasAttributes, numbers(0, 1<<32, 0)}), afdo.ErrVarint, 1, SectionMetadata, 10 + 8 + 64 + 3 + 1},
	"metadata of a name":      {assemble(part{SectionNames, 0, strs("a")}, part{SectionMetadata, flagProbes, numbers(1, 1, 0)}), errName, 1, SectionMetadata, 10 + 8 + 64 + 3},
	"metadata ends":           {assemble(part{SectionNames, 0, strs("a")}, part{SectionMetadata, flagProbes, numbers(0, 1)}), afdo.ErrTruncated, 1, SectionMetadata, 10 + 8 + 64 + 3 + 2},
	"context of nothing":      {assemble(part{SectionSummary, flagFullContext, numbers(0, 0, 0, 0, 0, 0)}, part{SectionNames, 0, strs("a")}, part{SectionContexts, 0, numbers(1, 0)}), errName, 2, SectionContexts, headOf3 + 6 + 3 + 1},
	"context that calls":      {assemble(part{SectionSummary, flagFullContext, numbers(0, 0, 0, 0, 0, 0)}, part{SectionNames, 0, strs("a")}, part{SectionContexts, 0, numbers(1, 1, 0, 7, 0)}), errName, 2, SectionContexts, headOf3 + 6 + 3 + 4},
	"older, cut":              {append(putHeader(nil, Binary), 0, 0, 0, 0), afdo.ErrTruncated, 0, SectionSummary, 14},
}

func TestCorruptFiles(t *testing.T) {
	for name, c := range corruptFiles {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.data)
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format)
			inflated := name == "compressed, no zlib" || name == "compressed, bad inside" || name == "compressed, of nothing"
			assert.Equal(t, afdo.FormatError{
				Format: "sampleprof", Section: c.section, Part: partName(c.section, c.kind), Offset: c.offset, Inflated: inflated, Err: c.class, Detail: format.Detail,
			}, *format)
			assert.ErrorIs(t, err, c.class)
			assert.ErrorIs(t, err, afdo.ErrMalformed)
			assert.NotEmpty(t, format.Error())
		})
	}
}

func partName(section int, kind SectionType) string {
	if section == afdo.HeaderSection {
		return "header"
	}
	return kind.String()
}

func TestVersion(t *testing.T) {
	_, err := OpenBytes(numbers(magicExtBinary, 106))
	require.ErrorIs(t, err, afdo.ErrVersion)
	require.EqualError(t, err, "sampleprof: unsupported profile version: 106, not 103 to 105")
}

// TestLyingOffsets checks that lookups and checks report function offsets that lead to the wrong
// function.
func TestLyingOffsets(t *testing.T) {
	bodies := numbers(1, 0, 5, 0, 0, 1, 1, 6, 0, 0) // a, b
	for name, c := range map[string]struct {
		offsets []uint64
		class   error
		at      int64
	}{
		"right":            {[]uint64{2, 0, 0, 1, 5}, nil, 0},
		"another function": {[]uint64{2, 0, 5, 1, 0}, afdo.ErrSection, 5},
		"beyond the end":   {[]uint64{2, 0, 10, 1, 5}, afdo.ErrSection, 10},
		"far beyond":       {[]uint64{2, 0, 1 << 63, 1, 5}, afdo.ErrSection, 10},
		"within":           {[]uint64{3, 0, 0, 1, 5, 1, 2}, afdo.ErrTruncated, 2},
		"no such name":     {[]uint64{2, 0, 0, 7, 5}, errName, -4 + 2},
		"cut":              {[]uint64{2, 0, 0, 1}, afdo.ErrCount, 0},
	} {
		t.Run(name, func(t *testing.T) {
			data := assemble(emptySummary, part{SectionNames, 0, strs("a", "b")},
				part{SectionFuncOffsets, 0, numbers(c.offsets...)}, part{SectionBodies, 0, bodies})
			r, err := OpenBytes(data)
			require.NoError(t, err)
			f, err := r.Function("a")
			if c.class == nil {
				require.NoError(t, err)
				require.Equal(t, uint64(5), f.Total)
				return
			}
			require.ErrorIs(t, err, c.class)
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format)
			if format.Part == SectionBodies.String() {
				section := r.Sections()[3]
				require.Equal(t, section.Offset+c.at, format.Offset)
			}
			_, err = Read(r)
			require.NoError(t, err, "all bodies are read without the offsets, as LLVM's tools do")
		})
	}
}

// TestDeep reads a file and a text in which a function is inlined into itself a hundred thousand
// times. Reading must not recurse.
func TestDeep(t *testing.T) {
	depth := testenv.Rounds(20_000, 100_000)
	var body []byte
	body = append(body, numbers(1, 0)...)
	for range depth {
		body = append(body, numbers(1, 0, 1, 3, 0, 1)...)
	}
	body = append(body, numbers(1, 0, 0)...)
	p := decoded(t, withBodies(body))
	require.Len(t, p.functions[0].Records, depth)
	for _, o := range []WriteOptions{{}, {SplitLayout: true}} {
		q := decoded(t, extBinary(t, p, o))
		require.True(t, slices.Equal(p.functions[0].Records, q.functions[0].Records))
		_, err := q.Merge(p, one)
		require.NoError(t, err)
		require.Equal(t, uint64(2), q.functions[0].Records[depth-1].Count)
	}
	_, err := WriteText(io.Discard, p)
	require.ErrorIs(t, err, afdo.ErrLimit, "five gigabytes of blanks")
	p.functions[0].Records = append(p.functions[0].Records, Record{Kind: KindChecksum, Count: 1})
	p.Probes = true
	require.NotNil(t, decoded(t, extBinary(t, p, WriteOptions{})))

	var text strings.Builder
	text.WriteString("a:1:1\n")
	for i := range testenv.Rounds(500, 2000) {
		text.WriteString(strings.Repeat(" ", i+1) + "3: b:1\n")
	}
	require.Equal(t, text.String(), textOf(t, parse(t, text.String())))
}

// allocated returns the number of bytes that a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombs opens small files that decompress or expand to much larger ones. Reading must return an
// error before it allocates much memory.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 1<<20)
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	block := func() []byte { // the next megabyte; from the second on they are alike
		packed.Reset()
		_, err := z.Write(zeros)
		require.NoError(t, errors.Join(err, z.Flush()))
		return bytes.Clone(packed.Bytes())
	}
	zipped := append(block(), bytes.Repeat(block(), 95)...)
	stream := append(numbers(96<<20, uint64(len(zipped))), zipped...)
	for name, parts := range map[string][]part{
		"names":   {{SectionNames, flagCompressed, stream}},
		"symbols": {{SectionSymbolList, flagCompressed, stream}},
		"bodies":  {{SectionNames, 0, strs("a")}, {SectionBodies, flagCompressed, stream}},
	} {
		t.Run(name, func(t *testing.T) {
			data := assemble(parts...)
			used := allocated(func() {
				_, err := read(data)
				require.ErrorIs(t, err, afdo.ErrLimit)
				require.NotErrorIs(t, err, afdo.ErrMalformed)
			})
			require.Less(t, used, uint64(16<<20+50*len(data))) // a quarter of the promise, as the file is small
		})
	}
}

// TestMemoryOfDenseFiles reads files in which each record takes as few bytes as possible. Reading
// must not take more memory than documented at MaxMemory.
func TestMemoryOfDenseFiles(t *testing.T) {
	const n = 150_000
	targets := numbers(1, 0, 0, 1, 1, 0, 5, n)
	for i := range n {
		targets = append(targets, byte(i%2), byte(i%128))
	}
	targets = append(targets, 0)
	functions := bytes.Repeat(numbers(1, 0, 0, 0, 0), n)
	var names []string
	for i := range n {
		names = append(names, string(binary.AppendUvarint(nil, uint64(1+i))))
	}
	for name, data := range map[string][]byte{
		"targets":   withBodies(targets),
		"functions": withBodies(functions),
		"names":     assemble(emptySummary, part{SectionNames, 0, strs(names...)}, part{SectionBodies, 0, numbers(1, 0, 0, 0, 0)}),
	} {
		t.Run(name, func(t *testing.T) {
			used := allocated(func() {
				_, err := read(data)
				require.NoError(t, err)
			})
			require.Less(t, used, uint64(16<<20+50*len(data))) // a quarter of the promise, as the file is small
		})
	}
}

func TestMaxMemory(t *testing.T) {
	data := extBinary(t, parse(t, texts[0]), WriteOptions{})
	r, err := OpenBytes(data, MaxMemory(100))
	require.NoError(t, err)
	_, err = Read(r)
	require.ErrorIs(t, err, afdo.ErrLimit)
	_, err = Read(r)
	require.ErrorIs(t, err, afdo.ErrLimit)
}
