package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestStandardOutputFails(t *testing.T) {
	for _, args := range [][]string{
		{"show", example(".afdo")},
		{"show", example(".afdo"), "--json"},
		{"units", example(".afdo")},
		{"lookup", example(".afdo"), "--unit", "cart.cc"},
		{"lookup", example(".afdo"), "--unit", "cart.cc", "--json"},
		{"lookup", example(".afdo"), "--symbol", "main"},
		{"convert", example(".afdo"), "--to", "text"},
		{"convert", example(".afdo"), "--to", "v2"},
		{"--version"},
		{"help"},
		{"help", "show"},
		{"show", "--help"},
		{"completion", "bash"},
	} {
		var stderr bytes.Buffer
		e := newEnv(cli.Env{Out: clitest.FailingWriter{Err: errors.New("disk full")}, Err: &stderr})
		assert.Equal(t, cli.StatusFault, run(e, args), "afdo %q", args)
		assert.Equal(t, 1, strings.Count(stderr.String(), "disk full"), "afdo %q: %s", args, &stderr)
	}
}

// writeUntilKilled writes an output that never ends, in a process of its own.
func writeUntilKilled() {
	_ = output.Write(os.Stdout, os.Args[1], func(w io.Writer) error {
		if err := clitest.Say(strings.Repeat("half", 1<<20))(w); err != nil {
			return err
		}
		os.Stdout.WriteString("writing\n")
		select {}
	})
}

func TestSignalLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no way to interrupt another process")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o666))
	cmd := exec.Command("write-until-kill", path)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "writing\n", line)
	require.Len(t, clitest.Files(t, dir), 2, "the temporary file")

	ending := cli.EndingSignals()[0] // a shell's background ignores an interrupt
	require.NoError(t, cmd.Process.Signal(ending))
	assert.EqualError(t, cmd.Wait(), "signal: "+ending.String())
	clitest.RequireFile(t, path, "before")
	assert.Equal(t, []string{"out"}, clitest.Files(t, dir))
}

func TestBinaryIsNotForTerminals(t *testing.T) {
	var stderr bytes.Buffer
	e := newEnv(cli.Env{Out: clitest.Terminal(t), Err: &stderr})
	for _, f := range []string{"v4", "v4c", "v3", "v2"} {
		stderr.Reset()
		assert.Equal(t, cli.StatusUsage, run(e, []string{"convert", example(".txt"), "--to", f}))
		assert.Equal(t, "afdo: "+f+" is not for a terminal: use -o FILE\nTry 'afdo convert --help'.\n", stderr.String())
		stderr.Reset()
		out := filepath.Join(t.TempDir(), "out")
		assert.Equal(t, cli.StatusDone, run(e, []string{"convert", example(".txt"), "--to", f, "-o", out}))
		assert.FileExists(t, out)
	}
}

// TestDeviceFull checks that an error of writing is reported once.
func TestDeviceFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	r := afdoRun("convert", example(".txt"), "--to", "v4", "-o", "/dev/full")
	assert.Equal(t, result{cli.StatusFault, "", "afdo: write /dev/full: no space left on device\n"}, r)
}

// TestStandardOutputByName writes to standard output by a path such as /dev/stdout, whatever file
// it is. The file keeps what was written before.
func TestStandardOutputByName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	want := must(t, "convert", example(".afdo"), "--to", "text")
	out := filepath.Join(t.TempDir(), "out")
	for _, script := range []string{
		`echo first >"$1"; afdo convert "$0" --to text -o /dev/stdout >>"$1"`,
		`{ echo first; afdo convert "$0" --to text -o /dev/stdout; } >"$1"`,
		`{ echo first; afdo convert "$0" --to text -o /dev/stdout; } | cat >"$1"`,
		`{ echo first; afdo convert "$0" --to text -o /dev/fd/3 3>&1; } | cat >"$1"`,
	} {
		said, err := exec.Command("sh", "-c", script, example(".afdo"), out).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, said)
		clitest.RequireFile(t, out, "first\n"+want)
	}
}

// TestOutputToPipes writes to pipes, a shell's and a named one. They are not replaced by files.
func TestOutputToPipes(t *testing.T) {
	bash := testenv.Tool(t, "bash")
	testenv.Tool(t, "mkfifo")
	want := must(t, "convert", example(".afdo"), "--to", "text")
	for _, script := range []string{
		`afdo convert "$0" --to text -o >(cat >"$1"); wait $!`,
		`mkfifo "$1.pipe"; cat "$1.pipe" >"$1" & afdo convert "$0" --to text -o "$1.pipe"; wait; test -p "$1.pipe"`,
		`mkfifo "$1.pipe"; ln -s "$1.pipe" "$1.link"; cat "$1.pipe" >"$1" & afdo convert "$0" --to text -o "$1.link"; wait; test -p "$1.link"`,
	} {
		out := filepath.Join(t.TempDir(), "out")
		said, err := exec.Command(bash, "-c", script, example(".afdo"), out).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, said)
		clitest.RequireFile(t, out, want)
	}
}

// TestMergeOfPipes merges instrumentation profiles from pipes. The merge reads each input several
// times, and a pipe can be read only once.
func TestMergeOfPipes(t *testing.T) {
	bash := testenv.Tool(t, "bash")
	in, out := writeFile(t, "in", []byte(":ir\nmain\n1\n1\n5\n")), filepath.Join(t.TempDir(), "out")
	want := must(t, "merge", "--to", "proftext", in, in)
	for _, script := range []string{
		`afdo merge --to proftext -o "$1" <(cat "$0") "$0"`,
		`cat "$0" | afdo merge --to proftext -o "$1" - <(cat "$0")`,
	} {
		said, err := exec.Command(bash, "-c", script, in, out).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, said)
		clitest.RequireFile(t, out, want)
	}
}

// TestOutputOfLinkedFile checks that a replaced file keeps its mode, and that other hard links keep
// the old contents.
func TestOutputOfLinkedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := t.TempDir()
	out, other := filepath.Join(dir, "out"), filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(out, []byte("before"), 0o640))
	if err := os.Link(out, other); err != nil {
		t.Skipf("no hard links: %v", err)
	}
	must(t, "convert", example(".afdo"), "--to", "text", "-o", out)
	clitest.RequireFile(t, other, "before")
	info, err := os.Stat(out)
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, info.Mode().Perm())
}
