package bbmap_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/bbmap"
)

const (
	address = "\x00\x10\x00\x00\x00\x00\x00\x00" // 0x1000
	// The map of a function in version 2: one block with ID 0, offset 0, size 4 and a return.
	entry = "\x02\x00" + address + "\x01" + "\x00\x00\x04\x01"
)

func open(t testing.TB, e *testELF) *elf.File {
	f, err := elf.NewFile(bytes.NewReader(e.bytes()))
	require.NoError(t, err)
	return f
}

// read returns copies of all functions of a file.
func read(f *elf.File) (functions []*bbmap.Function, err error) {
	m, err := bbmap.New(f)
	if err != nil {
		return nil, err
	}
	for one, err := range m.Functions() {
		if err != nil {
			return functions, err
		}
		functions = append(functions, clone(one))
	}
	return functions, nil
}

// A map with all optional fields is decoded, and its counts are skipped up to the next function.
func TestAllFields(t *testing.T) {
	data := "\x05\xef\x00" + // entry count, frequencies, probabilities, ranges, call sites, hashes, counts
		"\x02" + // ranges
		address + "\x02" +
		"\x00\x00" + "\x02\x05\x03" + "\x02" + "\x08" + "\x01\x02\x03\x04\x05\x06\x07\x08" + // calls end at 5 and 8, 2 bytes after
		"\x07\x01" + "\x00" + "\x80\x01" + "\x11" + "\x00\x00\x00\x00\x00\x00\x00\x00" + // a gap of 1, 128 bytes
		"\x00\x20\x00\x00\x00\x00\x00\x00" + "\x01" +
		"\x09\x00" + "\x00" + "\x03" + "\x04" + "\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x2a" + // entry count
		"\x10\x03\x02" + "\x07\x05\x01" + "\x09\x06\x02" + // frequency, count, two successors
		"\x11\x04\x00" +
		"\x12\x05\x00"
	functions, err := read(open(t, program(data+entry)))
	require.NoError(t, err)
	require.Len(t, functions, 2)
	assert.Equal(t, &bbmap.Function{
		At: bbmap.Position{Section: mapSection}, Version: 5, Features: 0xef,
		Ranges: []bbmap.Range{
			{Address: 0x1000, NumBlocks: 2, Blocks: []bbmap.Block{
				{ID: 0, Offset: 0, Size: 10, Flags: bbmap.CanFallThrough, Calls: []uint32{5, 8}, Hash: 0x0807060504030201},
				{ID: 7, Offset: 11, Size: 128, Flags: bbmap.HasReturn | bbmap.HasIndirectBranch, Calls: []uint32{}},
			}},
			{Address: 0x2000, NumBlocks: 1, Blocks: []bbmap.Block{
				{ID: 9, Size: 3, Flags: bbmap.IsLandingPad, Calls: []uint32{}},
			}},
		},
	}, functions[0])
	assert.Equal(t, bbmap.Position{Section: mapSection, Offset: uint64(len(data))}, functions[1].At)

	m, err := bbmap.New(open(t, program(data+entry)))
	require.NoError(t, err)
	for _, want := range functions {
		got, err := m.Function(want.At)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, at := range []bbmap.Position{{Section: 1}, {Section: 99}, {Section: mapSection, Offset: 1 << 40}} {
		_, err := m.Function(at)
		assert.ErrorIs(t, err, afdo.ErrNotFound)
	}
}

func TestWithoutBlocks(t *testing.T) {
	functions, err := read(open(t, program("\x04\x11"+address+"\xff\x01"+"\x05")))
	require.NoError(t, err)
	assert.Equal(t, []bbmap.Range{{Address: 0x1000, NumBlocks: 255}}, functions[0].Ranges)
}

// In a relocatable file, a relocation provides the address of a range. The addend is in the
// relocation or in the field of the map.
func TestRelocatable(t *testing.T) {
	for _, c := range []struct {
		class   elf.Class
		machine elf.Machine
		kind    elf.SectionType
		table   string
		entry   string
		want    uint64
	}{
		{elf.ELFCLASS64, elf.EM_X86_64, elf.SHT_RELA, "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x01\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00", entry, 0x25},
		{elf.ELFCLASS64, elf.EM_AARCH64, elf.SHT_RELA, "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x01\x01\x00\x00\x01\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00", entry, 0x25},
		{elf.ELFCLASS32, elf.EM_386, elf.SHT_REL, "\x02\x00\x00\x00" + "\x01\x01\x00\x00", "\x02\x00" + "\x06\x00\x00\x00" + "\x01\x00\x00\x04\x01", 0x26},
		{elf.ELFCLASS32, elf.EM_ARM, elf.SHT_REL, "\x02\x00\x00\x00" + "\x02\x01\x00\x00", "\x02\x00" + "\x06\x00\x00\x00" + "\x01\x00\x00\x04\x01", 0x26},
	} {
		symbols := "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" +
			"\x00\x00\x00\x00\x00\x00\x01\x00" + "\x20\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00"
		if c.class == elf.ELFCLASS32 {
			symbols = strings.Repeat("\x00", 16) + "\x00\x00\x00\x00" + "\x20\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x01\x00"
		}
		e := program(c.entry)
		e.kind, e.class, e.machine = elf.ET_REL, c.class, c.machine
		e.sections = append(e.sections, testSection{name: ".symtab", kind: elf.SHT_SYMTAB, data: []byte(symbols)},
			testSection{name: ".rel", kind: c.kind, link: 3, info: mapSection, data: []byte(c.table)})
		functions, err := read(open(t, e))
		require.NoError(t, err)
		assert.Equal(t, c.want, functions[0].Ranges[0].Address, c.machine)
		assert.Equal(t, 1, functions[0].Ranges[0].Section)
	}
}

// New reads no section, and Functions reads a section only when its first function is needed.
func TestLazy(t *testing.T) {
	e := program(entry)
	e.sections = append(e.sections, testSection{name: ".llvm_bb_addr_map", kind: bbmap.SectionType, link: 1, data: []byte(entry)})
	data := e.bytes()
	count := &countingReader{ReaderAt: bytes.NewReader(data)}
	f, err := elf.NewFile(count)
	require.NoError(t, err)
	count.bytes = 0
	m, err := bbmap.New(f)
	require.NoError(t, err)
	assert.Zero(t, count.bytes)
	for _, err := range m.Functions() {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, len(entry), count.bytes)
}

type countingReader struct {
	io.ReaderAt
	bytes int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

func TestNoMap(t *testing.T) {
	e := program(entry)
	e.sections = e.sections[:1]
	_, err := read(open(t, e))
	assert.ErrorIs(t, err, bbmap.ErrNoMap)

	e.sections = append(e.sections, testSection{name: ".llvm_bb_addr_map", kind: 0x6fff4c08})
	_, err = read(open(t, e))
	assert.ErrorIs(t, err, afdo.ErrVersion)
}

// Every corrupt map gives an error with the right section, offset in the section, and class.
func TestCorrupt(t *testing.T) {
	right := elf.Rela64{Off: 2, Info: 1<<32 | uint64(elf.R_X86_64_64)}
	without := func(e *testELF, section int, change func(*testSection)) *testELF {
		change(&e.sections[section-1])
		return e
	}
	long := strings.Repeat("\xff", 9) + "\x7f"
	for name, c := range map[string]struct {
		file    *testELF
		section int
		offset  int64
		class   error
	}{
		"version 1":                 {program("\x01" + entry), 2, 0, afdo.ErrVersion},
		"version 6":                 {program(entry + "\x06"), 2, int64(len(entry)), afdo.ErrVersion},
		"no features":               {program("\x02"), 2, 1, afdo.ErrTruncated},
		"half of the features":      {program("\x05\x00"), 2, 1, afdo.ErrTruncated},
		"unknown features":          {program("\x05\x00\x01"), 2, 1, afdo.ErrVersion},
		"calls in version 2":        {program("\x02\x20" + address + "\x00"), 2, 1, afdo.ErrVersion},
		"hashes in version 3":       {program("\x03\x40" + address + "\x00"), 2, 1, afdo.ErrVersion},
		"measured in version 4":     {program("\x04\x80" + address + "\x00"), 2, 1, afdo.ErrVersion},
		"counts without blocks":     {program("\x02\x12" + address + "\x00"), 2, 1, afdo.ErrHeader},
		"no address":                {program("\x02\x00\x00"), 2, 2, afdo.ErrTruncated},
		"no number of blocks":       {program("\x02\x00" + address), 2, 10, afdo.ErrTruncated},
		"too many blocks":           {program("\x02\x00" + address + "\x02\x00\x00\x04\x01"), 2, 10, afdo.ErrCount},
		"very many blocks":          {program("\x02\x00" + address + strings.Repeat("\xff", 9) + "\x01"), 2, 10, afdo.ErrCount},
		"wide number of blocks":     {program("\x02\x00" + address + long), 2, 10, afdo.ErrVarint},
		"no ranges":                 {program("\x02\x08\x00"), 2, 2, afdo.ErrCount},
		"too many ranges":           {program("\x02\x08\x03" + address + "\x00"), 2, 2, afdo.ErrCount},
		"wide ID":                   {program("\x02\x00" + address + "\x01\xff\xff\xff\xff\x7f\x00\x04\x01"), 2, 11, afdo.ErrOverflow},
		"wide offset":               {program("\x02\x00" + address + "\x01\x00\xff\xff\xff\xff\x7f\x04\x01"), 2, 12, afdo.ErrOverflow},
		"block beyond 4 GB":         {program("\x02\x00" + address + "\x01\x00\xff\xff\xff\xff\x0f\x01\x01"), 2, 17, afdo.ErrOverflow},
		"range beyond all":          {program("\x02\x00" + strings.Repeat("\xff", 8) + "\x01\x00\x00\x04\x01"), 2, 10, afdo.ErrOverflow},
		"unknown flags":             {program("\x02\x00" + address + "\x01\x00\x00\x04\x20"), 2, 14, afdo.ErrVersion},
		"too many calls":            {program("\x03\x20" + address + "\x01\x00\x00\x09\x04\x01"), 2, 13, afdo.ErrCount},
		"call beyond 4 GB":          {program("\x03\x20" + address + "\x01\x00\x01\x01\xff\xff\xff\xff\x0f\x04\x01"), 2, 14, afdo.ErrOverflow},
		"half a hash":               {program("\x04\x40" + address + "\x01\x00\x00\x04\x01\x00"), 2, 15, afdo.ErrTruncated},
		"no entry count":            {program("\x02\x01" + address + "\x00"), 2, 11, afdo.ErrTruncated},
		"no frequency":              {program("\x02\x02" + address + "\x01\x00\x00\x04\x01"), 2, 15, afdo.ErrTruncated},
		"too many successors":       {program("\x02\x04" + address + "\x01\x00\x00\x04\x01\x02\x00\x00"), 2, 15, afdo.ErrCount},
		"compressed":                {without(program(entry), 2, func(s *testSection) { s.flags |= elf.SHF_COMPRESSED; s.data = append(make([]byte, 24), s.data...) }), 2, 0, afdo.ErrCompressed},
		"longer than the file":      {without(program(entry), 2, func(s *testSection) { s.size = 1 << 30 }), 2, 0, afdo.ErrTruncated},
		"no relocation":             {object(entry, elf.Rela64{Off: 3, Info: right.Info}), 2, 2, afdo.ErrSymbol},
		"relocation of no symbol":   {object(entry, elf.Rela64{Off: 2, Info: 2<<32 | uint64(elf.R_X86_64_64)}), 4, 0, afdo.ErrSymbol},
		"relocation of other type":  {object(entry, elf.Rela64{Off: 2, Info: 1<<32 | uint64(elf.R_X86_64_PC32)}), 4, 0, afdo.ErrSymbol},
		"relocation of no section":  {object(entry, elf.Rela64{Off: 2, Info: uint64(elf.R_X86_64_64)}), 4, 0, afdo.ErrSymbol},
		"relocation without symbol": {without(object(entry, right), 4, func(s *testSection) { s.link = 1 }), 2, 0, afdo.ErrSection},
		"symbols of no section":     {without(object(entry, right), 4, func(s *testSection) { s.link = 1 << 20 }), 2, 0, afdo.ErrSection},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(open(t, c.file))
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			assert.ErrorIs(t, err, c.class)
			assert.Equal(t, c.section, fault.Section, err)
			assert.Equal(t, c.offset, fault.Offset, err)
			assert.NotEmpty(t, fault.Detail)
		})
	}
}

// Decoding allocates at most 50 times the size of the map, for maps with as many blocks, ranges or
// functions as their size allows.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	for name, repeated := range map[string]string{
		"blocks":    "\x00\x00\x04\x01",
		"ranges":    address + "\x01" + "\x00\x00\x04\x01",
		"functions": entry,
	} {
		data := strings.Repeat(repeated, size/len(repeated))
		switch count := len(data) / len(repeated); name {
		case "blocks":
			data = "\x02\x00" + address + uleb(count) + data
		case "ranges":
			data = "\x02\x08" + uleb(count) + data
		}
		f := open(t, program(data))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := bbmap.New(f)
		require.NoError(t, err)
		functions := 0
		for _, err := range m.Functions() {
			require.NoError(t, err)
			functions++
		}
		runtime.ReadMemStats(&after)
		assert.NotZero(t, functions)
		assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(50*len(data)), name)
		runtime.KeepAlive(m)
	}
}

func uleb(n int) string {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return string(append(b, byte(n)))
}

// FuzzMap decodes random bytes as a map. Blocks must be in order and within their range,
// Map.Function must find each function by its position, and every error must have an offset in the
// section.
func FuzzMap(f *testing.F) {
	f.Add([]byte(entry), false, false)
	f.Add([]byte("\x05\xef\x00\x01"+address+"\x01\x00\x00\x01\x05\x02\x08\x01\x02\x03\x04\x05\x06\x07\x08\x2a\x10\x03\x01\x00\x05\x01"), false, false)
	f.Add([]byte("\x02\x00\x00\x10\x00\x00\x01\x00\x00\x04\x01"), true, false)
	f.Add([]byte(entry), false, true)
	f.Fuzz(func(t *testing.T, data []byte, narrow, relocatable bool) {
		e := program(string(data))
		if relocatable {
			e = object(string(data), elf.Rela64{Off: 2, Info: 1<<32 | uint64(elf.R_X86_64_64)})
		}
		if narrow {
			e.class, e.machine = elf.ELFCLASS32, elf.EM_386
		}
		file, err := elf.NewFile(bytes.NewReader(e.bytes()))
		require.NoError(t, err)
		m, err := bbmap.New(file)
		require.NoError(t, err)
		var last *bbmap.Function
		for one, err := range m.Functions() {
			var fault *afdo.FormatError
			if errors.As(err, &fault) {
				require.LessOrEqual(t, fault.Offset, int64(len(e.sections[fault.Section-1].data)))
				break
			}
			require.NoError(t, err)
			if last != nil {
				require.Greater(t, one.At.Offset, last.At.Offset)
			}
			last = clone(one)
			checkFunction(t, last)
		}
		if last != nil {
			again, err := m.Function(last.At)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%+v", last), fmt.Sprintf("%+v", again))
		}
	})
}

func checkFunction(t *testing.T, f *bbmap.Function) {
	require.NotEmpty(t, f.Ranges)
	for _, r := range f.Ranges {
		end := uint32(0)
		for _, b := range r.Blocks {
			require.GreaterOrEqual(t, b.Offset, end)
			end = b.Offset + b.Size
			require.GreaterOrEqual(t, end, b.Offset)
			require.GreaterOrEqual(t, r.Address+uint64(end), r.Address)
			for i, c := range b.Calls {
				require.LessOrEqual(t, c, b.Size)
				require.True(t, i == 0 || c >= b.Calls[i-1])
			}
		}
	}
}

// clone returns a deep copy of f.
func clone(f *bbmap.Function) *bbmap.Function {
	c := *f
	c.Ranges = slices.Clone(f.Ranges)
	for i := range c.Ranges {
		blocks := slices.Clone(c.Ranges[i].Blocks)
		for j := range blocks {
			blocks[j].Calls = slices.Clone(blocks[j].Calls)
		}
		c.Ranges[i].Blocks = blocks
	}
	return &c
}
