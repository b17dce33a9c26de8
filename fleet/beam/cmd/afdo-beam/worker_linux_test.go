package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// manyInputs writes a profile for each of several hosts, and returns the version 4 file of their
// sum. Each profile has 40 units. The next host has 20 of them, too.
func manyInputs(t *testing.T, dir string, hosts int) (sum []byte) {
	t.Helper()
	parts := make([]*profile.Profile, hosts)
	for i := range parts {
		parts[i] = synth.New(synth.Options{Seed: uint64(i + 1), Units: 20, Functions: 200})
	}
	all := profile.New()
	for i, part := range parts {
		p := profile.New()
		p.Merge(part)
		p.Merge(parts[(i+1)%hosts])
		var file bytes.Buffer
		if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("host%d.afdo", i)), file.Bytes())
		all.Merge(p)
	}
	all.Summarize()
	var file bytes.Buffer
	if err := builder.Write(&file, all, builder.Options{}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// startPrism starts the runner Prism as a process. It returns the flags with which the command uses
// this runner, and a function that ends the runner.
func startPrism(t *testing.T) (flags []string, stop func() *exec.Cmd) {
	t.Helper()
	prism := filepath.Join(t.TempDir(), "prism")
	if out, err := exec.Command("go", "build", "-o", prism, "github.com/apache/beam/sdks/v2/go/cmd/prism").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	listener.Close()
	runner := exec.Command(prism, fmt.Sprint("--job_port=", address.Port), "--serve_http=false", "--log_level=error")
	runner.Env = append(os.Environ(), "AFDO_BEAM_TEST=command") // of workers
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100 { // Beam's client waits longer if it has to ask again
		if c, err := net.Dial("tcp", address.String()); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop = sync.OnceValue(func() *exec.Cmd {
		_ = runner.Process.Kill()
		_ = runner.Wait()
		return runner
	})
	t.Cleanup(func() { stop() })
	return []string{"--runner=prism", fmt.Sprint("--endpoint=localhost:", address.Port)}, stop
}

// TestWorkerMemoryOfProcess runs a worker as a process of its own, and reports the memory that the
// worker and the runner Prism use.
func TestWorkerMemoryOfProcess(t *testing.T) {
	testenv.NeedSweep(t)
	for _, hosts := range []int{20, 100, 1000} {
		dir := t.TempDir()
		want := manyInputs(t, dir, hosts)
		flags, stop := startPrism(t)
		out := filepath.Join(t.TempDir(), "out")
		worker := exec.Command(os.Args[0], append([]string{"merge", "--input", filepath.Join(dir, "*"), "--output", out, "--environment_type=LOOPBACK"}, flags...)...)
		worker.Env = append(os.Environ(), "AFDO_BEAM_TEST=command")
		said, err := worker.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		requireBytes(t, want, out)
		t.Logf("%d hosts, a file of %d bytes: worker %d kB, Prism %d kB", hosts, len(want), maxRSS(worker), maxRSS(stop()))
	}
}

// TestWorkerProcess lets the runner Prism start workers as processes. The command runs in a folder
// without sources. If a worker is killed, or cannot start, the command returns an error and writes
// no output.
func TestWorkerProcess(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	want := manyInputs(t, dir, 20)
	flags, _ := startPrism(t)
	run := func(more ...string) (out string, said []byte, err error) {
		out = filepath.Join(t.TempDir(), "out")
		cmd := exec.Command(os.Args[0], slices.Concat([]string{"merge"}, flags, []string{"--environment_type=PROCESS", "--input", filepath.Join(dir, "*"), "--output", out}, more)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "AFDO_BEAM_TEST=command")
		said, err = cmd.CombinedOutput()
		return out, said, err
	}
	out, said, err := run()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	requireBytes(t, want, out)

	// The pipeline takes half a second, so the worker is killed long before its end.
	killed := filepath.Join(t.TempDir(), "killed")
	write(t, killed, []byte("#!/bin/sh\n"+os.Args[0]+" \"$@\" & sleep 0.1; kill -9 $!; wait\n"))
	if err := os.Chmod(killed, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"killed":    killed,
		"not there": filepath.Join(t.TempDir(), "none"), // Prism notices, or waits for ever
		"not a one": "/bin/false",
	} {
		t.Run(name, func(t *testing.T) {
			config, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				t.Fatal(err)
			}
			out, said, err := run("--timeout=5s", "--environment_config="+string(config))
			if _, missing := os.Stat(out); err == nil || !os.IsNotExist(missing) || !strings.Contains(string(said), "afdo-beam: ") {
				t.Errorf("%v, %v: %s", err, missing, said)
			}
		})
	}
}

// maxRSS returns the largest resident memory of a process that has ended.
func maxRSS(cmd *exec.Cmd) int64 { return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss }
