// Package record samples running programs with Linux's perf_event_open, as perf record does, and
// without perf.
//
//	r, err := record.Open(record.Target{Command: []string{"./prog"}}, record.Options{})
//	if err != nil { ... }
//	defer r.Close()
//	report, err := r.Run(ctx, &records) // until the program ends, or ctx
//	head := r.Head()
//	err = head.WriteFile(out, &records, size)
//
// Where the processor records branches, samples have branch stacks: of Intel's LBR, AMD's BRS and
// LbrExtV2, Arm's BRBE. What the rings of the kernel hold goes through [perfdata.Writer], which
// checks each record. On other systems than Linux, [Open] returns [ErrSystem].
package record

import (
	"errors"
	"io"
	"time"
)

// Errors of [Open] and [Recorder.Run], beside those of the system.
var (
	// ErrSystem: this system is not Linux.
	ErrSystem = errors.New("only Linux records samples this way")

	// ErrTarget: there is nothing to record, or more than one thing.
	ErrTarget = errors.New("the target is a command, a process or the machine")

	// ErrEvent: no event that would do can be sampled here.
	ErrEvent = errors.New("nothing can be sampled here")

	// ErrRing: what the kernel shares with this process makes no sense.
	ErrRing = errors.New("bad ring buffer")
)

// A Target is what is sampled: one of a command, a process and the machine. Only code of programs
// is, not the kernel's.
type Target struct {
	// Command is a program and its arguments. It is started by [Recorder.Run], and what it starts
	// is sampled as well.
	Command []string

	// PID is a process, with all its threads and what they start from then on.
	PID int

	// Machine is all processes. It needs CAP_PERFMON, or 0 or less in
	// /proc/sys/kernel/perf_event_paranoid.
	Machine bool
}

// check makes sure that there is one target.
func (t *Target) check() error {
	n := 0
	for _, there := range []bool{len(t.Command) > 0, t.PID > 0, t.Machine} {
		if there {
			n++
		}
	}
	if n != 1 {
		return ErrTarget
	}
	return nil
}

// An Event is what makes a sample.
type Event int

const (
	// Best is the first of the others that works here.
	Best Event = iota
	// Branches is every so many branches or cycles, with the branch stack.
	Branches
	// Cycles is every so many cycles of the processor, without branches.
	Cycles
	// Clock is every so many nanoseconds, of a timer. It works everywhere, and an address that it
	// samples may be some instructions late.
	Clock
)

// DefaultFrequency is how many samples there are a second, on each processor that is busy. It is no
// round number, so as not to keep step with what a program does.
const DefaultFrequency = 3999

// Options say how to sample. The zero value takes the best event, [DefaultFrequency] times a
// second.
type Options struct {
	Event     Event
	Frequency uint64 // samples a second; 0 for the default, unless Period is given
	Period    uint64 // events from one sample to the next, instead of a frequency

	// Of the command.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// A Report tells how a recording went.
type Report struct {
	Samples    uint64
	Stacks     uint64 // samples that have a branch stack
	Lost       uint64 // records for which there was no room
	Throttled  uint64 // how often the kernel stopped the event
	Duration   time.Duration
	ExitStatus int  // of the command: 128 and the signal's number if one ended it
	Ended      bool // the command was ended, because the recording was
}
