package memprof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// The tools of the LLVM whose formats these are.
const (
	// The LLVM tools that the tests run.
	clangName    = "clang++-22"
	profdataName = "llvm-profdata-22"
)

func output(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %v: %s", name, args, stderr.String())
	return out
}

// built caches the programs that have been built and run, by their flags.
var built = struct {
	sync.Mutex
	dirs map[string]string
}{dirs: make(map[string]string)}

func TestMain(m *testing.M) {
	status := m.Run()
	for _, dir := range built.dirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

// trained builds a program, runs it, and returns the paths of the binary and of its raw profile.
func trained(t testing.TB, flags ...string) (binary, raw string) {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	key := strings.Join(flags, " ")
	dir, ok := built.dirs[key]
	binary = filepath.Join(dir, "program")
	if !ok {
		testenv.Tool(t, clangName)
		var err error
		dir, err = os.MkdirTemp("", "memprof")
		require.NoError(t, err)
		built.dirs[key] = dir
		binary = filepath.Join(dir, "program")
		if !testenv.Sweep() {
			flags = append(flags, "-DWITHOUT_LIBRARY")
		}
		output(t, clangName, append([]string{"-O2", "-gmlt", "-fdebug-info-for-profiling", "-fmemory-profile",
			"-Wl,-z,noseparate-code", "-Wl,--build-id", "testdata/program.cc", "-o", binary}, flags...)...)
		cmd := exec.Command(binary)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	raws, err := filepath.Glob(filepath.Join(dir, "memprof.profraw.*"))
	require.NoError(t, err)
	require.Len(t, raws, 1)
	return binary, raws[0]
}

// merged returns the indexed profile that llvm-profdata makes of raw profiles or YAML.
func merged(t testing.TB, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "merged.profdata")
	output(t, profdataName, append(append([]string{"merge"}, args...), "-o", path)...)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// shown returns the YAML that llvm-profdata prints for an indexed profile.
func shown(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.profdata")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return string(output(t, profdataName, "show", "--memory", path))
}

// yaml returns the output of WriteYAML for a source.
func yaml(t testing.TB, src memprof.Source) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, memprof.WriteYAML(&b, src))
	return b.String()
}

// kinds calls each for every combination of version and schema in which llvm-profdata writes the
// section.
func kinds(each func(name string, args ...string)) {
	for version := testenv.Rounds(4, 2); version <= 4; version++ {
		flag := "--memprof-version=" + strconv.Itoa(version)
		if testenv.Sweep() {
			each("version="+strconv.Itoa(version)+"/schema=default", flag)
		}
		each("version="+strconv.Itoa(version)+"/schema=full", flag, "--memprof-full-schema")
	}
}

// TestProgramAsLLVM reads sections that llvm-profdata made of a run of a program. WriteYAML must
// print the same as llvm-profdata. Sections written here must print the same in llvm-profdata.
func TestProgramAsLLVM(t *testing.T) {
	binary, raw := trained(t)
	kinds(func(name string, args ...string) {
		t.Run(name, func(t *testing.T) {
			data := merged(t, append(args, raw, "--profiled-binary="+binary)...)
			r := open(t, data)
			require.Equal(t, shown(t, data), yaml(t, r))
			if r.Version() == 4 {
				sameAsWritten(t, r)
			}
		})
	})
}

// sameAsWritten writes a section in each version, and checks that llvm-profdata and this package
// print the same for the result.
func sameAsWritten(t *testing.T, r *memprof.Reader) {
	t.Helper()
	var p memprof.Profile
	require.NoError(t, p.Merge(r, 1))
	for _, version := range []int{3, 2, 4}[:testenv.Rounds(1, 3)] {
		data := file(t, &p, version)
		again := open(t, data)
		text := yaml(t, again)
		require.Equal(t, shown(t, data), text)
		require.Equal(t, plain(t, &p), plain(t, again), "version %d", version)
	}
}
