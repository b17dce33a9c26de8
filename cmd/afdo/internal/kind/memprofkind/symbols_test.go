package memprofkind

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func run(t testing.TB, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %v: %s", name, args, stderr.String())
	return out
}

// trained builds a program, runs it and returns the folder of the binary "program" and the profile
// "raw".
func trained(t testing.TB, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../../../../../format/llvm/memprof/testdata/program.cc")
	require.NoError(t, err)
	if !testenv.Sweep() {
		flags = append(flags, "-DWITHOUT_LIBRARY") // of C++, whose headers take long to compile
	}
	run(t, dir, "clang++-22", append([]string{"-O2", "-gmlt", "-fdebug-info-for-profiling", "-fmemory-profile",
		"-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-Wl,--build-id", source, "-o", "program"}, flags...)...)
	run(t, dir, filepath.Join(dir, "program"))
	raws, err := filepath.Glob(filepath.Join(dir, "memprof.profraw.*"))
	require.NoError(t, err)
	require.Len(t, raws, 1)
	require.NoError(t, os.Rename(raws[0], filepath.Join(dir, "raw")))
	return dir
}

// spelled returns the YAML of a profile without its summary, as a sorted list of records.
func spelled(t testing.TB, src memprof.Source) []string {
	t.Helper()
	var sum memprof.Profile
	require.NoError(t, sum.Merge(src, 1))
	var b bytes.Buffer
	require.NoError(t, memprof.WriteYAML(&b, &sum))
	records := strings.Split(strings.TrimSuffix(b.String(), "...\n"), "  - GUID:")[1:]
	for i, record := range records {
		lines := strings.Split(record, "      - ")
		slices.Sort(lines[1:])
		records[i] = strings.Join(lines, "      - ")
	}
	slices.Sort(records)
	return records
}

// TestSymbols checks that a raw profile is symbolised as llvm-profdata does it.
func TestSymbols(t *testing.T) {
	testenv.NeedSweep(t)
	for name, flags := range map[string][]string{
		"DWARF 4, no PIE": {"-gdwarf-4", "-no-pie", "-Wl,-z,noseparate-code"},
		"DWARF 5":         {"-Wl,-z,noseparate-code"},
		"-g":              {"-g", "-Wl,-z,noseparate-code"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := trained(t, flags...)
			run(t, dir, "llvm-profdata-22", "merge", "--memprof-version=4", "--memprof-full-schema", "--profiled-binary=program", "raw", "-o", "out")
			text := run(t, dir, "llvm-profdata-22", "show", "--memory", "out")
			want, err := memprof.ParseYAML(bytes.NewReader(text))
			require.NoError(t, err)
			data, err := os.ReadFile(filepath.Join(dir, "raw"))
			require.NoError(t, err)
			raw, err := memprof.OpenRawBytes(data)
			require.NoError(t, err)
			s, err := openSymbols(filepath.Join(dir, "program"))
			require.NoError(t, err)
			defer s.Close()
			got, _, err := raw.Profile(s)
			require.NoError(t, err)
			require.Equal(t, spelled(t, want), spelled(t, got))
			require.Equal(t, "main", s.names[memprof.GUID("main")])
		})
	}
}
