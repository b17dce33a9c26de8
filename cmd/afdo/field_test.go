package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/look"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// fieldFile unpacks a file of testdata/field, a collection of inputs that caused bugs in other
// profiling tools, and returns its path.
func fieldFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "field", name+".gz"))
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	data, err = io.ReadAll(z)
	require.NoError(t, err)
	path := writeFile(t, name, data)
	require.NoError(t, os.Chmod(path, 0o777))
	return path
}

// fieldScript returns a recording as perf script prints it. If names is not set, the lines have no
// names of events.
func fieldScript(t *testing.T, name string, names bool) string {
	t.Helper()
	f, err := os.Open(fieldFile(t, name))
	require.NoError(t, err)
	defer f.Close()
	r, err := perfdata.NewReader(f)
	require.NoError(t, err)
	var text strings.Builder
	for record, err := range r.Records() {
		require.NoError(t, err)
		switch s := record.(type) {
		case *perfdata.Mmap:
			fmt.Fprintf(&text, "x %d 0.1: PERF_RECORD_MMAP2 %d/%d: [%#x(%#x) @ %#x 08:01 1 0]: r-xp %s\n", s.PID, s.PID, s.TID, s.Start, s.Length, s.PageOffset, s.Path)
		case *perfdata.Sample:
			event := ""
			if names {
				event = " 1 " + r.Events()[s.Event].Name() + ":"
			}
			fmt.Fprintf(&text, "x %d/%d 1.5:%s %16x", s.PID, s.TID, event, s.IP)
			for _, b := range s.Branches {
				fmt.Fprintf(&text, " %#x/%#x/P/-/-/0", b.From, b.To)
			}
			text.WriteString("\n")
		}
	}
	return writeFile(t, "script.txt", []byte(text.String()))
}

func TestCreateOfTheField(t *testing.T) {
	t.Parallel()
	const (
		refused = "the profile would not help: samples were only taken at these branches"
		missing = "of the ranges between two branches contradict the program"
	)
	text := func(s string) string { return writeFile(t, "recording", []byte(s)) }
	for name, c := range map[string]struct {
		binary, recording string
		flags             []string
		status            int
		said, profile     string
	}{
		"call stacks":               {"hot", fieldFile(t, "lbrcall.data"), nil, 0, "calls are of call stacks", "step:127:1"},
		"two events":                {"fault", fieldFile(t, "fault2.data"), nil, 0, "counts, and not page-faults", "compute:595:0"},
		"the other event":           {"fault", fieldFile(t, "fault2.data"), []string{"--event", "page-faults"}, 0, "does not count execution", "touch:10240:0"},
		"no such event":             {"fault", fieldFile(t, "fault2.data"), []string{"--event", "cycles"}, 1, "it has no cycles, but cpu-clock", ""},
		"two events with branches":  {"hot", fieldFile(t, "misses_b.data"), nil, 0, "the event cycles counts, and not branch-misses (900 samples)", "step:5500:1100"},
		"two events, text":          {"hot", fieldScript(t, "misses_b.data", true), nil, 0, "the event cycles counts, and not branch-misses (900 samples)", "step:5500:1100"},
		"pprof, bytes":              {"hot", fieldFile(t, "alloc.pb"), nil, 1, "none counts execution; its values are alloc_space (bytes)", ""},
		"pprof, bytes if asked for": {"hot", fieldFile(t, "alloc.pb"), []string{"--event", "alloc_space"}, 0, "does not count execution", ":"},
		"pprof, nine samples":       {"hot", fieldFile(t, "nanos.pb"), []string{"--min-samples", "0", "--allow-poor"}, 0, "9 samples, 9 in", ":"},
		"huge pages":                {"huge", fieldFile(t, "hugep.data"), nil, 0, "68 samples, 66 in", "loop:48:0"},
		"huge pages over the file":  {"hot", fieldFile(t, "hugepage_anon.txt"), nil, 0, "400 samples, 400 in", "step:15417:3200"},
		"conditional branches":      {"hot", fieldFile(t, "cond.data"), nil, 1, refused, ""},
		"calls":                     {"hot", fieldFile(t, "anycall.data"), nil, 1, refused, ""},
		"returns":                   {"hot", fieldFile(t, "anyret.data"), nil, 1, "its branch stacks have only some branches (any_ret)", ""},
		"conditional, text":         {"hot", fieldScript(t, "cond.data", false), nil, 1, missing, ""},
		"calls, text":               {"hot", fieldScript(t, "anycall.data", false), nil, 1, missing, ""},
		"returns, text":             {"hot", fieldScript(t, "anyret.data", false), nil, 1, missing, ""},
		"xz":                        {"hot", text("\xfd7zXZ\x00 and so on"), nil, 1, "it is compressed with xz: unpack it first; afdo reads gzip and zstd", ""},
		"cachegrind":                {"hot", text("desc: I1 cache:         32768 B\ncmd: ./hot\n"), nil, 1, "of cachegrind, which counts lines, not addresses: use valgrind --tool=callgrind", ""},
		"an empty main file":        {"hot", text(""), []string{"--profile", fieldFile(t, "misses_b.data")}, 0, "is empty, and left out", "step:5500:1100"},
		"only an empty file":        {"hot", text(""), nil, 1, "it is empty; with --separate-threads=yes", ""},
		"an event that perf names":  {"hot", text("hot 7/7 1.000001: 1 cpu/mem-loads,ldlat=30/P:     401010\n"), nil, 1, "none counts execution; it has cpu/mem-loads,ldlat=30/P (1 samples)", ""},
		"call chains without files": {"hot", text("hot 7/7 1.000001: cycles: \n\t    1010 f\n\t    1020 g\n"), nil, 1, "with -F ip,sym,dso if it prints call chains", ""},
		"BOLT's text":               {"hot", text("E branch-misses\nS 1210 50\n"), nil, 1, "none counts execution; it has branch-misses (50 samples)", ""},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"create", "--binary", fieldFile(t, c.binary), "--to", "sampletext", "-o", out, "--profile", c.recording}
		r := afdoRun(append(args, c.flags...)...)
		assert.Equal(t, c.status, r.status, "%s: %s", name, r.err)
		assert.Contains(t, r.err, c.said, name)
		data, err := os.ReadFile(out)
		assert.Equal(t, c.status == 0, err == nil, name)
		assert.Contains(t, string(data), c.profile, name)
	}
}

// TestEventOfTheField checks that create --json and show name the event whose samples are used.
func TestEventOfTheField(t *testing.T) {
	t.Parallel()
	recording := fieldFile(t, "misses_b.data")
	var facts look.RecordingFacts
	mustJSON(t, &facts, "show", recording, "--json")
	assert.Equal(t, "cycles", facts.Event)
	assert.Equal(t, []look.RecordedEvent{{Name: "cycles", Samples: 100, Counts: "execution"}, {Name: "branch-misses", Samples: 900, Counts: "something else"}}, facts.EventList)
	r := afdoRun("create", "--binary", fieldFile(t, "hot"), "--profile", recording, "--to", "v3", "-o", filepath.Join(t.TempDir(), "out"), "--json")
	assert.Contains(t, r.out, `"event": "cycles"`)
	assert.Contains(t, r.out, `"other_events": 900`)
}

// TestLLVMOfTheField checks that profiles of LLVM 24 are read by their flags, and that flags which
// afdo cannot use are refused.
func TestLLVMOfTheField(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	for name, c := range map[string]struct {
		args   []string
		status int
		said   string
	}{
		"search trees in version 103": {[]string{"show", fieldFile(t, "l24m.ext")}, 0, ""},
		"counters and coverage":       {[]string{"merge", "--to", "proftext", "-o", out, fieldFile(t, "cnt.profraw"), fieldFile(t, "cov.profraw")}, 1, "one of counters and one of single-byte coverage"},
		"two programs, show":          {[]string{"show", fieldFile(t, "memprof.profraw"), "--binary", "a", "--binary", "b"}, 2, "the flag is given twice"},
		"two programs, create":        {[]string{"create", "--binary", "a", "--binary", "b"}, 2, "the flag is given twice"},
	} {
		r := afdoRun(c.args...)
		assert.Equal(t, c.status, r.status, "%s: %s", name, r.err)
		assert.Contains(t, r.err, c.said, name)
	}
}
