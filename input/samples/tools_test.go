package samples_test

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
)

// recorded returns what perf 6.1 and valgrind 3.19 wrote of testdata/ours.c, by file.
// The program was made and recorded with
//
//	gcc -O1 -fno-omit-frame-pointer -g -nostdlib -static -Wl,--build-id -o ours ours.c
//	perf record -F 1500 -e cpu-clock -o plain.data ./ours; perf script --show-mmap-events ...
//	perf record -F 1500 -g ... -o chains.data; with -z, zstd.data; with -o -, pipe.data
//	valgrind --tool=callgrind --dump-instr=yes ./ours, with and without compressed names
func recorded(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "tools", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := make(map[string][]byte)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.Base(path)] = data
	}
	return files
}

// Nearly all samples of each recorded file are in the program, because nothing else ran.
func TestRecorded(t *testing.T) {
	for name, data := range recorded(t, "*") {
		_, r, err := samples.Read(bytes.NewReader(data), plain(t, "ours", elf.ET_DYN), samples.Options{})
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, r.Samples, uint64(50), name)
		require.GreaterOrEqual(t, 10*r.InBinary, 8*r.Samples, name)
	}
}

// addRecorded adds the recorded files to the seeds of a fuzz target.
func addRecorded(f *testing.F, pattern string) {
	for _, data := range recorded(f, pattern) {
		f.Add(data)
	}
}
