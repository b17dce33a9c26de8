//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestFullDisk checks that a verb on a full disk leaves the old output, and no temporary file.
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

// fullDisk returns a folder on a disk that has no room for data.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("no small file system to fill up, which takes root: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), make([]byte, 4096), 0o600))
	return dir
}

// TestFullDiskRecord checks that the error names the recording, and not its temporary file.
func TestFullDiskRecord(t *testing.T) {
	needRecord(t)
	dir := fullDisk(t)
	out := filepath.Join(dir, "perf.data")
	r := afdoRun("record", "-o", out, "-e", "cpu-clock", "--", "sh", "-c", "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; echo done")
	assert.Equal(t, result{cli.StatusFault, "done\n", "afdo: write " + out + ": no space left on device\n"}, r)
	assert.Equal(t, []string{"mine"}, clitest.Files(t, dir))
}

// TestFullDiskExec checks that exec warns once if its cache is on a full disk, and that the compile
// gets its slice nevertheless.
func TestFullDiskExec(t *testing.T) {
	gcc := testenv.Tool(t, "gcc-12")
	dir := fullDisk(t)
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "cache"))
	work := t.TempDir()
	t.Chdir(work)
	require.NoError(t, os.WriteFile("a.c", []byte("int f0(int x) { return x; }\n"), 0o600))
	must(t, "convert", writeFile(t, "p", gen.Big(50, true)), "--to", "v4", "-o", "p.afdo")
	said := ""
	for range 2 {
		out, err := exec.Command("afdo", "exec", "--profile", "p.afdo", "--", gcc, "-O2", "-c", "a.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		said += string(out)
	}
	assert.Equal(t, 1, strings.Count(said, "each compile reads all of p.afdo, because the cache takes no copy with an index: "), said)
	assert.NotContains(t, said, "indexed a copy")
	assert.FileExists(t, "a.o.afdo")

	server := httptest.NewServer(http.FileServer(http.Dir(work)))
	defer server.Close()
	out, err := exec.Command("afdo", "exec", "--profile", server.URL+"/p.afdo", "--", gcc, "-O2", "-c", "a.c", "-o", "b.o").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "the cache takes no copy of it: ")
	assert.Equal(t, 1, strings.Count(string(out), "\n"), "%s", out)
	assert.FileExists(t, "b.o")
}

// TestFileTooLarge does the same as TestFullDisk with a limit on the size of files.
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
