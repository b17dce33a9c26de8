//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// TestCorrelatedVerbs reads a raw file whose functions the program describes.
func TestCorrelatedVerbs(t *testing.T) {
	t.Parallel()
	clang, profdata := llvmTool(t, "clang"), llvmTool(t, "llvm-profdata")
	dir := t.TempDir()
	program, raw := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.profraw")
	require.NoError(t, os.WriteFile(program+".c", []byte(clangSource), 0o600))
	toolOutput(t, dir, clang, "-O1", "-fprofile-instr-generate", "-mllvm", "-profile-correlate=binary", "prog.c", "-o", "prog")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+raw)
	_ = cmd.Run() // its status is a sum
	want := toolOutput(t, dir, profdata, "merge", "--text", "--binary-file=prog", raw, "-o", "-")
	assert.Equal(t, want, must(t, "convert", raw, "--to", "proftext", "--binary", program))
	assert.Equal(t, want, must(t, "merge", raw, "--to", "proftext", "--binary", program))
	assert.Contains(t, must(t, "top", raw, "--binary", program), "main")
	assert.Contains(t, must(t, "show", raw, "--binary", program), "Records (functions with a hash)")
	assert.Contains(t, must(t, "lookup", raw, "--symbol", "main", "--binary", program), "# Counter Values:\n1\n")

	r := afdoRun("convert", raw, "--to", "proftext")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "give the program that wrote it with --binary")
	r = afdoRun("check", raw)
	assert.Contains(t, r.out, "remark: a correlated raw profile")
}

// TestBaseDiscriminators cuts flow-sensitive discriminators in LLVM's own formats as LLVM does.
func TestBaseDiscriminators(t *testing.T) {
	t.Parallel()
	profdata := llvmTool(t, "llvm-profdata")
	const sample = "main:33:2\n 4: 5\n 4.2: 6\n 4.738209026: 7\n 5.738209025: 3 f:2\n 6.1: g:12\n  1.1: 8\n  1.257: 4\n"
	path := writeFile(t, "fs.sampletext", []byte(sample))
	want := toolOutput(t, t.TempDir(), profdata, "merge", "--sample", path, "-profile-isfs", "-fs-discriminator-pass=Base", "--text", "-o", "-")
	assert.Contains(t, want, " 4.2: 13\n")
	for _, verb := range []string{"convert", "merge"} {
		r := afdoRun(verb, path, "--to", "sampletext", "--base-discriminators")
		assert.Zero(t, r.status, r.err)
		assert.Equal(t, want, r.out, verb)
		assert.NotContains(t, r.err, "cannot hold", verb)
	}
	assert.Equal(t, sample, must(t, "convert", path, "--to", "sampletext"))
}
