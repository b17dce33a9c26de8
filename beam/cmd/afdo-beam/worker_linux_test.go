package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// manyInputs writes the profiles of hosts. Each has 40 units, of which 20 are the next one's, too.
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

// TestWorkerProcess runs the pipeline on a Prism that is a process of its own, so that the command
// is the worker and nothing else, and tells how much memory both take.
func TestWorkerProcess(t *testing.T) {
	testenv.NeedSweep(t)
	prism := filepath.Join(t.TempDir(), "prism")
	if out, err := exec.Command("go", "build", "-o", prism, "github.com/apache/beam/sdks/v2/go/cmd/prism").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, hosts := range []int{20, 100, 1000} {
		dir := t.TempDir()
		want := manyInputs(t, dir, hosts)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().(*net.TCPAddr)
		listener.Close()
		runner := exec.Command(prism, fmt.Sprint("--job_port=", address.Port), "--serve_http=false", "--log_level=error")
		if err := runner.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // Beam's client waits for it, and longer if it has to ask again
		out := filepath.Join(t.TempDir(), "out")
		worker := exec.Command(os.Args[0], "merge", "--input", filepath.Join(dir, "*"), "--output", out,
			"--runner=prism", fmt.Sprint("--endpoint=localhost:", address.Port), "--environment_type=LOOPBACK")
		worker.Env = append(os.Environ(), "AFDO_BEAM_TEST=command")
		said, err := worker.CombinedOutput()
		_ = runner.Process.Kill()
		_ = runner.Wait()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		requireBytes(t, want, out)
		t.Logf("%d hosts, a file of %d bytes: worker %d kB, Prism %d kB", hosts, len(want), maxRSS(worker), maxRSS(runner))
	}
}

// maxRSS returns the largest memory that a process which has ended had.
func maxRSS(cmd *exec.Cmd) int64 { return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss }
