package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A companion is a binary and another file with debug info of the binary: the common file of dwz, a
// .dwo file or a .dwp package. The files in testdata/companions were made from tiny.c and similar
// sources, with -g -shared -nostdlib -fPIC -O2:
//
//	gcc -gdwarf-4 ... -o shared.so; dwz -m common.dwz shared.so another.so
//	gcc -gdwarf-5 -gsplit-dwarf ... -o split.so
//	clang -gdwarf-5 -gsplit-dwarf ... -o pack.so; llvm-dwp -e pack.so -o pack.so.dwp
type companion struct {
	binary, beside string
}

var companions = []companion{{"shared.so", "common.dwz"}, {"split.so", "split.so-tiny.dwo"}, {"pack.so", "pack.so.dwp"}}

func (c companion) read(t testing.TB) (binary, beside []byte) {
	dir := filepath.Join("testdata", "companions")
	binary, err := os.ReadFile(filepath.Join(dir, c.binary))
	require.NoError(t, err)
	beside, err = os.ReadFile(filepath.Join(dir, c.beside))
	require.NoError(t, err)
	return binary, beside
}

// readAs writes the binary and its companion into a folder under the names that they must have, and
// reads the code of all functions of the binary. It returns the number of spans.
func (c companion) readAs(t testing.TB, dir string, binary, beside []byte) (spans int, err error) {
	require.NoError(t, os.WriteFile(filepath.Join(dir, c.binary), binary, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, c.beside), beside, 0o600))
	return readAll(filepath.Join(dir, c.binary))
}

// debugBytes returns the byte ranges of the sections with debug info in an ELF file.
func debugBytes(t testing.TB, data []byte) (ranges [][2]uint64) {
	f, err := elf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".gnu_debug") {
			ranges = append(ranges, [2]uint64{s.Offset, s.Offset + s.FileSize})
		}
	}
	require.NotEmpty(t, ranges)
	return ranges
}

// editDebugInfo returns a copy of a file with some bytes of its debug info changed. Each five bytes
// of edits describe one change: its place and the new value.
func editDebugInfo(data []byte, ranges [][2]uint64, edits []byte) []byte {
	data = bytes.Clone(data)
	for ; len(edits) >= 5; edits = edits[5:] {
		r := ranges[int(edits[0])%len(ranges)]
		part := data[r[0]:r[1]]
		if len(part) < 8 {
			continue
		}
		part = part[int(binary.LittleEndian.Uint16(edits[1:]))%(len(part)-7):]
		switch v := edits[4]; edits[3] % 4 {
		case 0:
			part[0] = v
		case 1:
			part[0] += v
		case 2:
			binary.LittleEndian.PutUint32(part, binary.LittleEndian.Uint32(part)+uint32(int8(v)))
		case 3:
			binary.LittleEndian.PutUint64(part, 1<<(v%64)-1)
		}
	}
	return data
}

// Code returns more about a binary if its companion exists than without the companion.
func TestCompanions(t *testing.T) {
	for _, c := range companions {
		binary, beside := c.read(t)
		spans, err := c.readAs(t, t.TempDir(), binary, beside)
		require.NoError(t, err, c.beside)
		require.GreaterOrEqual(t, spans, 5, c.beside)
		empty := bytes.Clone(beside)
		for _, r := range debugBytes(t, beside) {
			clear(empty[r[0]:r[1]])
		}
		_, err = c.readAs(t, t.TempDir(), binary, empty)
		require.Error(t, err, c.beside)
	}
}

// FuzzCompanion changes bytes in the debug info of a binary and of its companion. Code must then
// return all code, or an error that this package documents.
func FuzzCompanion(f *testing.F) {
	type file struct {
		data   []byte
		ranges [][2]uint64
	}
	var binaries, besides []file
	for i, c := range companions {
		binary, beside := c.read(f)
		binaries = append(binaries, file{binary, debugBytes(f, binary)})
		besides = append(besides, file{beside, debugBytes(f, beside)})
		f.Add(byte(i), []byte{}, []byte{})
		f.Add(byte(i), []byte{1, 20, 0, 1, 1}, []byte{0, 12, 0, 2, 1})
	}
	f.Add(byte('X'), []byte("1x\xfeV\x02"), []byte("1x\xfeV\x02\x8f01\x7f")) // the folder of a path is a file
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, which byte, inBinary, inBeside []byte) {
		i := int(which) % len(companions)
		binary := editDebugInfo(binaries[i].data, binaries[i].ranges, inBinary)
		beside := editDebugInfo(besides[i].data, besides[i].ranges, inBeside)
		if _, err := companions[i].readAs(t, dir, binary, beside); !typed(err) {
			t.Fatal(err)
		}
	})
}
