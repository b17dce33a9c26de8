//go:build linux

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/produce"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// judged records a program by steps, and returns the verdict of "afdo create" on the recording.
func judged(t *testing.T, program string, args ...string) *produce.QualityFacts {
	t.Helper()
	out := filepath.Join(t.TempDir(), "perf.data")
	r := afdoRun(append([]string{"record", "--event", "steps", "-o", out}, args...)...)
	if r.status == 2 || strings.Contains(r.err, "not possible") {
		t.Skipf("steps cannot be recorded here: %s", r.err)
	}
	require.Equal(t, 0, r.status, r.err)
	r = afdoRun("create", "--allow-poor", "--json", "--binary", program, "--profile", out, "--to", "v2", "-o", out+".afdo")
	require.Equal(t, 0, r.status, r.err)
	facts := produce.CreateFacts{ProfileFacts: new(produce.ProfileFacts)}
	require.NoError(t, json.Unmarshal([]byte(r.out), &facts))
	q := facts.Quality
	require.NotNil(t, q.Effort, "what the recorder did is in the recording")
	bursts := q.Effort.Stops - q.Effort.Dropped
	assert.InDelta(t, bursts, q.Moments+q.MomentsElsewhere, 2+0.05*float64(bursts)) // two may follow so fast that they count as one
	assert.Equal(t, q.Effort.Moments, q.Effort.Stops+q.Effort.Missed)
	if low := q.Moments < 300; low {
		assert.NotEqual(t, "good", q.Verdict)
		assert.Contains(t, q.Reasons[0], "moments in the program of at least 300")
	} else {
		assert.Equal(t, "good", q.Verdict, q.Reasons)
	}
	return q
}

// TestStepsAreJudged checks that a recording by steps contains the recorder's own figures, and that
// the verdict uses them.
func TestStepsAreJudged(t *testing.T) {
	t.Parallel()
	program := compileC(t, spinningProgram, "-g")
	q := judged(t, program, "--overhead", "50%", "--", program, "200000000")
	assert.Equal(t, [2]uint64{1, 1}, [2]uint64{q.Effort.Threads, q.Effort.Sampled})
	assert.Zero(t, q.Effort.Unsampled)
	assert.Positive(t, q.Effort.Budget)
	assert.Positive(t, q.Effort.Stopped)
}

// TestSizes adds the sizes of a recording by steps to exact counts, which stay exact. A recording
// without sizes is refused.
func TestSizes(t *testing.T) {
	t.Parallel()
	program := compileC(t, `#include <stdlib.h>
#include <string.h>
char to[99], from[99];
int main(int argc, char **argv)
{
	for (long n = atol(argv[1]); n > 0; n--)
		memcpy(to, from, argc + n % 4);
	return to[1];
}
`, "-g")
	dir := t.TempDir()
	stepped, counted, out := filepath.Join(dir, "steps"), filepath.Join(dir, "callgrind"), filepath.Join(dir, "out.afdo")
	if r := afdoRun("record", "--event", "steps", "--overhead", "50%", "-o", stepped, "--", program, "50000000"); r.status == 2 || strings.Contains(r.err, "not possible") {
		t.Skipf("steps cannot be recorded here: %s", r.err)
	}
	toolOutput(t, dir, testenv.Tool(t, "valgrind"), "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file="+counted, program, "1000")
	evidence := func(flags ...string) *profile.Evidence {
		r := afdoRun(append([]string{"create", "--binary", program, "--profile", counted, "-o", out}, flags...)...)
		require.Equal(t, 0, r.status, r.err)
		file, err := afdo.Open(out)
		require.NoError(t, err)
		defer file.Close()
		p, err := profile.Read(file)
		require.NoError(t, err)
		return p.Evidence()
	}
	exact, both := evidence(), evidence("--sizes", stepped)
	var sizes []uint64
	for i, c := range both.Copies {
		for _, s := range c.Sizes {
			sizes = append(sizes, s.Bytes)
			assert.Equal(t, uint32(7), s.Line)
		}
		both.Copies[i].Sizes = nil
	}
	assert.Equal(t, []uint64{2, 3, 4, 5}, sizes)
	assert.Equal(t, exact, both)
	r := afdoRun("create", "--binary", program, "--profile", stepped, "--sizes", counted, "-o", out)
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "callgrind: no sizes of memcpy and memset calls: use a recording of afdo record --event steps")
}

// TestStepsOnABusyMachine records by steps on a busy machine. If the recording observes the program
// at too few moments, the verdict on it must give the reason.
func TestStepsOnABusyMachine(t *testing.T) {
	testenv.NeedSweep(t)
	program := compileC(t, spinningProgram, "-g")
	for range 16 {
		busy := exec.Command(program, "1000000000000")
		require.NoError(t, busy.Start())
		t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	}
	q := judged(t, program, "--", program, "60000000")
	if 2*q.Effort.Stopped < q.Effort.Budget && q.Moments < 300 {
		assert.Contains(t, q.Reasons[0], "record on an idle machine")
	}
	t.Logf("%s: %v, %+v", q.Verdict, q.Reasons, *q.Effort)
}
