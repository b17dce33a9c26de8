package symbolize

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

var tinyFiles = []string{"tiny4.so", "tiny5.so", "tinyz.so", "tinyp.so", "tiny.o"}

func tiny(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// readAll opens a file and reads the code of all its functions. It returns the number of spans.
func readAll(path string) (spans int, err error) {
	f, err := Open(path, debugDirs())
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var symbols []Symbol
	for s, err := range f.Symbols() {
		if err != nil {
			return 0, err
		}
		symbols = append(symbols, s)
	}
	for code, err := range f.Code(context.Background(), symbols) {
		if err != nil {
			return spans, err
		}
		at := code.Symbol.Low
		for _, s := range code.Spans {
			if s.Low < at || s.High <= s.Low || s.High > code.Symbol.High {
				return spans, errors.New("spans overlap, are empty or lie outside of their function")
			}
			at = s.High
			spans++
			for i := s.Instance; i != nil; i = i.Caller {
				if i.Function == nil {
					return spans, errors.New("an instance of nothing")
				}
			}
		}
	}
	return spans, nil
}

// typed reports whether an error is of a class that this package documents.
func typed(err error) bool {
	for _, class := range []error{afdo.ErrMalformed, afdo.ErrLimit, ErrUnsupported, ErrNoDebugInfo, errOtherBuild, ErrELF} {
		if errors.Is(err, class) {
			return true
		}
	}
	return err == nil
}

func FuzzSymbolize(f *testing.F) {
	for _, name := range tinyFiles {
		f.Add(tiny(f, name))
	}
	for _, data := range [][]byte{
		gen.SharedAbbrevs(3, 4, true), gen.SharedLines(2, 9), gen.SharedFiles(2, 3), gen.VagueUnits(2, 3), gen.SharedRanges(3, 2),
		gen.LongNames(3, 9, true), gen.LongFolder(2, 9), gen.DeepInlining(5), gen.Aliases(3), gen.OverlappingFunctions(4), gen.CommonNames("x"),
	} {
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "fuzzed")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		name := path + string(rune('a'+os.Getpid()%26))
		require.NoError(t, os.WriteFile(name, data, 0o600))
		if _, err := readAll(name); !typed(err) {
			t.Fatal(err)
		}
	})
}

// For each byte of a file, the test changes this byte alone and reads the file. Reading must end,
// without a panic, in a result or in an error of a documented class.
func TestEveryByteDamaged(t *testing.T) {
	step := testenv.Rounds(197, 1)
	for _, name := range tinyFiles {
		whole := tiny(t, name)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, whole, 0o600))
		file, err := os.OpenFile(path, os.O_RDWR, 0) // to write whole files anew, some file systems wait for the disk
		require.NoError(t, err)
		defer file.Close()
		for i := 0; i < len(whole); i += step {
			for _, b := range [][]byte{{0, 0xff}, {0x7f, whole[i] ^ 1}}[i%2] {
				_, err := file.WriteAt([]byte{b}, int64(i))
				require.NoError(t, err)
				_, err = readAll(path)
				require.True(t, typed(err), "%s with %#x at %d: %v", name, b, i, err)
			}
			_, err := file.WriteAt(whole[i:i+1], int64(i))
			require.NoError(t, err)
		}
	}
}

// A truncated file gives an error, or not more spans than the whole file.
func TestEveryCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut")
	whole := tiny(t, "tiny5.so")
	for n := 0; n < len(whole); n += 31 {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
		_, err := readAll(path)
		require.Error(t, err)
		require.True(t, typed(err), "%d bytes: %v", n, err)
	}
}

// sectionAt returns the header of a section of an ELF file.
func sectionAt(t *testing.T, data []byte, name string) *elf.Section {
	f, err := elf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	s := f.Section(name)
	require.NotNil(t, s, name)
	return s
}

// Each kind of malformed debug info gives an error of the right class, with the right section and
// offset.
func TestFaults(t *testing.T) {
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		file, section string
		damage        func(section []byte)
		class         error
		offset        int64
	}{
		"not ELF":           {"tiny5.so", "", func(d []byte) { d[0] = 'x' }, ErrELF, 0},
		"unit too long":     {"tiny5.so", ".debug_info", func(d []byte) { le.PutUint32(d, 1<<20) }, afdo.ErrTruncated, 4},
		"reserved length":   {"tiny5.so", ".debug_info", func(d []byte) { le.PutUint32(d, 0xfffffff1) }, errForm, 4},
		"unknown version":   {"tiny5.so", ".debug_info", func(d []byte) { d[4] = 9 }, afdo.ErrVersion, 6},
		"address size":      {"tiny5.so", ".debug_info", func(d []byte) { d[7] = 3 }, errForm, 12},
		"unknown code":      {"tiny5.so", ".debug_info", func(d []byte) { d[12] = 0x7f }, errAbbrev, 12},
		"abbrevs elsewhere": {"tiny5.so", ".debug_info", func(d []byte) { le.PutUint32(d[8:], 1<<20) }, afdo.ErrTruncated, 1 << 20},
		"huge tag":          {"tiny5.so", ".debug_abbrev", func(d []byte) { d[1], d[2], d[3] = 0xff, 0xff, 0x7f }, errAbbrev, 4},
		"line version":      {"tiny5.so", ".debug_line", func(d []byte) { d[4] = 1 }, afdo.ErrVersion, 6},
		"line table length": {"tiny5.so", ".debug_line", func(d []byte) { le.PutUint32(d, 1<<20) }, afdo.ErrTruncated, 4},
		"no line range":     {"tiny5.so", ".debug_line", func(d []byte) { d[16] = 0 }, errLine, -1},
		"expansion":         {"tinyz.so", ".debug_info", func(d []byte) { le.PutUint64(d[8:], 1<<40) }, afdo.ErrLimit, 0},
		"wrong size":        {"tinyz.so", ".debug_info", func(d []byte) { le.PutUint64(d[8:], le.Uint64(d[8:])+1) }, afdo.ErrCompressed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			data := tiny(t, c.file)
			part := data
			if c.section != "" {
				s := sectionAt(t, data, c.section)
				part = data[s.Offset : s.Offset+s.FileSize]
			}
			c.damage(part)
			path := filepath.Join(t.TempDir(), "damaged")
			require.NoError(t, os.WriteFile(path, data, 0o600))
			_, err := readAll(path)
			require.Equal(t, c.class != afdo.ErrLimit, errors.Is(err, afdo.ErrMalformed))
			require.ErrorIs(t, err, c.class)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			if name != "abbrevs elsewhere" { // there the fault is in the table
				assert.Equal(t, c.section, fault.Part)
			}
			if c.offset >= 0 {
				assert.Equal(t, c.offset, fault.Offset)
			}
		})
	}
}

// Reading a damaged file does not allocate more memory than the limits in the package comment allow
// for its size.
func TestMemoryOfDamagedFiles(t *testing.T) {
	data := tiny(t, "tiny5.so")
	s := sectionAt(t, data, ".debug_abbrev")
	for i := range data[s.Offset : s.Offset+s.FileSize] {
		data[s.Offset+uint64(i)] |= 0x80
	}
	path := filepath.Join(t.TempDir(), "damaged")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readAll(path)
	runtime.ReadMemStats(&after)
	require.True(t, typed(err))
	require.Error(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// Code returns the same about a function, whichever other functions are requested with it, even if
// functions overlap in the debug info.
func TestOverlappingFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "overlapping")
	require.NoError(t, os.WriteFile(path, gen.OverlappingFunctions(12), 0o600))
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	var symbols []Symbol
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		symbols = append(symbols, s)
	}
	alone := make(map[string][]string)
	for _, s := range symbols {
		maps.Copy(alone, described(t, f, []Symbol{s}))
	}
	require.Len(t, alone, len(symbols))
	for i := range symbols {
		for k := range symbols[i:] {
			for name, said := range described(t, f, symbols[i:i+k+1]) {
				require.Equal(t, alone[name], said, "%s beside %d others", name, k)
			}
		}
	}
}

// described returns descriptions of the spans of functions, by the name of the function.
func described(t *testing.T, f *File, symbols []Symbol) map[string][]string {
	all := make(map[string][]string)
	for code, err := range f.Code(context.Background(), symbols) {
		require.NoError(t, err)
		name := code.Symbol.Names[0]
		for _, s := range code.Spans {
			chain := ""
			for _, i := range s.Instance.Chain() {
				chain += " " + i.Function.Linkage()
			}
			all[name] = append(all[name], fmt.Sprintf("%x-%x %v%s", s.Low, s.High, s.Line, chain))
		}
	}
	return all
}

// If a binary is modified while it is open, the methods of File return an error of class
// afdo.ErrChanged.
func TestChanged(t *testing.T) {
	for name, ask := range map[string]func(*File, []Symbol) error{
		"symbol": func(f *File, symbols []Symbol) error {
			_, _, err := f.Symbol(symbols[0].Low)
			return err
		},
		"symbols": func(f *File, _ []Symbol) (last error) {
			for _, err := range f.Symbols() {
				last = err
			}
			return last
		},
		"code": func(f *File, symbols []Symbol) (last error) {
			for _, err := range f.Code(context.Background(), symbols) {
				last = err
			}
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := tiny(t, "tiny5.so")
			path := filepath.Join(t.TempDir(), "changed")
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			f, err := Open(path, debugDirs())
			require.NoError(t, err)
			defer f.Close()
			s, ok, err := f.Symbol(f.symbols.rows[0].low)
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, ask(f, []Symbol{s}))
			for _, size := range []int{len(whole), len(whole) / 2, 100} {
				require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
				require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
				require.ErrorIs(t, ask(f, []Symbol{s}), afdo.ErrChanged)
			}
		})
	}
}

// If many entries refer to the same data, the data is decoded once, or Code returns afdo.ErrLimit
// before the memory exceeds the limit for the size of the file.
func TestShared(t *testing.T) {
	for name, c := range map[string]struct {
		data  func() []byte
		limit bool
	}{
		"abbreviations":       {func() []byte { return gen.SharedAbbrevs(3_000, testenv.Rounds(5_000, 20_000), false) }, false},
		"abbreviations apart": {func() []byte { return gen.SharedAbbrevs(3_000, 20_000, true) }, true},
		"line programs":       {func() []byte { return gen.SharedLines(2_000, 100_000) }, true},
		"files":               {func() []byte { return gen.SharedFiles(3_000, 20_000) }, false},
		"rows":                {func() []byte { return gen.ManyRows(500_000) }, true},
		"vague units":         {func() []byte { return gen.VagueUnits(3_000, 3_000) }, false},
		"ranges":              {func() []byte { return gen.SharedRanges(20_000, 10_000) }, true},
		"names":               {func() []byte { return gen.LongNames(5_000, 50_000, false) }, true},
		"symbols":             {func() []byte { return gen.LongNames(5_000, 50_000, true) }, true},
		"folders":             {func() []byte { return gen.LongFolder(5_000, 50_000) }, true},
		"aliases":             {func() []byte { return gen.Aliases(7_000) }, true},
		"deep inlining":       {func() []byte { return gen.DeepInlining(testenv.Rounds(2_000, 10_000)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "aliases" || name == "abbreviations apart" {
				testenv.NeedSweep(t) // their limits are far
			}
			path, data := filepath.Join(t.TempDir(), "shared"), c.data()
			require.NoError(t, os.WriteFile(path, data, 0o600))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(path)
			runtime.ReadMemStats(&after)
			if c.limit {
				require.ErrorIs(t, err, afdo.ErrLimit)
			} else {
				require.NoError(t, err)
			}
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20+50*len(data)))
		})
	}
}

// For a file that is not ELF, the error of Open names the kind of the file.
func TestOtherFiles(t *testing.T) {
	for _, other := range otherFiles {
		path := filepath.Join(t.TempDir(), "other")
		require.NoError(t, os.WriteFile(path, []byte(other.magic+" and so on"), 0o600))
		_, err := Open(path)
		require.ErrorIs(t, err, ErrELF)
		require.ErrorContains(t, err, other.what)
	}
	_, err := Open(os.DevNull)
	require.Error(t, err)
	swapped := filepath.Join(t.TempDir(), "callgrind.out")
	require.NoError(t, os.WriteFile(swapped, []byte("# callgrind format\nversion: 1\n"), 0o600))
	_, err = Open(swapped)
	require.ErrorContains(t, err, "it is a recording of callgrind: give the program that ran")
}
