package tune

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/duel"
)

// A change of the time is doubtful if it contradicts the change of the number of instructions.
func TestContradicts(t *testing.T) {
	assert.Nil(t, contradicts(nil))
	for instructions, want := range map[float64][2]bool{-0.05: {false, true}, 0.05: {true, false}, 0.0001: {true, true}} {
		doubtful := contradicts([]Measure{{Change: instructions}})
		assert.Equal(t, want, [2]bool{doubtful(-0.04), doubtful(0.04)}, instructions)
	}
}

// A program that fails under callgrind is measured without a count of instructions.
func TestUncounted(t *testing.T) {
	o, said := newTree(t, nil)
	o.Measure = []string{"true"}
	tools := t.TempDir()
	for _, name := range []string{"valgrind", "perf"} {
		require.NoError(t, os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\nexit 132\n"), 0o755))
	}
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	for range 2 {
		measures, err := w.measureInstructions(t.Context(), w.fast)
		require.NoError(t, err)
		assert.Empty(t, measures)
	}
	assert.Equal(t, 1, strings.Count(said.String(), "instructions are not counted: the measured program fails while it is counted"), said)
}

// On a busy machine, callgrind may take much longer than its processor time. Tune then goes on
// without the counts, and with the whole profile.
func TestCountingTakesTooLong(t *testing.T) {
	o, said := newTree(t, nil)
	o.Measure, o.Train = []string{"true"}, []string{"true"}
	tools := t.TempDir()
	for name, script := range map[string]string{"valgrind": "exec sleep 60", "perf": "exit 1"} {
		require.NoError(t, os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	was := maxCounting
	maxCounting = 2 * time.Second
	defer func() { maxCounting = was }()
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	measures, err := w.measureInstructions(t.Context(), w.fast)
	require.NoError(t, err)
	assert.Empty(t, measures)
	assert.Contains(t, said.String(), "instructions are not counted: callgrind takes too long")
	w.state = readState(w.in("state.json"))
	try, err := w.leaveOut(t.Context(), &Result{Try: Try{Folder: w.fast}})
	require.NoError(t, err)
	assert.Nil(t, try)
	assert.Contains(t, said.String(), "no functions are left out of the profile: callgrind takes too long")
}

// Measured commands that run no program of the build are reported: the verdict is about nothing.
func TestMeasuresNothingOfTheBuild(t *testing.T) {
	o, said := newTree(t, nil)
	o.Measure = []string{"true"}
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "perf"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	counts := "#!/bin/sh\nfor a; do case $a in --callgrind-out-file=*) out=${a#*=}; esac; done\nprintf 'events: Ir\\nob=(1) %s\\ntotals: 5\\n' \"$RAN\" > ${out%/*}/1\n"
	require.NoError(t, os.WriteFile(filepath.Join(tools, "valgrind"), []byte(counts), 0o755))
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for ran, reports := range map[string]bool{"base/prog": false, "other/prog": true} {
		said.Reset()
		t.Setenv("RAN", filepath.Join(o.Folder, ran))
		w, err := newTuning(o)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(w.base, 0o700))
		require.NoError(t, os.MkdirAll(w.fast, 0o700))
		measures, err := w.measureInstructions(t.Context(), w.fast)
		require.NoError(t, err)
		assert.Len(t, measures, 1)
		assert.Equal(t, reports, strings.Contains(said.String(), "runs no program of the build"), said)
	}
}

// A file of callgrind that the disk had no room for is an error, and no count of zero.
func TestCountsOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1")
	for text, whole := range map[string]bool{"events: Ir\nfn=(1) f\n1 5\ntotals: 5\n": true, "events: Ir\nfn=(1) f\n1 5\n": false, "": false} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		n, err := callgrindTotal(path, "Ir")
		assert.Equal(t, whole, n == 5, text)
		assert.Equal(t, whole, err == nil, text)
	}
}

// A processor without counters makes perf count nothing.
func TestPerfCountsNothing(t *testing.T) {
	o, _ := newTree(t, nil)
	o.Measure = []string{"true"}
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "perf"), []byte("#!/bin/sh\necho '<not supported>' > $4\n"), 0o755))
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	_, err = w.perfInstructions(t.Context(), w.base)
	require.EqualError(t, err, "perf counted nothing: <not supported>\n")
}

// Ways of using the profile are tried until one is faster, and the best one is kept.
func TestBestTry(t *testing.T) {
	tries := []Try{{Way: "a", Verdict: Slower}, {Way: "b", Verdict: Undecided}, {Way: "c", Verdict: Faster}}
	for n, want := range map[int]Way{1: "a", 2: "b", 3: "c"} {
		assert.Equal(t, want, slices.MinFunc(tries[:n], compareTries).Way)
	}
}

// Outputs of the two programs are compared if the program prints the same in every run.
func TestOutputsDiffer(t *testing.T) {
	for command, want := range map[string]Outputs{"echo same": SameOutputs, "read name < name; echo $name": DifferentOutputs, "echo x >> runs; while read x; do echo $x; done < runs": VaryingOutputs} {
		o, _ := newTree(t, nil)
		o.Measure, o.Rounds = []string{command}, 2
		w, err := newTuning(o)
		require.NoError(t, err)
		for _, copied := range []string{w.base, w.fast} {
			require.NoError(t, os.MkdirAll(copied, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(copied, "name"), []byte(filepath.Base(copied)+"\n"), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(w.fast, "runs"), []byte("y\n"), 0o600))
		try := Try{Folder: w.fast}
		_, err = w.rounds(t.Context(), &try, &duel.Plan{Rounds: 2})
		require.NoError(t, err)
		assert.Equal(t, want, try.Outputs, command)
	}
}
