package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
)

// TestMain runs the command afdo-beam in place of the tests if the environment asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("AFDO_BEAM_TEST") == "command" {
		main()
	}
	os.Exit(m.Run())
}

// An outcome is the exit status and the output of the command.
type outcome struct {
	status      int
	out, stderr string
}

// afdoBeam runs the command afdo-beam in a process of its own.
func afdoBeam(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "AFDO_BEAM_TEST=command"), env...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// last returns the last line of standard error. The lines before it are the log of the runner.
func (o outcome) last() string {
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	return lines[len(lines)-1]
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// inputs writes profiles into a folder. It returns the version 4 file of their sum.
func inputs(t *testing.T, dir string) (sum []byte) {
	t.Helper()
	all := profile.New()
	for i := range 6 {
		p := synth.New(synth.Options{Seed: uint64(i % 3), Units: 8, Functions: 40})
		var file bytes.Buffer
		if err := builder.Write(&file, p, builder.Options{Compact: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("host%d.afdo", i)), file.Bytes())
		all.Merge(p)
	}
	var file bytes.Buffer
	all.Summarize()
	if err := builder.Write(&file, all, builder.Options{}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func requireFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func requireBytes(t *testing.T, want []byte, path string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s: %v; %d bytes, want %d", path, err, len(got), len(want))
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"frobnicate", 2, "afdo-beam: unknown command"},
		{"merge", 2, "afdo-beam: want --output, and --input or --input-list"},
		{"merge --input x", 2, "afdo-beam: want --output, and --input or --input-list"},
		{"merge --output x", 2, "afdo-beam: want --output, and --input or --input-list"},
		{"merge --input x --output y z", 2, `afdo-beam: unknown command "z"`},
		{"merge --no-such-flag", 2, "afdo-beam: unknown flag: --no-such-flag"},
		{"merge --input x --output y --keep 200%", 2, `afdo-beam: invalid argument "200%" for "--keep" flag`},
		{"merge --input x --output y --half-life soon", 2, `afdo-beam: invalid argument "soon" for "--half-life" flag`},
		{"merge --input-list nothing --output y", 1, "afdo-beam: open nothing: no such file or directory"},
		{"merge --input nowhere://x --output y", 1, `afdo-beam: file system scheme "nowhere" not registered`},
	} {
		o := afdoBeam(t, nil, strings.Fields(c.args)...)
		if o.status != c.status || !strings.HasPrefix(o.last(), c.says) || o.out != "" {
			t.Errorf("%s: status %d, %q, %q", c.args, o.status, o.last(), o.out)
		}
	}
	o := afdoBeam(t, nil, "merge", "--help")
	for _, want := range []string{"Usage:\n  afdo-beam merge --input GLOB --output OUT", "--runner", "--half-life", "--dead-letters", "--keep"} {
		if o.status != 0 || !strings.Contains(o.out, want) {
			t.Errorf("the help does not have %q: %d %s", want, o.status, o.stderr)
		}
	}
}

func TestMerge(t *testing.T) {
	dir, outputs := t.TempDir(), t.TempDir()
	want := inputs(t, dir)
	glob := filepath.Join(dir, "*.afdo")
	for i, args := range [][]string{
		{"--input", glob},
		{"--input", "file://" + glob},
		{"--input", filepath.Join(dir, "host[0-2].afdo"), "--input", filepath.Join(dir, "host[3-5].afdo"), "--shard-bytes", "3000"},
	} {
		out := filepath.Join(outputs, fmt.Sprint(i))
		o := afdoBeam(t, nil, append([]string{"merge", "--output", out}, args...)...)
		if o.status != 0 {
			t.Fatalf("%q: %s", args, o.stderr)
		}
		requireBytes(t, want, out)
	}
	requireFiles(t, outputs, "0", "1", "2")
}

// TestDeadLetters merges inputs of which some are not GCOV profiles. The command lists these in the
// file of dead letters and merges the others.
func TestDeadLetters(t *testing.T) {
	dir, outputs := t.TempDir(), t.TempDir()
	want := inputs(t, dir)
	write(t, filepath.Join(dir, "empty.afdo"), nil)
	write(t, filepath.Join(dir, "llvm.afdo"), []byte("main:100:3\n 1: 10\n 2: 20 f:15\n"))
	list := filepath.Join(t.TempDir(), "list")
	write(t, list, []byte("file://"+filepath.Join(dir, "missing.afdo")+"\thost=a\n"))
	out, letters := "file://"+filepath.Join(outputs, "out"), filepath.Join(outputs, "letters")
	o := afdoBeam(t, nil, "merge", "--input", filepath.Join(dir, "*"), "--input-list", list, "--output", out, "--dead-letters", letters)
	if o.status != 3 || o.last() != "afdo-beam: inputs were skipped: see "+letters {
		t.Fatalf("%d: %s", o.status, o.stderr)
	}
	requireBytes(t, want, filepath.Join(outputs, "out"))
	text, err := os.ReadFile(letters)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, want := range []string{"empty.afdo: ", "llvm.afdo: ", "missing.afdo: "} {
		if !strings.HasPrefix(lines[i], filepath.Join(dir, want)) {
			t.Errorf("%q is not about %s", lines[i], want)
		}
	}
	if !strings.HasSuffix(lines[1], "not a GCOV profile but of format sampletext") {
		t.Errorf("%q does not say what it is", lines[1])
	}
	requireFiles(t, outputs, "letters", "out")
}

// TestNoOutput checks that a merge that fails does not change an existing output file.
func TestNoOutput(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	write(t, out, []byte("yesterday's"))
	write(t, filepath.Join(dir, "bad"), []byte("no profile"))
	for input, says := range map[string]string{"bad": "nothing to write: no input could be read", "missing*": "no such file"} {
		o := afdoBeam(t, nil, "merge", "--input", filepath.Join(dir, input), "--output", out, "--dead-letters", filepath.Join(t.TempDir(), "letters"))
		if o.status != 1 || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: %d %s", input, o.status, o.stderr)
		}
	}
	requireBytes(t, []byte("yesterday's"), out)
	requireFiles(t, dir, "bad", "out")
}

// TestS3 merges inputs in a bucket of a local S3 server, and writes the output there.
func TestS3(t *testing.T) {
	gateway, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("versitygw is not here")
	}
	root := t.TempDir()
	bucket := filepath.Join(root, "fleet")
	if err := os.Mkdir(bucket, 0o777); err != nil {
		t.Fatal(err)
	}
	want := inputs(t, bucket)
	write(t, filepath.Join(bucket, "bad.afdo"), []byte("no profile"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server := exec.Command(gateway, "--access", "key", "--secret", "secret", "--port", address, "posix", root)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for range 300 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	env := []string{"AWS_ENDPOINT_URL=http://" + address, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret"}
	o := afdoBeam(t, env, "merge", "--input", "s3://fleet/*.afdo", "--output", "s3://fleet/all/today", "--shard-bytes", "3000")
	if o.status != 3 {
		t.Fatalf("%d: %s", o.status, o.stderr)
	}
	requireBytes(t, want, filepath.Join(bucket, "all", "today"))
	requireFiles(t, filepath.Join(bucket, "all"), "today", "today.skipped")
}

// TestForgottenSources merges inputs that contain fingerprints of their source lines. The result
// does not contain them, and the command says so.
func TestForgottenSources(t *testing.T) {
	const says = "what the inputs remember of their sources"
	for _, remembers := range []bool{false, true} {
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "sum")
		p := synth.New(synth.Options{Seed: 1, Units: 8, Functions: 40})
		if remembers {
			p.SetMarks(0, profile.Marks{1, 5, 0, 7})
		}
		var file bytes.Buffer
		if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "host.afdo"), file.Bytes())
		o := afdoBeam(t, nil, "merge", "--input", filepath.Join(dir, "*.afdo"), "--output", out)
		if o.status != 0 || strings.Contains(o.stderr, says) != remembers {
			t.Errorf("remembers %t: status %d, %s", remembers, o.status, o.stderr)
		}
	}
}
