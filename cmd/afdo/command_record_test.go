//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/produce"
	"github.com/go-afdo/afdo/input/record"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const spinningProgram = `#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) static void spin(long n) {
  for (long i = 0; i < n; i++)
    sink += i;
}
int main(int argc, char **argv) {
  spin(atol(argv[1]));
  return argc - 2;
}
`

// needRecord skips a test if the system does not allow recording.
func needRecord(t *testing.T) {
	t.Helper()
	r, err := record.Open(record.Target{Command: []string{"true"}}, record.Options{Event: record.Clock})
	if err != nil {
		t.Skipf("nothing can be recorded here: %v", err)
	}
	require.NoError(t, r.Close())
}

// TestRecordAndCreate records a command, to a file and to a stream, and makes a profile of it. The
// exit status is that of the command.
func TestRecordAndCreate(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, spinningProgram, "-g")
	out := filepath.Join(t.TempDir(), "perf.data")
	r := afdoRun("record", "-o", out, "-e", "cpu-clock", "--", program, "50000000", "more")
	assert.Equal(t, 1, r.status, r.err)
	assert.Regexp(t, `^afdo: [\d,]+ samples of cpu-clock:u in \d+\.\d s, without branch stacks: \S+\n$`, r.err)
	text := mustCreate(t, "create", "--binary", program, "--profile", out, "--to", "text")
	assert.Contains(t, text, `"spin":`)

	stream := afdoRun("record", "-o", "-", "-F", "4000", "--", program, "300000000")
	assert.Contains(t, stream.err, ": standard output\n")
	require.Equal(t, 0, stream.status, stream.err)
	created := afdoWith(strings.NewReader(stream.out), "create", "--binary", program, "--profile", "-", "--to", "text")
	require.Equal(t, 0, created.status, created.err)
	assert.Contains(t, created.out, `"spin":`)
}

func TestRecordJSON(t *testing.T) {
	needRecord(t)
	out := filepath.Join(t.TempDir(), "perf.data")
	r := afdoRun("record", "-o", out, "--json", "-e", "cpu-clock", "-c", "500000", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo said")
	require.Equal(t, 0, r.status, r.err)
	assert.Equal(t, "said\n", r.err, "standard output is for the facts")
	var facts produce.RecordFacts
	keepJSON(t, "record", r.out)
	d := json.NewDecoder(strings.NewReader(unversioned(r.out)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&facts))
	assert.NotZero(t, facts.Samples)
	assert.NotZero(t, facts.Duration)
	zero := 0
	assert.Equal(t, produce.RecordFacts{Event: "cpu-clock:u", Samples: facts.Samples, Lost: facts.Lost, Throttled: facts.Throttled, Duration: facts.Duration, Output: out, ExitStatus: &zero}, facts)
}

// TestRecordsNothing checks that record fails without a sample, even if the command succeeds.
func TestRecordsNothing(t *testing.T) {
	needRecord(t)
	out := filepath.Join(t.TempDir(), "perf.data")
	r := afdoRun("record", "-o", out, "-e", "cpu-clock", "-c", "4000000000", "--", "true")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "no samples in")
	assert.Contains(t, r.err, "took no processor time")
	assert.NoFileExists(t, out)
	r = afdoRun("record", "-o", out, "-e", "cpu-clock", "-c", "4000000000", "--", "false")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "nothing is written: the command failed with exit status 1\n")
	r = afdoRun("record", "-o", out, "-e", "cpu-clock", "-c", "4000000000", "--duration", "50ms", "--", "sleep", "10")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "took no processor time", "the recording ended the command")
	r = afdoRun("record", "-o", out, "-e", "cpu-clock", "--", filepath.Join(out, "nowhere"))
	assert.Equal(t, 1, r.status)
	assert.NoFileExists(t, out)
	names, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	assert.Empty(t, names)
	r = afdoRun("record", "-o", out, "--", "no-such-program")
	assert.Equal(t, result{1, "", "afdo: exec: \"no-such-program\": executable file not found in $PATH\n"}, r, "and nothing about events")
}

// TestRecordEndsOnSignal checks that Ctrl-C ends a recording, which is complete and can be read.
// The status is that of a command that the signal ends.
func TestRecordEndsOnSignal(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, spinningProgram, "-g")
	for name, c := range map[string]struct {
		group  bool // the command gets the signal as well, as it does from a terminal
		status int
	}{"of afdo": {false, 0}, "of all": {true, 128 + int(syscall.SIGINT)}} {
		if c.group && !testenv.Sweep() {
			continue
		}
		dir := t.TempDir()
		out, started := filepath.Join(dir, "perf.data"), filepath.Join(dir, "started")
		cmd := exec.Command("afdo", "record", "-o", out, "-e", "cpu-clock", "--", "sh", "-c", `touch "$0"; exec "$@"`, started, program, "1000000000000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, 30*time.Second, 10*time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		to := cmd.Process.Pid
		if c.group {
			to = -to
		}
		require.NoError(t, syscall.Kill(to, syscall.SIGINT))
		_ = cmd.Wait()
		assert.Equal(t, c.status, cmd.ProcessState.ExitCode(), name)
		assert.Contains(t, mustCreate(t, "create", "--binary", program, "--profile", out, "--to", "text"), `"spin":`, name)
	}
}

// TestRecordProcess records a running process for the time of --duration.
func TestRecordProcess(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, spinningProgram, "-g")
	cmd := exec.Command(program, "1000000000000")
	require.NoError(t, cmd.Start())
	out := filepath.Join(t.TempDir(), "perf.data")
	r := afdoRun("record", "-o", out, "-p", strconv.Itoa(cmd.Process.Pid), "-e", "cpu-clock", "--duration", "100ms")
	require.NoError(t, cmd.Process.Kill())
	require.Equal(t, 0, r.status, r.err)
	assert.Contains(t, mustCreate(t, "create", "--binary", program, "--profile", out, "--to", "text"), `"spin":`)
	_ = cmd.Wait()
}

// afterMain is a program whose main thread ends while another thread goes on.
const afterMain = `#include <pthread.h>
volatile int sink;
__attribute__((noinline)) static void spin(void) {
  for (;;)
    sink += 1;
}
static void *run(void *p) {
  spin();
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_exit(0);
}
`

// TestRecordAfterMainThread records a process whose main thread has ended. The kernel shows no
// mappings for that thread.
func TestRecordAfterMainThread(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, afterMain, "-g", "-pthread")
	cmd := exec.Command(program)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	out := filepath.Join(t.TempDir(), "perf.data")
	for _, target := range [][]string{{"cpu-clock", "-p", strconv.Itoa(cmd.Process.Pid)}, {"steps", "-p", strconv.Itoa(cmd.Process.Pid)}, {"steps", "--", program}} {
		r := afdoRun(append([]string{"record", "-o", out, "--duration", "1s", "--event"}, target...)...)
		if strings.Contains(r.err, "does not permit tracing") {
			continue
		}
		require.Equal(t, 0, r.status, r.err)
		assert.Contains(t, mustCreate(t, "create", "--allow-poor", "--binary", program, "--profile", out, "--to", "text"), `"spin":`, target)
	}
}

// TestRecordNowhere checks that record does not start the command if it cannot write the recording.
func TestRecordNowhere(t *testing.T) {
	needRecord(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for path, err := range map[string]string{dir: "is a directory", filepath.Join(dir, "no/perf.data"): "no such file or directory"} {
		r := afdoRun("record", "--event", "cpu-clock", "-o", path, "--", "touch", ran)
		assert.Equal(t, cli.StatusFault, r.status)
		assert.Equal(t, "afdo: create "+path+": "+err+"\n", r.err)
		assert.NoFileExists(t, ran)
	}
}

func TestRecordRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		err  string
	}{
		"nothing":         {nil, "missing argument COMMAND"},
		"two":             {[]string{"-p", "1", "--", "true"}, "want only one of a command"},
		"pid":             {[]string{"-p", "-1"}, "is no process"},
		"event":           {[]string{"-e", "instructions", "--", "true"}, `"-e, --event" flag: want one of best, branches, cycles, cpu-clock`},
		"frequency":       {[]string{"-F", "0", "--", "true"}, "gives no samples"},
		"both":            {[]string{"-F", "1", "-c", "1", "--", "true"}, "freq count"},
		"duration":        {[]string{"--duration", "-1s", "-a"}, "no time to record"},
		"json and stream": {[]string{"--json", "-o", "-", "--", "true"}, "--json writes to standard output"},
	} {
		t.Run(name, func(t *testing.T) {
			r := afdoRun(append([]string{"record"}, c.args...)...)
			assert.Equal(t, 2, r.status, name)
			assert.Contains(t, r.err, c.err, name)
		})
	}
}

// TestRecordKilledTracer kills the recorder's tracer: the program runs to its end, and the
// recording until then is kept.
func TestRecordKilledTracer(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, spinningProgram, "-g")
	out := filepath.Join(t.TempDir(), "perf.data")
	for range testenv.Rounds(1, 20, 100) {
		cmd := exec.Command("afdo", "record", "-o", out, "--event", "steps", "--overhead", "50%", "--", "sh", "-c", `"$0" 1000000000; "$0" 3; echo whole; exit 5`, program)
		var said bytes.Buffer
		cmd.Stderr = &said
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		time.Sleep(700 * time.Millisecond)
		killTracer(t, cmd.Process.Pid)
		printed, err := io.ReadAll(stdout)
		require.NoError(t, err)
		_ = cmd.Wait()
		require.Equal(t, 5, cmd.ProcessState.ExitCode(), said.String())
		assert.Equal(t, "whole\n", string(printed))
		assert.Regexp(t, `afdo: the recording ended after \d\.\d s, before the program; what was recorded is kept: the tracer has failed: signal: killed\n`, said.String())
		assert.Contains(t, mustCreate(t, "create", "--binary", program, "--profile", out, "--to", "text"), `"spin":`)
	}
}

// killTracer kills the tracer that a process has started.
func killTracer(t *testing.T, parent int) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, file := range stats {
		var pid, ppid int
		var name, state string
		stat, _ := os.ReadFile(file) // the process may have ended
		if n, _ := fmt.Sscan(string(stat), &pid, &name, &state, &ppid); n == 4 && name == "(afdo-steps)" && ppid == parent {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			return
		}
	}
	t.Skip("no tracer: steps cannot be recorded here")
}

// withoutTracing is a program that runs a command without permission to trace processes, as the
// seccomp profiles of some containers do.
const withoutTracing = `
#include <errno.h>
#include <stddef.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, rules};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 77;
	execvp(argv[1], argv + 1);
	return 127;
}
`

// fewCalls is a program that waits and computes in turn, under a seccomp filter without
// restart_syscall. If the recorder interrupts a wait, the kernel calls restart_syscall, and the
// thread must not be killed for that.
const fewCalls = `#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int argc, char **argv) {
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_clock_nanosleep), ALLOW(SYS_nanosleep), ALLOW(SYS_ppoll),
		ALLOW(SYS_fstat), ALLOW(SYS_newfstatat), ALLOW(SYS_getrandom), ALLOW(SYS_brk),
#ifdef SYS_poll
		ALLOW(SYS_poll),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 77;
	long sum = 0, failed = 0;
	for (long r = atol(argv[1]); r > 0; r--) {
		for (int k = 0; k < 300000; k++) sum += k % 3 ? k : -r;
		struct timespec t = {0, 200000};
		failed += nanosleep(&t, 0) != 0;
		failed += poll(0, 0, 1) != 0;
	}
	printf("%ld %ld\n", sum, failed);
	return 0;
}
`

// TestRecordSeccomp records a program under a seccomp filter, which must compute the same result.
func TestRecordSeccomp(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, fewCalls, "-g")
	want, err := exec.Command(program, "200").Output()
	if err != nil {
		t.Skipf("no seccomp filter can be set here: %v", err)
	}
	for range testenv.Rounds(3, 20, 100) {
		cmd := exec.Command("afdo", "record", "-o", filepath.Join(t.TempDir(), "perf.data"), "--event", "steps", "--overhead", "50%", "--", program, "200")
		var said bytes.Buffer
		cmd.Stderr = &said
		got, err := cmd.Output()
		require.NoError(t, err, said.String())
		assert.Equal(t, string(want), string(got))
	}
}

// TestRecordWithoutTracing checks that --event steps fails with a reason if tracing is forbidden,
// and that the default then selects another event.
func TestRecordWithoutTracing(t *testing.T) {
	t.Parallel()
	needRecord(t)
	program := compileC(t, spinningProgram, "-g")
	if r, err := record.Open(record.Target{Command: []string{"true"}}, record.Options{Event: record.Steps}); err != nil {
		t.Skipf("no steps here: %v", err)
	} else {
		require.NoError(t, r.Close())
	}
	forbid := compileC(t, withoutTracing)
	out := filepath.Join(t.TempDir(), "perf.data")
	said, err := exec.Command(forbid, "afdo", "record", "--event", "steps", "-o", out, "--", program, "1000").CombinedOutput()
	require.Error(t, err)
	assert.Regexp(t, `^afdo: process \d+: the kernel does not permit tracing \(the seccomp profile of a container may forbid it: the container needs --cap-add SYS_PTRACE or another profile\): record with --event cpu-clock\n$`, string(said))
	assert.NoFileExists(t, out)

	said, err = exec.Command(forbid, "afdo", "record", "-o", out, "--", program, "300000000").CombinedOutput()
	require.NoError(t, err)
	assert.Regexp(t, `^afdo: --event steps is not possible: process \d+: the kernel does not permit tracing \([^)]*\)\n`, string(said))
	assert.FileExists(t, out)
}
