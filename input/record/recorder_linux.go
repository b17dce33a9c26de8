package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/steps"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// ringSize is the size of the ring buffer of a processor, in bytes. It is the amount of memory that
// the kernel lets every user lock (perf_event_mlock_kb). perf uses the same size.
const ringSize = 512 << 10

// A Recorder samples a target. Call its methods only from the goroutine that opened it. That
// goroutine is bound to its thread until [Recorder.Close], because a command inherits the event of
// the thread that starts it.
type Recorder struct {
	target   Target
	options  Options
	warnings []string

	candidate candidate
	attr      unix.PerfEventAttr
	cpus      []int
	events    []int   // file descriptors, one per thread and processor
	rings     []*ring // one per processor
	owners    []int   // by processor: the event that owns the ring; -1 if there is none
	maps      [][]byte
	steps     *stepRecorder // instead of the fields above, for Steps
	files     map[perfdata.BuildID]bool
}

// Open prepares a recording. Nothing is recorded before [Recorder.Run].
//
// The error is about a target that is empty or ambiguous, matches [ErrEvent], or is an error of the
// system, for example [unix.EACCES].
func Open(t Target, o Options) (*Recorder, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if o.Overhead < 0 || o.Overhead > 1 {
		return nil, fmt.Errorf("record: an overhead of %v is not between 0 and 1", o.Overhead)
	}
	runtime.LockOSThread()
	r := &Recorder{target: t, options: o}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the recording and releases its resources.
func (r *Recorder) Close() error {
	var failure error
	for _, m := range r.maps {
		failure = errors.Join(failure, unix.Munmap(m))
	}
	for _, fd := range r.events {
		failure = errors.Join(failure, unix.Close(fd))
	}
	r.maps, r.events, r.rings = nil, nil, nil
	if r.steps != nil {
		r.steps.close()
	}
	runtime.UnlockOSThread()
	return failure
}

// Warnings returns limitations of the recording, one sentence each.
func (r *Recorder) Warnings() []string { return r.warnings }

// Event returns the name of the event that is sampled, as perf calls it.
func (r *Recorder) Event() string { return r.head().Name }

// WriteHead writes the header of a recording that is written to a stream, as "perf record -o -"
// does. The records that [Recorder.Run] writes follow it.
func (r *Recorder) WriteHead(w io.Writer) error { return r.head().WritePipe(w) }

// WriteFile writes a perf.data file. records are the size bytes that [Recorder.Run] has written.
// The file also has the build IDs of the files whose code ran.
func (r *Recorder) WriteFile(w io.Writer, records io.Reader, size int64) error {
	head := r.head()
	head.Command = os.Args
	return head.WriteFile(w, records, size)
}

// head returns the parts of perf.data other than the records: the description of the event, the
// build IDs and the machine.
func (r *Recorder) head() *perfdata.Head {
	if r.steps != nil {
		head := steps.Head()
		head.BuildIDs, head.Arch = buildIDs(r.files), arch()
		return head
	}
	attr, err := encode(&r.attr)
	if err != nil {
		panic(err) // cannot fail for a struct of integers
	}
	return &perfdata.Head{Name: r.candidate.name, Attr: attr, BuildIDs: buildIDs(r.files), Arch: arch()}
}

// arch returns the kernel's name of the machine's architecture, or "".
func arch() string {
	var name unix.Utsname
	_ = unix.Uname(&name)
	return unix.ByteSliceToString(name.Machine[:])
}

// open starts the recording of the event that the options name. For [Best], it tries events with
// branch stacks, then Steps, then events without branch stacks. It does not try Steps for the whole
// machine or with a period, because Steps supports neither.
func (r *Recorder) open() error {
	switch r.options.Event {
	case Best:
		if r.openEvents(Branches) == nil {
			return nil
		}
		if r.target.Machine || r.options.Period != 0 {
			break
		}
		err := r.openSteps()
		switch {
		case err == nil:
			r.warnings = append(r.warnings, fmt.Sprintf("this processor records no branches, so --event steps stops threads to follow them, for at most %v%% of the time", 100*r.steps.overhead))
			return nil
		case errors.Is(err, exec.ErrNotFound): // no event can record a command that is not there
			return err
		case !errors.Is(err, steps.ErrUnsupported):
			r.warnings = append(r.warnings, fmt.Sprintf("--event steps is not possible: %s", strings.TrimPrefix(err.Error(), "record: ")))
		}
	case Steps:
		return r.openSteps()
	}
	return r.openEvents(r.options.Event)
}

// openEvents finds the best candidate for an event and opens it for all threads of the target.
func (r *Recorder) openEvents(event Event) (err error) {
	if r.cpus, err = onlineCPUs(); err != nil {
		return err
	}
	r.rings, r.owners = make([]*ring, 0, len(r.cpus)), make([]int, len(r.cpus))
	for i := range r.owners {
		r.owners[i] = -1
	}
	r.chooseRate()
	first, err := r.threads()
	if err != nil {
		return err
	}
	for _, thread := range first {
		if err = r.choose(event, thread, r.cpus[0]); !errors.Is(err, unix.ESRCH) {
			break // else this thread has ended, maybe not its process
		}
	}
	if err != nil {
		return err
	}
	r.warnOfEvent()
	return r.openThreads(first)
}

// chooseRate sets the sampling frequency to that of the options, or to the highest frequency that
// the kernel allows if that is lower.
func (r *Recorder) chooseRate() {
	if r.options.Period != 0 {
		return
	}
	r.options.Frequency = cmp.Or(r.options.Frequency, DefaultFrequency)
	most, err := setting("perf_event_max_sample_rate")
	if err == nil && most > 0 && r.options.Frequency > uint64(most) {
		r.warnings = append(r.warnings, fmt.Sprintf("the kernel allows %d samples a second (perf_event_max_sample_rate), not %d", most, r.options.Frequency))
		r.options.Frequency = uint64(most)
	}
}

// warnOfEvent adds a warning if the best event that works has no branch stacks.
func (r *Recorder) warnOfEvent() {
	if r.options.Event != Best {
		return
	}
	const costs = "calls and head counts will be estimates, and a profile takes many more samples"
	switch r.candidate.event {
	case Cycles:
		r.warnings = append(r.warnings, "this processor has no branch stacks, so cycles are sampled: "+costs)
	case Clock:
		r.warnings = append(r.warnings, "this machine has neither branch stacks nor a counter of cycles, as most virtual ones, so time is sampled: "+costs)
	}
}

// threads returns the IDs of the target's threads. For a command, this is 0, the current thread,
// which will start the command. For the whole machine, it is -1.
func (r *Recorder) threads() ([]int, error) {
	switch {
	case len(r.target.Command) > 0:
		return []int{0}, nil
	case r.target.Machine:
		return []int{-1}, nil
	}
	return threadsOf(r.target.PID)
}

// openThreads opens the event for the threads fresh, and then for threads that the target has
// started in the meantime, until there are no new ones. A thread inherits the event if the thread
// that started it has it.
func (r *Recorder) openThreads(fresh []int) error {
	known := make(map[int]bool)
	for len(fresh) > 0 {
		for _, thread := range fresh {
			known[thread] = true
			if err := r.openThread(thread); err != nil {
				return err
			}
		}
		now, err := r.threads()
		if err != nil {
			return err
		}
		fresh = fresh[:0]
		for _, thread := range now {
			if !known[thread] {
				fresh = append(fresh, thread)
			}
		}
	}
	if len(r.events) == 0 {
		return r.explain(unix.ESRCH)
	}
	return nil
}

// openThread opens the event for a thread on all processors. It ignores threads and processors that
// no longer exist.
func (r *Recorder) openThread(thread int) error {
	for i, cpu := range r.cpus {
		fd, err := open(&r.attr, thread, cpu)
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return r.explain(err)
		}
		r.events = append(r.events, fd)
		if owner := r.owners[i]; owner >= 0 {
			err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, owner)
		} else {
			r.owners[i], err = fd, r.mapRing(fd)
		}
		if err != nil {
			return fmt.Errorf("record: ring buffer of processor %d: %w", cpu, err)
		}
	}
	return nil
}

// mapRing maps the ring buffer of the event with file descriptor fd into this process's memory. The
// buffer consists of a page that both kernel and process write, followed by the records.
func (r *Recorder) mapRing(fd int) error {
	page := os.Getpagesize()
	m, err := unix.Mmap(fd, 0, page+ringSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	r.maps = append(r.maps, m)
	control := (*unix.PerfEventMmapPage)(unsafe.Pointer(&m[0]))
	r.rings = append(r.rings, &ring{
		head: (*atomic.Uint64)(unsafe.Pointer(&control.Data_head)),
		tail: (*atomic.Uint64)(unsafe.Pointer(&control.Data_tail)),
		data: m[page:],
	})
	return nil
}

// each makes an ioctl request, such as the one that starts sampling, for all opened events.
func (r *Recorder) each(request uint) error {
	for _, fd := range r.events {
		if err := unix.IoctlSetInt(fd, request, 0); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	return nil
}
