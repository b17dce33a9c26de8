package instrprof_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

var update = flag.Bool("update", false, "make the files of testdata/zoo anew")

const zooDir = "testdata/zoo"

// A species is one way to instrument a program, and the program.
type species struct {
	name   string
	source string
	flags  string
}

// zoo lists all ways of clang 22 to instrument a program. Those whose name ends with "use" are
// compiled with the profile of "ir".
var zoo = []species{
	{"frontend", "branches.c", "-O1 -fprofile-instr-generate -fcoverage-mapping"},
	{"frontend-cpp", "virtual.cpp", "-O1 -fprofile-instr-generate"},
	{"frontend-atomic", "branches.c", "-O1 -fprofile-instr-generate -fprofile-update=atomic"},
	{"ir", "branches.c", "-O2 -fprofile-generate"},
	{"ir-cpp", "virtual.cpp", "-O2 -fprofile-generate"},
	{"context-sensitive", "branches.c", "-O2 -fprofile-use=ir.profdata -fcs-profile-generate"},
	{"mcdc", "branches.c", "-O1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc"},
	{"vtables", "virtual.cpp", "-O2 -fprofile-generate -mllvm -enable-vtable-value-profiling"},
	{"temporal", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-temporal-instrumentation"},
	{"entry-first", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-instrument-entry"},
	{"loop-entries", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-instrument-loop-entries"},
	{"entry-coverage", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-function-entry-coverage"},
	{"block-coverage", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-block-coverage"},
	{"temporal-block-coverage", "branches.c", "-O2 -fprofile-generate -mllvm -pgo-temporal-instrumentation -mllvm -pgo-block-coverage"},
	{"uncompressed", "branches.c", "-O2 -fprofile-generate -mllvm -enable-name-compression=false"},
	{"build-id", "branches.c", "-O2 -fprofile-generate -Wl,--build-id"},
	{"continuous", "branches.c", "-O1 -fprofile-instr-generate -fprofile-continuous"},
	{"m32", "branches.c", "-m32 -O2 -fprofile-generate"},
	{"m32-vtables", "virtual.cpp", "-m32 -O2 -fprofile-generate -mllvm -enable-vtable-value-profiling"},
	{"m32-mcdc", "branches.c", "-m32 -O1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc"},
}

// grow builds and runs the program of a species, which writes a raw file in a folder. It returns
// false if clang cannot build the program here.
func (s *species) grow(t testing.TB, dir string) bool {
	t.Helper()
	compiler := tool(t, "clang")
	if strings.HasSuffix(s.source, ".cpp") {
		compiler = tool(t, "clang++")
	}
	// Names of static functions begin with the path that the compiler is given.
	require.NoError(t, os.WriteFile(filepath.Join(dir, s.source), read(t, zooDir, s.source), 0o666))
	args := append(strings.Fields(s.flags), "-w", "-o", s.name, s.source)
	cmd := exec.Command(compiler, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		require.Contains(t, s.flags, "-m32", "%s", out)
		t.Logf("%s: no 32-bit programs here", s.name)
		return false
	}
	cmd = exec.Command(filepath.Join(dir, s.name), "5")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+s.name+".profraw")
	require.NoError(t, cmd.Run())
	return true
}

// growZoo writes the raw file, the indexed file and the text of several species to a folder. It
// returns the species that could be built.
func growZoo(t testing.TB, dir string, zoo []species) []species {
	t.Helper()
	var grown []species
	for _, s := range zoo {
		if !s.grow(t, dir) {
			continue
		}
		raw := s.name + ".profraw"
		run(t, dir, tool(t, "llvm-profdata"), "merge", raw, "-o", s.name+".profdata")
		run(t, dir, tool(t, "llvm-profdata"), "merge", "--text", raw, "-o", s.name+".proftext")
		grown = append(grown, s)
	}
	return grown
}

// TestZooOfClang builds instrumented programs with clang. Their profiles must be read and written
// as by LLVM.
func TestZooOfClang(t *testing.T) {
	dir := t.TempDir()
	for _, s := range growZoo(t, dir, zoo[:testenv.Rounds(1, 8, len(zoo))]) {
		compareSpecies(t, dir, s.name)
		for _, form := range []string{".profraw", ".profdata", ".proftext"} {
			if *update {
				require.NoError(t, os.WriteFile(filepath.Join(zooDir, s.name+form), read(t, dir, s.name+form), 0o666))
			}
		}
	}
}

// TestZoo does the same as TestZooOfClang with stored profiles, so that it needs no clang.
func TestZoo(t *testing.T) {
	for _, s := range zoo {
		compareSpecies(t, zooDir, s.name)
	}
}

// compareSpecies checks that the raw file, the indexed file and the text of a species have the same
// records.
func compareSpecies(t *testing.T, dir, name string) {
	t.Helper()
	text, indexed := read(t, dir, name+".proftext"), read(t, dir, name+".profdata")
	for _, form := range []string{".profraw", ".profdata", ".proftext"} {
		p, err := instrprof.Load(filepath.Join(dir, name+form))
		require.NoError(t, err, name+form)
		withVTables := p.VTableNames
		p.VTableNames = nil // which merge --text leaves out
		require.Equal(t, string(text), asText(t, p), name+form)
		p.VTableNames = withVTables
		if form != ".proftext" || !hasMoreThanText(t, indexed) {
			require.True(t, bytes.Equal(indexed, asIndexed(t, p)), name+form)
		}
	}
}

// hasMoreThanText reports whether an indexed file has data that a text cannot contain: binary IDs,
// virtual tables, the entry-only flag, or targets without a name.
func hasMoreThanText(t *testing.T, indexed []byte) bool {
	t.Helper()
	r, err := instrprof.OpenBytes(indexed)
	require.NoError(t, err)
	ids, err := r.BinaryIDs()
	require.NoError(t, err)
	vtables := 0
	for rec, err := range r.Records() {
		require.NoError(t, err)
		vtables += rec.Values().NumSites(instrprof.VTableTarget)
	}
	return len(ids) > 0 || vtables > 0 || r.Header().Flags&instrprof.FunctionEntryOnly != 0
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return data
}

func asText(t testing.TB, p *instrprof.Profile) string {
	t.Helper()
	var out bytes.Buffer
	_, err := p.WriteText(&out)
	require.NoError(t, err)
	return out.String()
}

func asIndexed(t testing.TB, p *instrprof.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteIndexed(&out, instrprof.IndexedOptions{}))
	return out.Bytes()
}
