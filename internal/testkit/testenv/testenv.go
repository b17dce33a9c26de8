// Package testenv describes the environment of tests: installed tools, the corpus, and how long
// tests may run.
package testenv

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sweepFlag is the environment variable that enables the long tests. .ci/run sets it to 1. The
// value "all" adds the cases and rounds for which CI has no time, see [Some] and [Rounds].
const sweepFlag = "AFDO_SWEEP"

// init makes the garbage collector run less often in short test runs, unless GOGC is set. Tests
// create much garbage but hold little memory, so a short run would spend up to a third of its time
// on garbage collection. init changes nothing in three cases: in long test runs, which have tests
// that hold gigabytes, in benchmarks, which should measure what users get, and in processes in
// which the test binary acts as the program under test, whose memory may be what is tested.
func init() {
	if isTestRun(os.Args) && os.Getenv("GOGC") == "" && !Sweep() {
		debug.SetGCPercent(400)
	}
}

// isTestRun reports whether the command line is that of a test binary started by go test for tests,
// without benchmarks.
func isTestRun(args []string) bool {
	benchmarks := func(arg string) bool { return strings.HasPrefix(arg, "-test.bench") }
	return len(args) > 1 && strings.HasPrefix(args[1], "-test.") && !slices.ContainsFunc(args, benchmarks)
}

// Sweep reports whether the long tests are enabled: tests with large inputs, tests with many random
// files, and tests that run compilers and browsers for more than a second.
func Sweep() bool { return os.Getenv(sweepFlag) != "" }

// NeedSweep skips a test unless long tests are enabled.
func NeedSweep(t testing.TB) {
	t.Helper()
	if !Sweep() {
		t.Skip("takes long; " + sweepFlag + "=1 runs it")
	}
}

// Rounds returns the number of repetitions of a test: few, or many if long tests are enabled, or
// all, if it is given, with AFDO_SWEEP=all.
func Rounds(few, many int, all ...int) int {
	switch {
	case !Sweep():
		return few
	case everything() && len(all) > 0:
		return all[0]
	}
	return many
}

// everything reports whether long tests run all of their cases and repetitions.
func everything() bool { return os.Getenv(sweepFlag) == "all" }

// Some returns n of the given cases of a long test, evenly spaced, or all cases with
// AFDO_SWEEP=all.
func Some[T any](cases []T, n int) []T {
	if everything() || len(cases) <= n {
		return cases
	}
	some := make([]T, n)
	for i := range some {
		some[i] = cases[i*len(cases)/n]
	}
	return some
}

// unavailableList is the environment variable with the programs, separated by blanks, that a CI run
// tried to install and could not. The run lists them at its end.
const unavailableList = "AFDO_UNAVAILABLE"

// Unavailable reports whether a CI run tried to install a program and could not.
func Unavailable(name string) bool {
	return slices.Contains(strings.Fields(os.Getenv(unavailableList)), name)
}

// Tool returns the path of the first of several programs that is installed. If none is, Tool skips
// the test. In CI, where all programs should be installed, it fails the test instead, unless the CI
// run could not install the program. A compiler counts as installed if it can link a program.
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	path, ok := Find(names...)
	switch {
	case ok:
	case slices.ContainsFunc(names, Unavailable):
		t.Skipf("%s could not be installed", names[0])
	default:
		Missing(t, "%s is not installed", names[0])
	}
	return path
}

// Optional returns the path of the first of several programs that is installed, and otherwise skips
// the test, also in CI. It is for programs that CI may lack, such as the newest compilers.
func Optional(t testing.TB, names ...string) string {
	t.Helper()
	path, ok := Find(names...)
	if !ok {
		t.Skipf("%s is not installed", names[0])
	}
	return path
}

// Find returns the path of the first of several programs that is installed. ok is false if none is.
// It is for tests that can run without the program.
func Find(names ...string) (path string, ok bool) {
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil && (!isCompiler.MatchString(filepath.Base(path)) || links(path)) {
			return path, true
		}
	}
	return "", false
}

var isCompiler = regexp.MustCompile(`^(cc|gcc|clang|c\+\+|g\+\+|clang\+\+)(-\d+)?(\.exe)?$`)

// linked records which compilers can link programs, by path.
var linked sync.Map

// links reports whether a compiler can link programs. It assumes so if a linker and a C library are
// in the usual places, because linking a program takes longer than most tests.
func links(compiler string) bool {
	if canLink() {
		return true
	}
	known, ok := linked.Load(compiler)
	if !ok {
		known, _ = linked.LoadOrStore(compiler, makesProgram(compiler))
	}
	return known.(bool)
}

func canLink() bool {
	if _, err := exec.LookPath("ld"); err != nil {
		return false
	}
	return slices.ContainsFunc([]string{"/usr/lib/crt1.o", "/usr/lib64/crt1.o", "/usr/lib/*-linux-gnu*/crt1.o"}, func(pattern string) bool {
		found, _ := filepath.Glob(pattern)
		return len(found) > 0
	})
}

func makesProgram(compiler string) bool {
	dir, err := os.MkdirTemp("", "afdo-probe")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o666); err != nil {
		return false
	}
	return exec.Command(compiler, source, "-o", filepath.Join(dir, "probe")).Run() == nil
}

// OnlyPrograms returns a folder of scripts that run the given programs, for a PATH without other
// programs.
func OnlyPrograms(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", Tool(t, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Missing is called if a test lacks something, such as a program. It skips the test. In CI, which
// should have everything, it fails the test.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Corpus returns the path of a file in the corpus of real profiles, which is not part of the
// repository. It skips the test if the file does not exist.
func Corpus(t testing.TB, name ...string) string {
	t.Helper()
	dir := os.Getenv("AFDO_CORPUS")
	if dir == "" {
		_, here, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(here), "..", "..", "..", "..", "shared", "corpus")
	}
	path := filepath.Join(append([]string{dir}, name...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus of real profiles, see AFDO_CORPUS: %v", err)
	}
	return path
}

// CorpusData returns the contents of a file in the corpus, decompressed if its name ends with .gz.
func CorpusData(t testing.TB, name ...string) []byte {
	t.Helper()
	path := Corpus(t, name...)
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		data, err = decompress(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decompress(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// mutantsFlag is the environment variable with the number of damaged files for tests of lookups.
const mutantsFlag = "AFDO_MUTANTS"

// Mutants returns how many damaged copies of a file a test should try that compares lookups in the
// file with reading all of it. It is the value of the environment variable AFDO_MUTANTS. If that is
// not set, it is 300, or 5,000 if long tests are enabled.
func Mutants() int {
	if n, err := strconv.Atoi(os.Getenv(mutantsFlag)); err == nil {
		return n
	}
	return Rounds(300, 5_000)
}
