package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// run records a target until it ends, or until a time limit. It returns the perf.data file and the
// report.
func run(t *testing.T, target Target, limit time.Duration) ([]byte, *Report) {
	t.Helper()
	r, err := Open(target, Options{Event: Clock, Stdout: io.Discard})
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("nothing can be recorded here: %v", err)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var spool, out bytes.Buffer
	report, err := r.Run(ctx, &spool)
	require.NoError(t, err)
	require.NoError(t, r.WriteFile(&out, &spool, int64(spool.Len())))
	return out.Bytes(), report
}

// spin returns a command that computes for a number of rounds.
func spin(rounds int64) []string {
	return []string{"sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done; exit 7", rounds)}
}

const threadsAndForks = `
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) static void work(int n) { for (int i = 0; i < n; i++) sink += i; }
static void *thread(void *p) { work(10000000); return p; }
int main(int argc, char **argv) {
	work(10000000);
	if (argc > 1) return 3;
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	if (fork() == 0) {
		work(10000000);
		execl("/proc/self/exe", "again", "x", (char *)0);
	}
	pthread_join(t, 0);
	int status;
	wait(&status);
	return WEXITSTATUS(status);
}
`

// A recording of a command contains the samples of all threads and processes that the command
// starts. perf script prints the same samples of the recording.
func TestCommand(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	program := filepath.Join(dir, "prog")
	require.NoError(t, os.WriteFile(program+".c", []byte(threadsAndForks), 0o600))
	out, err := exec.Command(gcc, "-O1", "-pthread", "-o", program, program+".c").CombinedOutput()
	require.NoError(t, err, "%s", out)

	data, report := run(t, Target{Command: []string{program}}, time.Minute)
	assert.Equal(t, 3, report.ExitStatus)
	assert.False(t, report.Ended)
	assert.Zero(t, report.Lost)
	var samples, execs, forks, threads int
	pids := make(map[int32]bool)
	ours := make(map[string]bool) // build IDs
	for _, r := range list(t, data) {
		switch r := r.(type) {
		case perfdata.Sample:
			samples++
			assert.Equal(t, perfdata.ModeUser, r.Mode)
			pids[r.TID] = true
		case perfdata.Comm:
			if r.Exec {
				execs++
			}
		case perfdata.Fork:
			if r.PID == r.ParentPID {
				threads++
			} else {
				forks++
			}
		case perfdata.Mmap:
			if r.Path == program {
				ours[r.BuildID] = true
			}
		}
	}
	assert.Equal(t, uint64(samples), report.Samples)
	assert.Equal(t, []int{2, 1, 1}, []int{execs, forks, threads})
	assert.Len(t, pids, 3, "two processes, one with a second thread")
	assert.Len(t, ours, 1)
	ids := buildIDs(map[perfdata.BuildID]bool{{Path: program}: true})
	r, err := perfdata.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Subset(t, r.BuildIDs(), ids)

	perf := testenv.Tool(t, "perf")
	recording := filepath.Join(dir, "perf.data")
	require.NoError(t, os.WriteFile(recording, data, 0o600))
	printed, err := exec.Command(perf, "script", "-i", recording, "-F", "pid,tid,time,ip").CombinedOutput()
	require.NoError(t, err, "%s", printed)
	var want strings.Builder
	ordered, err := perfdata.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for record, err := range ordered.Ordered() {
		require.NoError(t, err)
		if s, ok := record.(*perfdata.Sample); ok {
			fmt.Fprintf(&want, "%d/%d %d.%06d: %x\n", s.PID, s.TID, s.Time/1e9, s.Time%1e9/1e3, s.IP)
		}
	}
	assert.Equal(t, strings.Fields(want.String()), strings.Fields(string(printed)))
	hot, err := exec.Command(perf, "report", "--stdio", "-i", recording, "--sort", "symbol").CombinedOutput()
	require.NoError(t, err, "%s", hot)
	assert.Regexp(t, `\d+\.\d+%\s+\[\.\] work`, string(hot))
	head, err := exec.Command(perf, "evlist", "-i", recording).CombinedOutput()
	require.NoError(t, err, "%s", head)
	assert.Equal(t, "cpu-clock:u\n", string(head))
}

// When the context is done, Run ends the command, and the recording is complete.
func TestCommandIsEnded(t *testing.T) {
	data, report := run(t, Target{Command: spin(1 << 40)}, 200*time.Millisecond)
	assert.True(t, report.Ended)
	assert.Equal(t, 128+int(unix.SIGTERM), report.ExitStatus)
	assert.NotZero(t, report.Samples)
	assert.NotEmpty(t, list(t, data))
}

// A recording of a running process contains the mappings and the names of threads from before the
// recording, with build IDs.
func TestProcess(t *testing.T) {
	command := spin(1 << 40)
	cmd := exec.Command(command[0], command[1:]...)
	require.NoError(t, cmd.Start())
	pid := cmd.Process.Pid
	data, report := run(t, Target{PID: pid}, 150*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	assert.NotZero(t, report.Samples)
	assert.Zero(t, report.ExitStatus)
	path, err := filepath.EvalSymlinks(cmd.Path)
	require.NoError(t, err)
	names, mapped, samples := 0, make(map[string]perfdata.Mmap), []uint64(nil)
	for _, r := range list(t, data) {
		switch r := r.(type) {
		case perfdata.Comm:
			assert.Equal(t, perfdata.Comm{PID: int32(pid), TID: int32(pid), Name: "sh"}, r)
			names++
		case perfdata.Mmap:
			mapped[r.Path] = r
		case perfdata.Sample:
			samples = append(samples, r.IP)
			assert.Equal(t, int32(pid), r.PID)
		}
	}
	assert.Equal(t, 1, names)
	for _, ip := range samples { // within a round, another processor's samples may come before a mapping
		within := func(m perfdata.Mmap) bool { return ip >= m.Start && ip-m.Start < m.Length }
		assert.True(t, slices.ContainsFunc(slices.Collect(maps.Values(mapped)), within), "%#x", ip)
	}
	assert.Equal(t, buildIDOf("/", path), mapped[path].BuildID)
	assert.NotEmpty(t, mapped[path].BuildID)
	_ = cmd.Wait()

	r, err := Open(Target{PID: pid}, Options{Event: Clock})
	assert.ErrorIs(t, err, unix.ESRCH, "it has ended")
	assert.Nil(t, r)
}

// The recording of a process ends when the process ends.
func TestProcessEnds(t *testing.T) {
	command := spin(100_000)
	cmd := exec.Command(command[0], command[1:]...)
	require.NoError(t, cmd.Start())
	go func() { _ = cmd.Wait() }()
	_, report := run(t, Target{PID: cmd.Process.Pid}, time.Minute)
	assert.Less(t, report.Duration, time.Minute)
}

// With the necessary permission, the samples of all processes are recorded.
func TestMachine(t *testing.T) {
	command := spin(1 << 40)
	cmd := exec.Command(command[0], command[1:]...)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	data, _ := run(t, Target{Machine: true}, 150*time.Millisecond)
	found := false
	for _, r := range list(t, data) {
		s, ok := r.(perfdata.Sample)
		found = found || ok && int(s.PID) == cmd.Process.Pid
	}
	assert.True(t, found)
}

// If writing the output fails, such as on a full disk, Run returns the error. The command continues
// to its end.
func TestOutputFails(t *testing.T) {
	r, err := Open(Target{Command: spin(1 << 18)}, Options{Event: Clock})
	if err != nil {
		t.Skipf("nothing can be recorded here: %v", err)
	}
	defer r.Close()
	in, out := io.Pipe()
	require.NoError(t, in.Close())
	report, err := r.Run(t.Context(), out)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	assert.False(t, report.Ended)
	assert.Equal(t, 7, report.ExitStatus)
}

func TestTargets(t *testing.T) {
	for _, target := range []Target{{}, {PID: 1, Machine: true}, {PID: -1}, {Command: []string{"true"}, PID: 1}} {
		_, err := Open(target, Options{})
		require.ErrorIs(t, err, errTarget)
	}
}

// Open either records branch stacks, or returns an error if the processor cannot record branches.
func TestBranches(t *testing.T) {
	r, err := Open(Target{Command: spin(100_000)}, Options{Event: Branches})
	if err != nil {
		assert.ErrorContains(t, err, "record: ")
		t.Skipf("no branch stacks here: %v", err)
	}
	defer r.Close()
	report, err := r.Run(t.Context(), io.Discard)
	require.NoError(t, err)
	assert.NotZero(t, report.Stacks)
}

// A perfdata.Reader understands the attribute of each event that Open may choose.
func TestAttributes(t *testing.T) {
	for _, s := range candidates {
		o := Options{Frequency: 1000}
		a := s.attr(&o, true)
		b, err := encode(&a)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, (&perfdata.Head{Name: s.name, Attr: b}).WriteFile(&out, strings.NewReader("\x44\x00\x00\x00\x00\x00\x08\x00"), 8))
		r, err := perfdata.NewReader(&out)
		require.NoError(t, err)
		event := r.Events()[0]
		assert.Equal(t, []uint64{uint64(s.kind), s.config}, []uint64{event.Type, event.Config}, s.name)
		assert.Equal(t, s.event == Branches, event.HasBranches(), s.name)
		assert.NotZero(t, a.Bits&unix.PerfBitExcludeKernel, s.name)
		assert.Equal(t, s.period == 0, a.Bits&unix.PerfBitFreq != 0, s.name)
	}
}

func TestCPUList(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-3": {0, 1, 2, 3}, "0,2-3,7": {0, 2, 3, 7}} {
		got, err := cpuList(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "x", "1-", "0-99999", "-1"} {
		_, err := cpuList(text)
		assert.Error(t, err, text)
	}
}
