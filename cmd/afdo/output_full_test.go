//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
)

// A disk that is full leaves the old file, and nothing beside it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small file system to fill up, which takes root: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	source := writeFile(t, "source", gen.Big(3_000, true))
	target := filepath.Join(dir, "out.afdo")
	require.NoError(t, os.WriteFile(target, []byte("before"), 0o666))
	r := afdoRun("convert", source, "--to", "v4", "-o", target)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "no space left on device")
	clitest.RequireFile(t, target, "before")
	assert.Equal(t, []string{"out.afdo"}, clitest.Files(t, dir))

	small := must(t, "convert", example(".txt"), "--to", "v4", "-o", target)
	assert.Empty(t, small)
	got, err := os.ReadFile(target)
	require.NoError(t, err)
	want, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// So does a limit on the size of a file.
func TestFileTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := writeFile(t, "source", gen.Big(500, true))
	target := filepath.Join(dir, "out.afdo")
	require.NoError(t, os.WriteFile(target, []byte("before"), 0o666))
	cmd := exec.Command("sh", "-c", `ulimit -f 100 && exec afdo convert "$0" --to v4 -o "$1"`, source, target)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	assert.Equal(t, cli.StatusFault, exit.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "file too large")
	clitest.RequireFile(t, target, "before")
	assert.Equal(t, []string{"out.afdo"}, clitest.Files(t, dir))
}
