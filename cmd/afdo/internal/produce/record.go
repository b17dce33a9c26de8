package produce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/record"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/files"
)

const recordHelp = `Record where a program spends its time, for afdo create. It needs Linux, and no perf:

  afdo record -o perf.data -- ./prog args
  afdo create --binary prog --profile perf.data -o prog.afdo

What is recorded is a command and all that it starts, a process (--pid) with its
threads, or all processes (--all-cpus, with the right to do so). A recording of a
command ends with it, any other after --duration or on Ctrl-C. A command that still runs
then gets SIGTERM. Code of the kernel is not sampled.

Samples have branch stacks where the processor records branches. Most virtual machines
and older processors do not record any. There, --event steps is used: it stops one thread
at a time for less than a millisecond, simulates the instructions that the thread is
about to execute, and writes the same branch stacks. A line says so. --overhead limits
the time for which threads are stopped. Where steps are not possible either, cycles or
time are sampled, which makes much poorer profiles. --event asks for one of these, and fails if it is not available.

--event steps needs Linux on x86-64 or arm64. For --pid, it needs the permission to
trace the process (/proc/sys/kernel/yama/ptrace_scope). It cannot record all processes.
While it runs, no debugger can attach to the program.

The file is a perf.data that perf report and perf script read as well. It appears whole
or not at all, and one without a sample is not written. With -o -, the recording is a
stream for "afdo create --profile -", and the command's standard output goes to standard
error, as it does with --json.

The exit status is the command's: 128 and the number of a signal that ended it. It is 0
if that was the SIGTERM of the end of the recording.`

// A recording contains the flags of the verb record.
type recording struct {
	out      string
	target   record.Target
	options  record.Options
	duration time.Duration
	overhead verb.Share
	json     bool
}

// recordEvents are the words of --event.
var recordEvents = []verb.Choice[record.Event]{
	{Word: "best", Meaning: record.Best}, {Word: "branches", Meaning: record.Branches}, {Word: "cycles", Meaning: record.Cycles}, {Word: "cpu-clock", Meaning: record.Clock}, {Word: "steps", Meaning: record.Steps},
}

// RecordFacts is the JSON report of "afdo record".
type RecordFacts struct {
	Event        string  `json:"event"`
	BranchStacks bool    `json:"branch_stacks"`
	Samples      uint64  `json:"samples"`
	Lost         uint64  `json:"lost"`
	Throttled    uint64  `json:"throttled"`
	Duration     float64 `json:"duration"`
	Stopped      float64 `json:"stopped,omitempty"`
	Longest      float64 `json:"longest_stop,omitempty"`
	Output       string  `json:"output"`
	ExitStatus   *int    `json:"exit_status,omitempty"`
	Broken       string  `json:"broken,omitempty"`
}

func NewRecord(e *verb.Env) *cobra.Command {
	var c recording
	cmd := &cobra.Command{
		Use:   "record [-o OUT] [--pid PID | --all-cpus | -- COMMAND ARGS...]",
		Short: "Record samples of a command, a process or the machine",
		Long:  recordHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.target.Command = args
			if err := c.check(); err != nil {
				return err
			}
			return runRecord(cmd.Context(), e, &c)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the command's flags are its own
	f.StringVarP(&c.out, "output", "o", usualRecording, `file to write, "-" for a stream on standard output`)
	f.IntVarP(&c.target.PID, "pid", "p", 0, "record a process that runs")
	f.BoolVarP(&c.target.Machine, "all-cpus", "a", false, "record all processes")
	verb.AddChoice(cmd, &c.options.Event, "event", "e", "what to sample", recordEvents...)
	f.Uint64VarP(&c.options.Frequency, "freq", "F", record.DefaultFrequency, "samples a second, on each processor")
	f.Uint64VarP(&c.options.Period, "count", "c", 0, "events from one sample to the next, instead of a frequency")
	c.overhead = 0.05
	f.Var(&c.overhead, "overhead", "share of the time for which steps may stop the program")
	f.DurationVar(&c.duration, "duration", 0, "end after this time, such as 10s or 5m")
	f.BoolVar(&c.json, "json", false, "report on the recording as JSON on standard output")
	cmd.MarkFlagsMutuallyExclusive("freq", "count")
	return cmd
}

// check returns an error for flags that contradict each other or are out of range.
func (c *recording) check() error {
	targets := 0
	for _, there := range []bool{len(c.target.Command) > 0, c.target.PID != 0, c.target.Machine} {
		if there {
			targets++
		}
	}
	switch {
	case targets == 0:
		return cli.Missing("argument COMMAND, or flag --pid or --all-cpus")
	case targets > 1:
		return cli.Usagef("want only one of a command after --, --pid and --all-cpus")
	case c.target.PID < 0:
		return cli.Usagef("--pid %d is no process", c.target.PID)
	case c.duration < 0:
		return cli.Usagef("--duration %v is no time to record", c.duration)
	case c.options.Frequency == 0:
		return cli.Usagef("--freq 0 gives no samples")
	case c.json && c.out == cli.Stdio:
		return cli.Usagef("--json writes to standard output: name a file for the recording with -o")
	}
	c.options.Overhead = float64(c.overhead)
	return nil
}

// runRecord records the run of a program, writes the recording, and prints a report.
func runRecord(ctx context.Context, e *verb.Env, c *recording) error {
	if c.out == cli.Stdio && cli.IsTerminal(e.Out) {
		return cli.Usagef("a recording is not for a terminal: use -o FILE")
	}
	c.options.Stdin, c.options.Stdout, c.options.Stderr = e.In, e.Out, e.Err
	if c.json || c.out == cli.Stdio {
		c.options.Stdout = e.Err
	}
	r, err := record.Open(c.target, c.options)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, text := range r.Warnings() {
		e.Warnf("%s", text)
	}
	report, err := runRecorder(ctx, e, c, r)
	if err != nil {
		return err
	}
	return tellRecording(e, c, r.Event(), report)
}

// runRecorder records the run of a program. It writes the recording to a file or, to standard
// output, as a stream.
func runRecorder(ctx context.Context, e *verb.Env, c *recording, r *record.Recorder) (*record.Report, error) {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	if c.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.duration)
		defer cancel()
	}
	if c.out == cli.Stdio {
		return streamRecording(ctx, e.Out, r)
	}
	spool, err := spoolFor(c.out)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	buffer := bufio.NewWriterSize(spool, 1<<20)
	report, err := r.Run(ctx, buffer)
	if err != nil || report.Samples == 0 {
		return report, aboutSpool("write", c.out, err)
	}
	stop() // from here on, a signal ends this process as any other
	if err := buffer.Flush(); err != nil {
		return nil, aboutSpool("write", c.out, err)
	}
	return report, writeRecording(e, c, r, spool)
}

// spoolName is the beginning of the name of a temporary file. The file holds the records of a
// recording until the recording ends and is written.
const spoolName = ".afdo-record-"

// aboutSpool converts an error about the temporary file of a recording to one that names the
// recording, because that is the path that the user has given. op is the operation that failed.
func aboutSpool(op, path string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) && strings.Contains(at.Path, spoolName) {
		return &fs.PathError{Op: op, Path: path, Err: at.Err}
	}
	return err
}

// spoolFor returns a temporary file for the records of a recording. Errors about it name path, the
// path of the recording. The records cannot be written to the recording at once, because its header
// comes first and contains their size.
func spoolFor(path string) (files.Temp, error) {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return files.Temp{}, &fs.PathError{Op: "create", Path: path, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular(): // such as /dev/stdout
		folder = ""
	}
	spool, err := files.CreateTemp(folder, spoolName+"*.tmp")
	return spool, aboutSpool("create", path, err)
}

// streamRecording records and writes perf's pipe format to w, which needs no temporary file.
func streamRecording(ctx context.Context, w io.Writer, r *record.Recorder) (*record.Report, error) {
	buffer := bufio.NewWriterSize(w, 1<<16)
	if err := r.WriteHead(buffer); err != nil {
		return nil, err
	}
	report, err := r.Run(ctx, buffer)
	if err != nil {
		return nil, err
	}
	return report, buffer.Flush()
}

// writeRecording writes the recording. Its records come from spool, the temporary file that was
// written while the program ran.
func writeRecording(e *verb.Env, c *recording, r *record.Recorder, spool io.ReadSeeker) error {
	size, err := spool.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return output.Write(e.Out, c.out, func(w io.Writer) error { return r.WriteFile(w, spool, size) })
}

// tellRecording prints what was recorded, such as the number of samples. It returns the exit status
// of afdo as an error, unless that is 0. This is the exit status of the recorded command or, if
// there are no samples, 1.
func tellRecording(e *verb.Env, c *recording, event string, r *record.Report) error {
	status := r.ExitStatus
	if r.Ended && status == 128+int(syscall.SIGTERM) {
		status = cli.StatusDone
	}
	warnOfRecording(e, c, r)
	if r.Samples == 0 && status == cli.StatusDone {
		status = cli.StatusFault
	}
	if r.Samples > 0 {
		facts := RecordFacts{
			Event: event, BranchStacks: r.Stacks > 0, Samples: r.Samples, Lost: r.Lost, Throttled: r.Throttled,
			Duration: r.Duration.Seconds(), Stopped: r.Stopped.Seconds(), Longest: r.Longest.Seconds(), Output: c.out,
		}
		if len(c.target.Command) > 0 {
			facts.ExitStatus = &r.ExitStatus
		}
		if r.Broken != nil {
			facts.Broken = r.Broken.Error()
		}
		if err := facts.tell(e, c); err != nil {
			return err
		}
	}
	if status != cli.StatusDone {
		return cli.StatusError(status)
	}
	return nil
}

// warnOfRecording prints warnings about a recording, for example that it has too few samples.
func warnOfRecording(e *verb.Env, c *recording, r *record.Report) {
	if r.Samples == 0 {
		nothing := ", nothing is written"
		if c.out == cli.Stdio { // where the head of a stream is
			nothing = ""
		}
		why := "what was recorded took no processor time, or too little: record at least 10 s of work, or under valgrind --tool=callgrind --dump-instr=yes, which counts every instruction"
		switch {
		case r.Broken != nil:
			why = r.Broken.Error()
		case r.ExitStatus != 0 && !r.Ended:
			why = fmt.Sprintf("the command failed with exit status %d", r.ExitStatus)
			if r.Stopped > 0 { // by steps
				why += "; if it traces other programs, as debuggers do, record it with --event cpu-clock"
			}
		}
		e.Warnf("no samples in %v%s: %s", r.Duration.Round(time.Millisecond), nothing, why)
	}
	if r.Broken != nil && r.Samples > 0 {
		e.Warnf("the recording ended after %.1f s, before the program; what was recorded is kept: %v", r.Duration.Seconds(), r.Broken)
	}
	if r.Lost > 0 {
		e.Warnf("%s lost, for which there was no room: lower --freq", human.Counted(r.Lost, "record"))
	}
	if r.Throttled > 0 {
		e.Warnf("the kernel stopped the event %s for a moment, since samples took too much time: lower --freq", human.Counted(r.Throttled, "time"))
	}
}

// tell prints the facts in one line, or as JSON.
func (f *RecordFacts) tell(e *verb.Env, c *recording) error {
	if c.json {
		return output.JSON(e.Out, f)
	}
	stacks := "without branch stacks"
	if f.BranchStacks {
		stacks = "with branch stacks"
	}
	to := human.Name(f.Output)
	if f.Output == cli.Stdio {
		to = "standard output"
	}
	e.Warnf("%s of %s in %.1f s, %s: %s", human.Counted(f.Samples, "sample"), f.Event, f.Duration, stacks, to)
	if f.Stopped > 0 {
		e.Warnf("the recording stopped the program for %.2f s in all, %.1f%% of the time, and for %.1f ms at most at once", f.Stopped, 100*f.Stopped/f.Duration, 1e3*f.Longest)
	}
	return nil
}
