package tune

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// recordingOf returns a recording by steps with a number of samples in a program, and 300 more than
// that in a shell.
func recordingOf(program string, moments int) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "PERF_RECORD_MMAP2 1/1: [0x10000(0x1000) @ 0 fe:00 1 2]: r-xp %s\n", program)
	fmt.Fprintln(&text, "PERF_RECORD_MMAP2 2/2: [0x10000(0x1000) @ 0 fe:00 2 2]: r-xp /bin/sh")
	for i := range 2*moments + 300 {
		pid := 1
		if i >= moments {
			pid = 2
		}
		fmt.Fprintf(&text, "a %d 1.%09d: steps:u: 10210 0x10220/0x10210/-/-/-/0\n", pid, (i+1)*1e5)
	}
	return []byte(text.String())
}

// addProgram adds a program to a copy of the tree, and returns its path.
func addProgram(t *testing.T, copied string) string {
	t.Helper()
	data, err := os.ReadFile("../../input/symbolize/testdata/tiny5.so")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(copied, 0o700))
	program := filepath.Join(copied, "prog")
	require.NoError(t, os.WriteFile(program, data, 0o700))
	return program
}

// countSamples counts the samples of all recordings in a program of the build, but not those in
// shells. It returns an error for a file that is no recording.
func TestCountSamples(t *testing.T) {
	folder := t.TempDir()
	w := &tuning{Options: Options{Folder: folder}, base: filepath.Join(folder, "base"), state: new(state)}
	program := addProgram(t, w.base)
	require.NoError(t, os.Mkdir(w.recordings(), 0o700))
	n, err := w.countSamples()
	require.NoError(t, err)
	assert.Zero(t, n)
	for i, moments := range []int{2, 0, 3} {
		require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), strconv.Itoa(i+1)), recordingOf(program, moments), 0o600))
	}
	n, err = w.countSamples()
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), "4"), []byte("text"), 0o600))
	_, err = w.countSamples()
	assert.ErrorContains(t, err, filepath.Join("recordings", "4"))
}

// If there are no samples in a program of the build, the error advises callgrind, unless callgrind
// made the recording.
func TestTrainedNothing(t *testing.T) {
	program, err := os.ReadFile(testenv.Tool(t, "true"))
	require.NoError(t, err)
	o, _ := newTree(t, nil)
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.base, "prog"), program, 0o700))
	for recorder, advised := range map[Recorder]bool{Steps: true, Callgrind: false} {
		w.state = &state{Done: map[string]string{recorderEntry: string(recorder) + "\nwhy"}}
		_, _, err := w.trained()
		require.ErrorContains(t, err, "should name programs there, such as ./prog")
		assert.Equal(t, advised, strings.Contains(err.Error(), "--recorder callgrind"), err)
	}
}

// A training that is too short for steps runs again until there are enough samples, unless too many
// runs would be needed.
func TestTrainMore(t *testing.T) {
	cp := testenv.Tool(t, "cp")
	for _, c := range []struct {
		samples, runs int // samples of one run, and the number of runs
		enough        bool
	}{{300, 1, true}, {299, 2, true}, {100, 3, true}, {15, 20, true}, {14, 1, false}, {0, 1, false}} {
		o, said := newTree(t, nil)
		o.Train = []string{"true"}
		o.Afdo = filepath.Join(o.Tree, "afdo") // it is called with record --event steps -o FILE -- COMMAND
		script := "#!/bin/sh\nexec '" + cp + "' '" + filepath.Join(o.Tree, "recording") + "' \"$5\"\n"
		require.NoError(t, os.WriteFile(o.Afdo, []byte(script), 0o755))
		w, err := newTuning(o)
		require.NoError(t, err)
		require.NoError(t, w.claim())
		recording := recordingOf(addProgram(t, w.base), c.samples)
		require.NoError(t, os.WriteFile(filepath.Join(o.Tree, "recording"), recording, 0o600))
		require.NoError(t, w.train(t.Context(), Steps, "the machine has nothing better"))
		n, err := w.countSamples()
		require.NoError(t, err)
		assert.Equal(t, c.samples*c.runs, n, c.samples)
		assert.Equal(t, !c.enough, strings.Contains(said.String(), "let it run longer"), said)
	}
}

// A training that is too short for steps, and fails under callgrind, runs by steps as often as is
// allowed.
func TestTrainingFailsUnderCallgrind(t *testing.T) {
	cp := testenv.Tool(t, "cp")
	o, said := newTree(t, nil)
	o.Train, o.Afdo = []string{"true"}, filepath.Join(o.Tree, "afdo")
	require.NoError(t, os.WriteFile(o.Afdo, []byte("#!/bin/sh\nexec '"+cp+"' '"+filepath.Join(o.Tree, "recording")+"' \"$5\"\n"), 0o755))
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "valgrind"), []byte("#!/bin/sh\nexit 132\n"), 0o755))
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, w.claim())
	recording := recordingOf(addProgram(t, w.base), 10)
	require.NoError(t, os.WriteFile(filepath.Join(o.Tree, "recording"), recording, 0o600))
	require.NoError(t, w.train(t.Context(), Steps, "the machine has nothing better"))
	n, err := w.countSamples()
	require.NoError(t, err)
	assert.Equal(t, 10*maxTrainings, n)
	assert.Contains(t, said.String(), "the training fails under callgrind, and 20 runs by steps took 200 moments in the program of at least 300: let it run longer")
	recorder, why := w.usedRecorder()
	assert.Equal(t, Steps, recorder)
	assert.Equal(t, "the training fails under callgrind", why)
}

// A recording that the disk had no room for is no finished step: the next run trains again.
func TestRecordingsOnFullDisk(t *testing.T) {
	for _, text := range []string{"# callgrind format\nversion: 1\nevents: Ir\nfn=(1) f\n0x1 1 5\n", ""} {
		o, _ := newTree(t, nil)
		w, err := newTuning(o)
		require.NoError(t, err)
		require.NoError(t, w.claim())
		addProgram(t, w.base)
		require.NoError(t, os.MkdirAll(w.recordings(), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), "1.77"), []byte(text), 0o600))
		require.NoError(t, w.state.set(training, "done"))
		require.Error(t, w.createProfile(t.Context()))
		assert.Empty(t, w.state.Done[training], text)
	}
}

// A program that loads an installed library in place of the one that was built is refused.
func TestInstalledLibrary(t *testing.T) {
	w := &tuning{base: "/w/base"}
	built := []string{"tool", "lib/libtool.so.1.2", "libother.so"}
	const installed = "/usr/lib/libtool.so.1.0"
	for _, c := range []struct {
		samples map[string]uint64
		want    bool
	}{
		{map[string]uint64{"/w/base/tool": 5, installed: 90}, true},
		{map[string]uint64{"/w/base/tool": 90, installed: 5}, false},
		{map[string]uint64{"/w/base/tool": 5, "/w/base/lib/libtool.so.1.2": 90}, false},
		{map[string]uint64{"/w/base/tool": 5, "/usr/lib/libc.so.6": 90}, false},
		{map[string]uint64{"/w/base/tool": 5, "/usr/bin/tool": 90}, false},
		{map[string]uint64{installed: 90}, true},
	} {
		err := w.checkLibraries(built, c.samples)
		if !c.want {
			assert.NoError(t, err, c.samples)
			continue
		}
		require.ErrorIs(t, err, errCannotTune, c.samples)
		assert.ErrorContains(t, err, installed+", which is installed, and not lib/libtool.so.1.2 of the build")
		assert.ErrorContains(t, err, "--env LD_LIBRARY_PATH=lib")
	}
}

// A training that fails does not run again under another recorder.
func TestTrainingFails(t *testing.T) {
	o, said := newTree(t, nil)
	o.Train, o.Afdo = []string{"false"}, filepath.Join(o.Tree, "afdo")
	require.NoError(t, os.WriteFile(o.Afdo, []byte("#!/bin/sh\necho 'afdo: no samples in 5ms: the command failed with exit status 1' >&2\nexit 1\n"), 0o755))
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, w.claim())
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	require.ErrorContains(t, w.train(t.Context(), Steps, "the machine has nothing better"), "the command failed")
	assert.NotContains(t, said.String(), "training again")
	assert.NotContains(t, said.String(), "too short")
}
