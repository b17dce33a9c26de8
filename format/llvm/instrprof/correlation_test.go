package instrprof_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// correlated are the ways to build a program whose raw files do not describe its functions.
var correlated = []species{
	{"binary", "branches.c", "-O2 -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=binary"},
	{"debug", "branches.c", "-O2 -g -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=debug-info"},
	{"debug-frontend", "branches.c", "-O1 -g -fprofile-instr-generate -mllvm -profile-correlate=debug-info"},
	{"binary-entries", "virtual.cpp", "-O1 -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=binary -mllvm -pgo-function-entry-coverage"},
	{"debug-entries", "virtual.cpp", "-O1 -g -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=debug-info -mllvm -pgo-function-entry-coverage"},
	{"debug-dwarf4", "virtual.cpp", "-O1 -gdwarf-4 -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=debug-info"},
	{"debug-temporal", "branches.c", "-O2 -g -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=debug-info -mllvm -pgo-temporal-instrumentation"},
	{"binary-m32", "branches.c", "-m32 -O2 -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=binary"},
	{"debug-m32", "branches.c", "-m32 -O2 -g -fprofile-generate -mllvm -disable-vp -mllvm -profile-correlate=debug-info"},
}

// TestCorrelatedWithProgram reads raw files whose functions are described in the program. The
// merged text must equal the one of llvm-profdata.
func TestCorrelatedWithProgram(t *testing.T) {
	dir := t.TempDir()
	for _, s := range correlated[:testenv.Rounds(2, len(correlated))] {
		if !s.grow(t, dir) {
			continue
		}
		raw, program := filepath.Join(dir, s.name+".profraw"), filepath.Join(dir, s.name)
		option := "--debug-info="
		if strings.HasPrefix(s.name, "binary") {
			option = "--binary-file="
		}
		out, err := exec.Command(tool(t, "llvm-profdata"), "merge", "--text", option+program, raw, "-o", program+".text").CombinedOutput()
		require.NoError(t, err, "%s: %s", s.name, out)
		c, err := instrprof.OpenCorrelation(program)
		require.NoError(t, err, s.name)
		p, _, err := instrprof.MergeFiles([]instrprof.Input{{Path: raw, Weight: 1}}, instrprof.MergeOptions{Correlation: c})
		require.NoError(t, err, s.name)
		assert.Positive(t, p.NumRecords(), s.name)
		assert.Equal(t, string(read(t, dir, s.name+".text")), asText(t, p), s.name)
	}
	// Another program, or one that was built without, describes nothing.
	other, err := instrprof.OpenCorrelation(filepath.Join(dir, "debug"))
	require.NoError(t, err)
	_, _, err = instrprof.MergeFiles([]instrprof.Input{{Path: filepath.Join(dir, "binary.profraw"), Weight: 1}}, instrprof.MergeOptions{Correlation: other})
	require.ErrorIs(t, err, instrprof.ErrNoCorrelation)
	for _, path := range []string{tool(t, "clang"), filepath.Join(dir, "branches.c")} {
		_, err = instrprof.OpenCorrelation(path)
		require.ErrorIs(t, err, instrprof.ErrNoCorrelation, path)
	}
	damagePrograms(t, dir)
}

// damagePrograms reads a raw file with programs in which some bytes are damaged. Errors are
// allowed, panics are not.
func damagePrograms(t *testing.T, dir string) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"binary", "debug"} {
		program := read(t, dir, name)
		file, err := elf.NewFile(bytes.NewReader(program))
		require.NoError(t, err)
		var interesting [][2]uint64 // what is read of it
		for _, s := range file.Sections {
			if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, "__llvm_cov") {
				interesting = append(interesting, [2]uint64{s.Offset, s.FileSize})
			}
		}
		path := filepath.Join(dir, name+"-damaged")
		for i := range testenv.Rounds(10, 3_000) {
			data := bytes.Clone(program)
			part := interesting[rng.IntN(len(interesting))]
			for range 1 + rng.IntN(3) {
				data[part[0]+rng.Uint64N(part[1])] ^= 1 << rng.IntN(8)
			}
			require.NoError(t, errors.Join(os.RemoveAll(path), os.WriteFile(path, data, 0o600))) // as a write over it may wait for the disk
			c, err := instrprof.OpenCorrelation(path)
			if err != nil {
				continue
			}
			in := []instrprof.Input{{Path: filepath.Join(dir, name+".profraw"), Weight: 1}}
			p, _, err := instrprof.MergeFiles(in, instrprof.MergeOptions{Correlation: c})
			if err == nil {
				asText(t, p)
			} else {
				assert.NotEmpty(t, fmt.Sprint(err), i)
			}
		}
	}
}
