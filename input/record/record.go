// Package record samples running programs with Linux's perf_event_open. It does the same as perf
// record, without needing perf.
//
//	r, err := record.Open(record.Target{Command: []string{"./prog"}}, record.Options{})
//	if err != nil { ... }
//	defer r.Close()
//	report, err := r.Run(ctx, &records) // until the program or ctx ends
//	err = r.WriteFile(out, &records, size)
//
// If the processor can record branches, samples have branch stacks: Intel's LBR, AMD's BRS and
// LbrExtV2, or Arm's BRBE. Records from the kernel's ring buffers are written by
// a writer that checks each record. On systems other than Linux, [Open] returns an error.
//
// Where the processor records no branches, [Steps] records branch stacks in software. A process of
// its own, the caller's binary started again, traces the program with ptrace, and follows one
// thread at a time for a few thousand instructions. So a program that records by Steps has to call
// [RunHelper] at the start of main.
package record

import (
	"errors"
	"io"
	"time"

	"github.com/go-afdo/afdo/input/record/internal/steps"
)

// Errors of [Open] and [Recorder.Run], in addition to those of the system.
var (
	// errTarget: the target is empty or ambiguous.
	errTarget = errors.New("the target is a command, a process or the machine")

	// ErrEvent: none of the allowed events can be sampled here.
	ErrEvent = errors.New("nothing can be sampled here")

	// ErrTraced: the process cannot be recorded by steps because a debugger is attached to it.
	ErrTraced = steps.ErrTraced

	// ErrNotPermitted: the kernel does not permit recording the process by steps.
	ErrNotPermitted = steps.ErrNotPermitted

	// errRing: the data in the kernel's ring buffer is invalid.
	errRing = errors.New("bad ring buffer")
)

// RunHelper makes this process a helper of a recording by [Steps] if it was started as one. Then it
// does not return. Otherwise it does nothing but allow Steps: [Open] starts the running program
// again, and refuses Steps in a program that has not called RunHelper. Call it first in main.
func RunHelper() { steps.RunHelper() }

// A Target is what to sample: exactly one of a command, a process and the whole machine. Only user
// code is sampled, not the kernel.
type Target struct {
	// Command is a program and its arguments. [Recorder.Run] starts it. Processes that it starts
	// are sampled as well.
	Command []string

	// PID is a process, which is sampled with all its threads and the processes that it starts from
	// then on.
	PID int

	// Machine means all processes. This requires CAP_PERFMON, or a value of at most 0 in
	// /proc/sys/kernel/perf_event_paranoid.
	Machine bool
}

// check returns an error unless the target is exactly one of a command, a process and the machine.
func (t *Target) check() error {
	n := 0
	for _, there := range []bool{len(t.Command) > 0, t.PID > 0, t.Machine} {
		if there {
			n++
		}
	}
	if n != 1 {
		return errTarget
	}
	return nil
}

// An Event is a kind of event that triggers samples.
type Event int

const (
	// Best is the first of Branches, Steps, Cycles and Clock that works on this machine.
	Best Event = iota
	// Branches samples by branches or cycles, with a branch stack.
	Branches
	// Cycles samples by processor cycles, without branches.
	Cycles
	// Clock samples by a timer. It works everywhere, but sampled addresses may be a few
	// instructions late.
	Clock
	// Steps stops one thread at a time and follows it for a few thousand instructions. Samples
	// have a branch stack. It needs Linux on x86-64 or arm64, [RunHelper] and the permission to
	// trace the process, and cannot record the whole machine.
	Steps
)

// DefaultOverhead is the share of the program's time that [Steps] may take.
const DefaultOverhead = steps.DefaultOverhead

// DefaultFrequency is the number of samples per second on each busy processor. It is not a round
// number, to avoid synchronising with periodic behaviour of the program.
const DefaultFrequency = 3999

// Options configure sampling. The zero Options take the best event, [DefaultFrequency] times per
// second.
type Options struct {
	Event     Event
	Frequency uint64 // samples per second; 0 means the default, unless Period is set
	Period    uint64 // number of events between samples, used instead of a frequency

	// Overhead is the share of the program's time for which Steps may stop it, above 0 and at most
	// 1; 0 means [DefaultOverhead].
	Overhead float64

	// Stdin, Stdout and Stderr are those of the target's command.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// A Report describes a finished recording, such as the number of samples and the exit status of the
// command.
type Report struct {
	Samples    uint64
	Stacks     uint64 // samples with a branch stack
	Lost       uint64 // records lost because a buffer was full
	Throttled  uint64 // number of times that the kernel paused the event
	Duration   time.Duration
	Stopped    time.Duration // time for which Steps has stopped a thread
	Longest    time.Duration // longest time for which Steps has stopped a thread
	ExitStatus int           // exit status of the command; 128 plus the signal's number if a signal ended it
	Ended      bool          // the command was stopped because the recording ended
	Broken     error         // why Steps ended before the program; nil if they did not, or if the caller ended them
}
