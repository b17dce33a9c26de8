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
