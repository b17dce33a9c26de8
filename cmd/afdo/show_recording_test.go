package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/look"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// tinyRecording returns a recording with three samples of two processes, within half a second. Two
// of the samples have stacks of two branches.
func tinyRecording() *perfgen.File {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time | perfgen.BranchStack, SampleIDAll: true}
	branches := []perfdata.Branch{{From: 4120, To: 4096}, {From: 4110, To: 4100}}
	return &perfgen.File{Events: []perfgen.Event{event}, Records: []any{
		&perfdata.Sample{PID: 1, TID: 1, Time: 1e9, IP: 4100, Branches: branches},
		&perfdata.Sample{PID: 2, TID: 2, Time: 1.5e9, IP: 4100, Branches: branches},
		&perfdata.Sample{PID: 2, TID: 2, Time: 1.2e9, IP: 4100},
	}}
}

func TestShowRecordingJSON(t *testing.T) {
	file := tinyRecording()
	path := writeFile(t, "perf.data", file.Bytes())
	var facts look.RecordingFacts
	mustJSON(t, &facts, "show", path, "--json")
	want := look.RecordingFacts{
		File: path, Format: "perf.data", Events: 1, Event: "cycles", EventList: []look.RecordedEvent{{Name: "cycles", Samples: 3, Counts: "execution"}}, Samples: 3, BranchStacks: 2, StackDepth: 2, Processes: 2, Duration: 0.5,
		Verdict: "branch stacks: calls and head counts are known",
	}
	assert.Equal(t, want, facts)

	file.Pipe = true
	r := afdoWith(bytes.NewReader(file.Bytes()), "show", "-")
	assert.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.out, "File                 standard input\n")
	assert.Contains(t, r.out, "Branches of a stack  2.0\n")

	folder := t.TempDir()
	file.Pipe, file.Layout, file.Parts, file.Records = false, 1, [][]any{file.Records}, []any{perfgen.Round{}}
	for name, data := range file.Folder() {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	mustJSON(t, &facts, "show", folder, "--json")
	want.File = folder
	assert.Equal(t, want, facts)
}

// TestShowBadRecording checks that show reports where a recording is damaged, and that an empty
// file is reported as empty.
func TestShowBadRecording(t *testing.T) {
	data := tinyRecording().Bytes()
	for name, c := range map[string]struct {
		in  []byte
		err string
	}{
		"cut":     {data[:len(data)-60], "perf.data: at offset"},
		"a head":  {data[:40], "perf.data: at offset"},
		"nothing": {nil, "it is empty"},
	} {
		path := writeFile(t, "file", c.in)
		for _, r := range []result{afdoRun("show", path), afdoWith(bytes.NewReader(c.in), "show", "-")} {
			assert.Equal(t, 1, r.status, name)
			assert.Empty(t, r.out, name)
			assert.Contains(t, r.err, c.err, name)
		}
	}
}

func TestRecordingVerdict(t *testing.T) {
	for verdict, r := range map[string]samples.Report{
		"no samples":                         {},
		"thin: 20.00% of the records":        {Samples: 80, Stacks: 80, Lost: 20},
		"no branch":                          {Samples: 80},
		"branch stack":                       {Samples: 80, Stacks: 80, Lost: 2},
		"thin: the recording by steps has 9": {Samples: 90, Stacks: 90, Bursts: 90},
	} {
		f := look.RecordingFacts{Samples: r.Samples, BranchStacks: r.Stacks}
		f.Judge(&r)
		assert.Contains(t, f.Verdict, verdict)
	}
}
