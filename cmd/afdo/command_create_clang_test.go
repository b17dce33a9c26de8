package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// llvmTool returns the path of a program of LLVM 22.
func llvmTool(t *testing.T, name string) string {
	t.Helper()
	return testenv.Tool(t, name+"-22", filepath.Join("/usr/lib/llvm-22/bin", name))
}

func toolOutput(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %q: %s", name, args, out)
	return string(out)
}

// TestCreateForClang makes a sample profile of a program of clang: llvm-profdata reads it, and
// clang makes other code with it.
func TestCreateForClang(t *testing.T) {
	t.Parallel()
	clang, profdata := llvmTool(t, "clang"), llvmTool(t, "llvm-profdata")
	dir := t.TempDir()
	program, made := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.extbinary")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(createdProgram), 0o600))
	toolOutput(t, dir, clang, "-O2", "-g", "-fdebug-info-for-profiling", "prog.c", "-o", "prog")

	r := afdoRun("create", "--binary", program, "--profile", sampled(t, program, "loop", 5_000, 70), "--to", "extbinary", "-o", made)
	require.Zero(t, r.status, r.err)
	assert.Contains(t, r.err, "extbinary does not store everything: 1 source path")

	shown := toolOutput(t, dir, profdata, "show", "--sample", "--function=loop", made)
	assert.Contains(t, shown, "Function: loop:")
	assert.Contains(t, shown, "inlined callee: half:")
	assert.Equal(t, toolOutput(t, dir, profdata, "merge", "--sample", "--text", made, "-o", "-"), must(t, "convert", made, "--to", "sampletext"))

	toolOutput(t, dir, clang, "-O2", "-c", "prog.c", "-o", "without.o")
	toolOutput(t, dir, clang, "-O2", "-c", "prog.c", "-fprofile-sample-use="+made, "-o", "with.o")
	without, err := os.ReadFile(filepath.Join(dir, "without.o"))
	require.NoError(t, err)
	with, err := os.ReadFile(filepath.Join(dir, "with.o"))
	require.NoError(t, err)
	assert.NotEqual(t, without, with)

	// The format cannot store the paths of files. The debug info has them.
	r = afdoRun("convert", made, "--to", "text", "-o", "-", "--binary", program)
	require.Zero(t, r.status, r.err)
	assert.Contains(t, r.out, `filenames = {
  "`+filepath.Join(dir, "prog.c")+`"
}`)
	assert.Contains(t, r.out, `"loop":0(`)
	assert.Regexp(t, `(?m)^ +\d+ +\d+ +[\d,]+  `+regexp.QuoteMeta(filepath.Join(dir, "prog.c"))+`$`, must(t, "units", made, "--binary", program))
	r = afdoRun("units", made)
	assert.Equal(t, 2, r.status)
	assert.Contains(t, r.err, "name the program with --binary")
	r = afdoRun("convert", made, "--to", "text", "-o", "-")
	require.Zero(t, r.status, r.err)
	assert.Contains(t, r.out, `"loop":-1(`)
}

// TestCreateFlowSensitive makes a profile with flow-sensitive discriminators, which have more than
// 16 bits. A flag of its section records that.
func TestCreateFlowSensitive(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	clang, profdata := llvmTool(t, "clang"), llvmTool(t, "llvm-profdata")
	dir := t.TempDir()
	program, made := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.extbinary")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(createdProgram), 0o600))
	toolOutput(t, dir, clang, "-O2", "-g", "-fdebug-info-for-profiling", "-mllvm", "-enable-fs-discriminator=true", "prog.c", "-o", "prog")
	in := sampled(t, program, "loop", 5_000, 70)
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "extbinary", "-o", made)
	require.Zero(t, r.status, r.err)
	assert.Contains(t, toolOutput(t, dir, profdata, "show", "--sample", "--show-sec-info-only", made), "fs-discriminator")
	text := mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "sampletext")
	wide := 0
	for _, m := range regexp.MustCompile(`(?m)^ +\d+\.(\d+): `).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseUint(m[1], 10, 32); err == nil && n > math.MaxUint16 {
			wide++
		}
	}
	assert.Positive(t, wide, text)
}

// TestCreateWithoutDeclarations creates a profile of a program built with clang -g1. Its debug info
// does not contain the lines of declarations, from which a profile counts lines.
func TestCreateWithoutDeclarations(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	clang := llvmTool(t, "clang")
	dir := t.TempDir()
	program := filepath.Join(dir, "prog")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(createdProgram), 0o600))
	toolOutput(t, dir, clang, "-O2", "-g1", "prog.c", "-o", "prog")
	in := sampled(t, program, "loop", 5_000, 70)
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "text")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "no lines of declarations; with clang, compile with -g, or add -fdebug-info-for-profiling")

	toolOutput(t, dir, clang, "-O2", "-g1", "-fdebug-info-for-profiling", "prog.c", "-o", "prog")
	assert.Contains(t, mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "text"), "loop")
}

// TestCreateOfProbes makes profiles of a program with pseudo probes: in LLVM's formats they are by
// probes, in other formats by lines.
func TestCreateOfProbes(t *testing.T) {
	t.Parallel()
	clang, profdata := llvmTool(t, "clang"), llvmTool(t, "llvm-profdata")
	dir := t.TempDir()
	program, made := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.extbinary")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(createdProgram), 0o600))
	toolOutput(t, dir, clang, "-O2", "-g", "-fdebug-info-for-profiling", "-fpseudo-probe-for-profiling", "-fno-unique-internal-linkage-names", "prog.c", "-o", "prog")
	in := sampled(t, program, "loop", 5_000, 70)
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "extbinary", "-o", made)
	require.Zero(t, r.status, r.err)
	assert.Contains(t, toolOutput(t, dir, profdata, "show", "--sample", "--show-sec-info-only", made), "probe")
	assert.Equal(t, toolOutput(t, dir, profdata, "merge", "--sample", "--text", made, "-o", "-"), must(t, "convert", made, "--to", "sampletext"))

	text := mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "sampletext")
	assert.Contains(t, text, "!CFGChecksum: ")
	assert.Contains(t, text, "loop:")
	lines := mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "sampletext", "--no-probes")
	assert.NotContains(t, lines, "!CFGChecksum: ")
	assert.Contains(t, mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "text"), `"loop"`)
}

// TestCreateTellsMissingDiscriminators checks the warning that clang's code has no discriminators
// without -fdebug-info-for-profiling.
func TestCreateTellsMissingDiscriminators(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	clang := llvmTool(t, "clang")
	s := newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS("../../docs/guide/autofdo")))
	for _, flags := range [][]string{{"-g"}, {"-g", "-fdebug-info-for-profiling"}} {
		s.run(append([]string{clang, "-O2", "-o", "words", "words.c", "table.c"}, flags...)...)
		said := afdoRun("create", "--binary", s.path("words"), "--profile", everyCode(t, s.path("words")), "-o", s.path("words.afdo")).err
		assert.Equal(t, len(flags) == 1, strings.Contains(said, "words has no discriminators, so "), said)
	}
}
