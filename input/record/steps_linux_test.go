package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// openSteps opens a recording by steps. It skips the test if the machine does not permit that.
func openSteps(t *testing.T, target Target, o Options) *Recorder {
	t.Helper()
	o.Event = Steps
	r, err := Open(target, o)
	if errors.Is(err, ErrNotPermitted) || errors.Is(err, ErrEvent) {
		t.Skipf("no steps here: %v", err)
	}
	require.NoError(t, err)
	return r
}

// A recording by steps contains branch stacks, and mappings with build IDs. perf script and
// llvm-profgen read the same samples from it.
func TestSteps(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	program := filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.WriteFile(program+".c", []byte(threadsAndForks), 0o600))
	out, err := exec.Command(gcc, "-O1", "-g", "-pthread", "-o", program, program+".c").CombinedOutput()
	require.NoError(t, err, "%s", out)

	var file bytes.Buffer
	var report *Report
	for range 5 { // on a busy machine, the short program may end before the first moment
		r := openSteps(t, Target{Command: []string{program}}, Options{Overhead: 0.5, Stdout: io.Discard})
		assert.Equal(t, Steps, r.event())
		var spool bytes.Buffer
		report, err = r.Run(t.Context(), &spool)
		require.NoError(t, err)
		file.Reset()
		require.NoError(t, r.WriteFile(&file, &spool, int64(spool.Len())))
		require.NoError(t, r.Close())
		if report.Samples > 0 {
			break
		}
	}
	assert.Equal(t, 3, report.ExitStatus)
	assert.NotZero(t, report.Samples)
	assert.Equal(t, report.Samples, report.Stacks)
	assert.NotZero(t, report.Longest)
	assert.GreaterOrEqual(t, report.Stopped, report.Longest)

	reader, err := perfdata.NewReader(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Subset(t, reader.BuildIDs(), buildIDs(map[perfdata.BuildID]bool{{Path: program}: true}))
	var want strings.Builder
	for record, err := range reader.Ordered() {
		require.NoError(t, err)
		if s, ok := record.(*perfdata.Sample); ok {
			for _, b := range s.Branches {
				fmt.Fprintf(&want, " 0x%x/0x%x/-/-/-/0/", b.From, b.To)
			}
			want.WriteByte('\n')
		}
	}
	perf := testenv.Tool(t, "perf")
	recording := program + ".data"
	require.NoError(t, os.WriteFile(recording, file.Bytes(), 0o600))
	printed, err := exec.Command(perf, "script", "-i", recording, "-F", "brstack").Output()
	require.NoError(t, err)
	words := strings.Fields(string(printed))
	for i, w := range words { // newer versions print more fields
		if parts := strings.Split(w, "/"); len(parts) > 6 {
			words[i] = strings.Join(parts[:6], "/") + "/"
		}
	}
	assert.Equal(t, strings.Fields(want.String()), words)

	profgen := testenv.Tool(t, "llvm-profgen-22")
	out, err = exec.Command(profgen, "--perfdata="+recording, "--binary="+program, "--format=text", "-o", program+".prof").CombinedOutput()
	require.NoError(t, err, "%s", out)
	profile, err := os.ReadFile(program + ".prof")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^(work|main):\d+:\d+`, string(profile))
}

// When the context is done, a recording by steps ends. A process that was attached continues, and a
// command that was started is ended.
func TestStepsAreEnded(t *testing.T) {
	command := spin(1 << 40)
	cmd := exec.Command(command[0], command[1:]...)
	require.NoError(t, cmd.Start())
	r := openSteps(t, Target{PID: cmd.Process.Pid}, Options{})
	report := runFor(t, r, 50*time.Millisecond)
	assert.Zero(t, report.ExitStatus)
	require.NoError(t, cmd.Process.Kill(), "it runs")
	_ = cmd.Wait()

	report = runFor(t, openSteps(t, Target{Command: command}, Options{}), 50*time.Millisecond)
	assert.True(t, report.Ended)
	assert.Equal(t, 128+15, report.ExitStatus)

	r = openSteps(t, Target{Command: command}, Options{})
	require.NoError(t, r.Close(), "without a recording")

	_, err := Open(Target{PID: cmd.Process.Pid}, Options{Event: Steps})
	require.ErrorContains(t, err, "no such process")
	_, err = Open(Target{Machine: true}, Options{Event: Steps})
	require.ErrorIs(t, err, ErrEvent)
	_, err = Open(Target{Command: command}, Options{Event: Steps, Overhead: 2})
	require.ErrorContains(t, err, "overhead")
	_, err = Open(Target{Command: []string{"no-such-program"}}, Options{Event: Steps})
	require.ErrorIs(t, err, exec.ErrNotFound)
}

// runFor runs a recording for some time.
func runFor(t *testing.T, r *Recorder, d time.Duration) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	report, err := r.Run(ctx, io.Discard)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return report
}

// If writing the output of a recording by steps fails, Run returns the error. The command
// continues.
func TestStepsOutputFails(t *testing.T) {
	r := openSteps(t, Target{Command: spin(1 << 18)}, Options{Overhead: 0.5})
	in, out := io.Pipe()
	require.NoError(t, in.Close())
	report, err := r.Run(t.Context(), out)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	assert.False(t, report.Ended)
	assert.Equal(t, 7, report.ExitStatus)
	require.NoError(t, r.Close())
}

// The best event has branch stacks. With Options.Period it is an event of the kernel, because steps
// have no period.
func TestBestEvent(t *testing.T) {
	command := Target{Command: []string{"true"}}
	require.NoError(t, openSteps(t, command, Options{}).Close())
	r, err := Open(command, Options{})
	require.NoError(t, err)
	assert.Contains(t, []Event{Branches, Steps}, r.event())
	assert.Equal(t, r.event() == Steps, len(r.Warnings()) == 1 && strings.Contains(r.Warnings()[0], "--event steps"))
	require.NoError(t, r.Close())
	if r, err = Open(command, Options{Period: 1_000_000}); err == nil {
		assert.NotEqual(t, Steps, r.event())
		require.NoError(t, r.Close())
	}
}

// event returns the kind of event that is being sampled.
func (r *Recorder) event() Event {
	if r.steps != nil {
		return Steps
	}
	return r.candidate.event
}
