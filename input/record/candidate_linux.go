package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A candidate is an event that the kernel may be able to sample.
type candidate struct {
	event     Event
	name      string // name of the event in perf
	kind      uint32
	config    uint64
	precise   uint64 // precision of addresses: 3 means exact, 0 a few instructions late
	needsFile string // file of the kernel without which the event does not exist
	period    uint64 // sampling period that the event needs instead of a frequency, 0 if none
}

const brsEvent = "/sys/bus/event_source/devices/cpu/events/branch-brs"

// candidates lists the events, best first. For branch stacks, sampling by branches is best:
// sampling by cycles over-represents slow code. AMD's Zen 3 supports branch stacks only with its
// own event and a fixed period.
var candidates = []candidate{
	{event: Branches, name: "branches:u", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{event: Branches, name: "cycles:u", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES},
	{event: Branches, name: "branch-brs:u", kind: unix.PERF_TYPE_RAW, config: 0xc4, needsFile: brsEvent, period: 1_000_003},
	{event: Cycles, name: "cycles:uppp", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES, precise: 3},
	{event: Cycles, name: "cycles:upp", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES, precise: 2},
	{event: Cycles, name: "cycles:up", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES, precise: 1},
	{event: Cycles, name: "cycles:u", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES},
	{event: Clock, name: "cpu-clock:u", kind: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_CPU_CLOCK},
}

// mayExist reports whether the event of a candidate may exist on this machine. Some events are
// described by a file below /sys and exist only if the kernel has that file. All others may exist.
func (c *candidate) mayExist() bool {
	if c.needsFile == "" {
		return true
	}
	_, err := os.Stat(c.needsFile)
	return err == nil
}

// allowed returns the candidates for an event that may exist on this machine, best first.
func allowed(event Event) []candidate {
	return slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool {
		return event != Best && event != c.event || !c.mayExist()
	})
}

// Bits set in the perf_event_attr of every event, and the bit that requests build IDs in records of
// mappings, which Linux supports since 5.12.
const (
	always = unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv |
		unix.PerfBitExcludeGuest | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec |
		unix.PerfBitTask | unix.PerfBitSampleIDAll | unix.PerfBitWatermark
	withBuildIDs = unix.CBitFieldMaskBit34
)

// attr returns the perf_event_attr, the kernel's description of an event, with which the candidate
// is opened. With onExec, sampling starts when the thread executes a program.
func (c *candidate) attr(o *Options, onExec bool) unix.PerfEventAttr {
	a := unix.PerfEventAttr{
		Type: c.kind, Config: c.config, Bits: always | withBuildIDs, Wakeup: ringSize / 4,
		Sample_type: unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_PERIOD,
	}
	a.Size = uint32(binary.Size(a))
	if c.event == Branches {
		a.Sample_type |= unix.PERF_SAMPLE_BRANCH_STACK
		a.Branch_sample_type = unix.PERF_SAMPLE_BRANCH_ANY | unix.PERF_SAMPLE_BRANCH_USER
	}
	if c.precise&1 != 0 {
		a.Bits |= unix.PerfBitPreciseIPBit1
	}
	if c.precise&2 != 0 {
		a.Bits |= unix.PerfBitPreciseIPBit2
	}
	if onExec {
		a.Bits |= unix.PerfBitEnableOnExec
	}
	switch {
	case o.Period != 0:
		a.Sample = o.Period
	case c.period != 0:
		a.Sample = c.period
	default:
		a.Sample = o.Frequency
		a.Bits |= unix.PerfBitFreq
	}
	return a
}

// encode encodes a perf_event_attr as perf.data stores it, in the byte order of this machine.
func encode(a *unix.PerfEventAttr) ([]byte, error) {
	return binary.Append(nil, binary.NativeEndian, a)
}

// choose finds the best candidate for an event that the kernel can sample for a thread on a
// processor.
func (r *Recorder) choose(event Event, thread, cpu int) error {
	failure := error(unix.ENOENT)
	for _, c := range allowed(event) {
		a := c.attr(&r.options, len(r.target.Command) > 0)
		for _, bits := range []uint64{a.Bits, a.Bits &^ withBuildIDs} {
			a.Bits = bits
			fd, err := open(&a, thread, cpu)
			if err == nil {
				r.candidate, r.attr = c, a
				return unix.Close(fd)
			}
			if !errors.Is(failure, unix.EACCES) && !errors.Is(failure, unix.EPERM) {
				failure = err // the last error; a permission error is the most helpful
			}
		}
	}
	return r.explain(failure)
}

// open opens an event for a thread on a processor. Thread 0 is the current thread, -1 means all.
func open(a *unix.PerfEventAttr, thread, cpu int) (int, error) {
	return unix.PerfEventOpen(a, thread, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// explain adds advice to an error of perf_event_open, for example to change a setting of the
// kernel.
func (r *Recorder) explain(err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("record: no process %d: %w", r.target.PID, err)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("record: every thread needs an open file for each processor, which are too many (ulimit -n): %w", err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		const rule = "programs of one's own need 2 or less there, the machine and programs of others 0 or less, or CAP_PERFMON; containers may forbid perf_event_open altogether"
		paranoid, _ := setting("perf_event_paranoid")
		return fmt.Errorf("record: the kernel does not allow it (perf_event_paranoid is %d: %s): %w", paranoid, rule, err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("record: %w: the kernel was built without perf_event_open: %w", ErrEvent, err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("record: %w: this processor has no such event, or its virtual machine hides it; without --event, afdo record takes the best event that works here: %w", ErrEvent, err)
	}
	return fmt.Errorf("record: %w: %w", ErrEvent, err)
}

// setting returns the number in a file below /proc/sys/kernel.
func setting(name string) (int64, error) {
	text, err := os.ReadFile("/proc/sys/kernel/" + name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
}

// onlineCPUs returns the numbers of the processors in use.
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return cpuList(strings.TrimSpace(string(text)))
}

// cpuList parses a list such as 0-3,5.
func cpuList(text string) ([]int, error) {
	var list []int
	for run := range strings.SplitSeq(text, ",") {
		first, last, isRun := strings.Cut(run, "-")
		if !isRun {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err = errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("record: the processors are %q: %w", text, err)
		}
		for ; from <= to; from++ {
			list = append(list, int(from))
		}
	}
	return list, nil
}
