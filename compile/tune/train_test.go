package tune

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// recordingOf returns a perf.data with a number of samples.
func recordingOf(samples int) []byte {
	records := []any{&perfdata.Comm{PID: 1, TID: 1, Name: "prog"}}
	for range samples {
		records = append(records, &perfdata.Sample{PID: 1, TID: 1, IP: 4100})
	}
	return (&perfgen.File{Events: []perfgen.Event{{SampleType: perfgen.IP | perfgen.TID}}, Records: records}).Bytes()
}

// The samples of all recordings count, and a file that is no recording is an error.
func TestCountSamples(t *testing.T) {
	w := &tuning{Options: Options{Folder: t.TempDir()}}
	require.NoError(t, os.Mkdir(w.recordings(), 0o700))
	n, err := w.countSamples()
	require.NoError(t, err)
	assert.Zero(t, n)
	file := recordingOf(2)
	for _, name := range []string{"1", "2"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), name), file, 0o600))
	}
	n, err = w.countSamples()
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), "3"), []byte("text"), 0o600))
	_, err = w.countSamples()
	assert.ErrorContains(t, err, filepath.Join("recordings", "3"))
}

// A training that is too short for steps runs again until there are enough samples, unless too many
// runs would be needed.
func TestTrainMore(t *testing.T) {
	cp := testenv.Tool(t, "cp")
	for _, c := range []struct {
		samples, runs int // samples of one run, and the number of runs
		enough        bool
	}{{300, 1, true}, {299, 2, true}, {100, 3, true}, {15, 20, true}, {14, 1, false}, {0, 1, false}} {
		o, said := newTree(t, map[string]string{"recording": string(recordingOf(c.samples))})
		o.Train = []string{"true"}
		o.Afdo = filepath.Join(o.Tree, "afdo") // it is called with record --event steps -o FILE -- COMMAND
		script := "#!/bin/sh\nexec '" + cp + "' '" + filepath.Join(o.Tree, "recording") + "' \"$5\"\n"
		require.NoError(t, os.WriteFile(o.Afdo, []byte(script), 0o755))
		w, err := newTuning(o)
		require.NoError(t, err)
		require.NoError(t, w.claim())
		require.NoError(t, os.MkdirAll(w.base, 0o700))
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
	o, said := newTree(t, map[string]string{"recording": string(recordingOf(10))})
	o.Train, o.Afdo = []string{"true"}, filepath.Join(o.Tree, "afdo")
	require.NoError(t, os.WriteFile(o.Afdo, []byte("#!/bin/sh\nexec '"+cp+"' '"+filepath.Join(o.Tree, "recording")+"' \"$5\"\n"), 0o755))
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "valgrind"), []byte("#!/bin/sh\nexit 132\n"), 0o755))
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, w.claim())
	require.NoError(t, os.MkdirAll(w.base, 0o700))
	require.NoError(t, w.train(t.Context(), Steps, "the machine has nothing better"))
	n, err := w.countSamples()
	require.NoError(t, err)
	assert.Equal(t, 10*maxTrainings, n)
	assert.Contains(t, said.String(), "the training fails under callgrind, and 20 runs by steps took 200 samples of at least 300: let it run longer")
	recorder, why, err := w.usedRecorder()
	require.NoError(t, err)
	assert.Equal(t, Steps, recorder)
	assert.Equal(t, "the training fails under callgrind", why)
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
		require.ErrorIs(t, err, ErrCannotTune, c.samples)
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
