// Package steps records branches in software, by stopping one thread for a moment, mostly less
// than a millisecond, and simulating what it is about to execute.
//
// A tracer is a process of its own: the binary of the caller, executed again. It traces the threads
// with ptrace and lets them run freely. At random moments it stops one running thread. It copies
// the registers of the thread and the memory that is used, and simulates the next few thousand
// instructions on the copy. This is a burst. Then the thread runs on and executes the same
// instructions by itself. The tracer never changes a thread, so the death of the tracer lets all
// threads run.
//
// The tracer ends its burst and detaches as soon as its caller has closed its end of the control
// pipe. The kernel closes it if the caller is killed.
package steps

import (
	"errors"
	"time"
)

var (
	// ErrUnsupported: this system or processor is not supported.
	ErrUnsupported = errors.New("recording by steps needs Linux on x86-64 or arm64")

	// ErrNoHelper: the program has not called RunHelper.
	ErrNoHelper = errors.New("the program does not call record.RunHelper at the start of its main, as recording by steps needs")

	// ErrTraced: another tracer, such as a debugger, is attached to the process.
	ErrTraced = errors.New("another tracer is attached")

	// ErrNotPermitted: the kernel does not permit tracing the process.
	ErrNotPermitted = errors.New("the kernel does not permit tracing")
)

// Defaults and limits of a [Config].
const (
	// DefaultOverhead is the share of the program's time for which threads may be stopped.
	DefaultOverhead = 0.05

	// DefaultLength is the length of a burst, in halves of a cycle as the simulation estimates
	// them. That is about the number of its instructions. On arm64 it is their number. A long burst
	// costs more and shows the same code again; a short one spends its time on stopping the thread,
	// which takes as long as simulating 1,000 to 3,000 instructions. When a burst was a number of
	// instructions, profiles of lua5.4 at 5 % and 20 s had a similarity of 0.88 with 300, 0.91 with
	// 1,000, 0.92 with 3,000, 0.91 with 10,000 and 0.90 with 30,000.
	DefaultLength = 3000
)

// A Config contains the settings of a recording.
type Config struct {
	Overhead float64 // share of the running time, between 0 and 1; 0 means DefaultOverhead
	Length   int     // of a burst, in the unit of DefaultLength; 0 means DefaultLength
}

// Stats describe what a tracer has done. The recording contains them as JSON. Package samples reads
// the JSON into its type Effort, so names of fields must stay the same.
type Stats struct {
	Moments     uint64        // moments at which a thread ran
	Missed      uint64        // those at which it was not stopped: it waited or moved, ended, or must not be stopped
	Unsampled   uint64        // those of Missed of threads that have no sample at all
	Threads     uint64        // threads of the program
	Sampled     uint64        // those that have a sample
	Budget      time.Duration // time for which threads might have been stopped: a share of the time in which a thread ran
	Bursts      uint64        // bursts that could start
	Stops       uint64        // times that a thread was stopped for a burst
	Dropped     uint64        // stops without a sample: in the kernel, or far from code to record
	Wanted      uint64        // sum of the lengths that bursts were to have, up to system calls
	Simulated   uint64        // sum of the lengths that they had
	Stopped     time.Duration // sum of the lengths of all bursts, plus an estimate for other stops
	Longest     time.Duration // the longest burst
	LongestWork time.Duration // the most processor time that a burst needed
}
