package look

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/produce/verdict"
)

const showHelp = `Print what FILE is: its format and size, the sizes of its sections by kind, its
summary, and how many units, symbols, functions and location records it has.

The sections are those of version 4. For a file of another format they are what
"afdo convert --to v4" would make of it.

Of a recording, perf.data or the folder of perf record --threads, it prints how many
samples it has, whether they have branch stacks and how deep these are, what was lost,
and what that means for a profile.`

func NewShow(e *verb.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print header, sizes, summary and counts of a profile",
		Long:  showHelp,
		Args:  verb.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if shown, err := showIfRecording(e, args[0], asJSON); shown || err != nil {
				return err
			}
			return e.WithOverview(args[0], func(f *input.File, k kind.Kind, overview *gcovkind.Overview) error {
				if overview != nil {
					return overview.Show(&e.Env, f, asJSON)
				}
				return verb.Dispatch(e, "show", k, func(k kind.CanShow) error { return k.Show(&e.Env, f, asJSON) }, nil)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	e.AddKindFlags(cmd)
	return cmd
}

// RecordingFacts is what "afdo show" prints about a perf.data file. It includes an estimate of how
// good a profile "afdo create" could make of it.
type RecordingFacts struct {
	File         string          `json:"file"`
	Format       string          `json:"format"`
	Events       int             `json:"events"`
	Event        string          `json:"event"`
	BranchFilter string          `json:"branch_filter,omitempty"`
	EventList    []RecordedEvent `json:"event_list"`
	Samples      uint64          `json:"samples"`
	BranchStacks uint64          `json:"branch_stacks"`
	StackDepth   float64         `json:"stack_depth"`
	Lost         uint64          `json:"lost"`
	Throttled    uint64          `json:"throttled"`
	Processes    int             `json:"processes"`
	Duration     float64         `json:"duration"`
	CallStacks   uint64          `json:"call_stacks"`
	Moments      uint64          `json:"moments,omitempty"`
	Verdict      string          `json:"verdict"`
}

// A RecordedEvent is a perf event whose samples a recording contains.
type RecordedEvent struct {
	Name    string `json:"name"`
	Samples uint64 `json:"samples"`
	Counts  string `json:"counts"` // what the event counts: execution, something else or unknown
}

var countsNames = [...]string{samples.CountsUnknown: "unknown", samples.CountsExecution: "execution", samples.CountsOther: "something else"}

// survey reads a recording: a perf.data file, or a folder with one. It returns nil for other files.
// It also returns nil if the file cannot be opened, because the caller opens the file again and
// reports the error.
func survey(e *verb.Env, path string) (s *samples.Survey, err error) {
	if path == cli.Stdio {
		var found bool
		if found, e.In = isRecording(e.In); found {
			return samples.NewSurvey(e.In)
		}
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(path, "data")); err == nil {
		return samples.SurveyFolder(os.DirFS(path))
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	if found, _ := isRecording(f); found {
		return samples.NewSurvey(f)
	}
	return nil, nil
}

// isRecording reports whether a stream begins with the magic number of perf.data. The returned
// reader has all bytes of the stream, including those that isRecording has read.
func isRecording(in io.Reader) (bool, io.Reader) {
	const magic = 8
	if file, ok := in.(io.ReadSeeker); ok {
		if at, err := file.Seek(0, io.SeekCurrent); err == nil {
			head := make([]byte, magic)
			n, _ := io.ReadFull(file, head)
			_, err := file.Seek(at, io.SeekStart)
			return err == nil && perfdata.IsMagic(head[:n]), in
		}
	}
	buffer := bufio.NewReader(in)
	head, _ := buffer.Peek(magic)
	return perfdata.IsMagic(head), buffer
}

// showIfRecording prints the facts about a file if it is a recording, and reports whether it is
// one.
func showIfRecording(e *verb.Env, path string, json bool) (bool, error) {
	name := input.Name(path)
	s, err := survey(e, path)
	useless := errors.Is(err, samples.ErrNoEvent)
	switch {
	case err != nil && !useless:
		return true, fmt.Errorf("%s: %w", human.Name(name), err)
	case s == nil:
		return false, nil
	}
	facts := newRecordingFacts(name, s, useless)
	return true, output.Facts(e.Out, json, facts, facts.print)
}

// newRecordingFacts returns what "afdo show" prints about a recording. name is its path, and s is
// what reading it has found out. useless means that none of its events counts execution, so that no
// profile can be made of it without --event.
func newRecordingFacts(name string, s *samples.Survey, useless bool) *RecordingFacts {
	r := s.Report
	f := &RecordingFacts{
		File: name, Format: "perf.data", Events: s.Events, Event: r.Event, BranchFilter: r.Filter, EventList: []RecordedEvent{}, Samples: s.Samples,
		BranchStacks: r.Stacks, Lost: r.Lost, Throttled: s.Throttled, Processes: s.Processes, Duration: s.Duration.Seconds(), CallStacks: r.Chains, Moments: r.Bursts,
	}
	for _, e := range r.Events {
		f.EventList = append(f.EventList, RecordedEvent{e.Name, e.Samples, countsNames[e.Counts]})
	}
	if f.BranchStacks > 0 {
		f.StackDepth = float64(r.Branches) / float64(f.BranchStacks)
	}
	if f.Judge(r); useless && f.Samples > 0 {
		f.Event, f.Verdict = "", "nothing that counts execution: afdo create refuses it without --event"
	}
	return f
}

// Judge sets the verdict on how good a profile can be made of the recording. r has what is known
// about its samples. The verdict covers only what does not depend on the program.
func (f *RecordingFacts) Judge(r *samples.Report) {
	switch v := verdict.OfRecording(r); {
	case f.Samples == 0:
		f.Verdict = "no samples: no profile can be made of it"
	case v.Level != verdict.LevelGood:
		f.Verdict = v.Level.String() + ": " + strings.Join(v.Reasons, "; ")
	case f.BranchStacks == 0:
		f.Verdict = "no branch stacks: calls and head counts will be estimates, and hot code takes many samples"
	default:
		f.Verdict = "branch stacks: calls and head counts are known"
	}
}

func (f *RecordingFacts) print(w io.Writer) error {
	t := table.Table{Columns: "ll"}
	t.Row("File", human.Name(f.File))
	t.Row("Format", f.Format)
	t.Row("Events", human.Number(f.Events))
	for _, event := range f.EventList {
		counts := ", counts " + event.Counts
		if event.Name == f.Event {
			counts += ", used"
		}
		t.Row("Event "+human.Name(event.Name), human.Counted(event.Samples, "sample")+counts)
	}
	t.Row("Samples", human.Number(f.Samples))
	t.Row("With branch stacks", human.Number(f.BranchStacks))
	if f.BranchStacks > 0 {
		t.Row("Branches of a stack", fmt.Sprintf("%.1f", f.StackDepth))
	}
	t.Row("Lost records", human.Number(f.Lost))
	t.Row("Throttled", human.Number(f.Throttled))
	t.Row("Processes", human.Number(f.Processes))
	t.Row("Duration", fmt.Sprintf("%.1f s", f.Duration))
	t.Row("Quality", f.Verdict)
	_, err := fmt.Fprintln(w, t.Text(0)+"\nafdo create tells how many samples each instruction of a program has.")
	return err
}
