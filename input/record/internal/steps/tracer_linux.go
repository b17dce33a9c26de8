//go:build amd64 || arm64

package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// helperReady is true once the program has called RunHelper, so that it can be started again as a
// tracer.
var helperReady bool

// RunHelper checks whether this process was started by [Start] as a tracer, or by [Session.Launch]
// as the launcher of a command. If so, it does that work and does not return. Otherwise it returns
// at once, and Start works from then on. A program has to call it first in main.
func RunHelper() {
	helperReady = true
	if len(os.Args) == 0 || os.Args[0] != tracerName && os.Args[0] != launcherName {
		return
	}
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() { // both helpers need the main thread, on which a process begins
		_ = unix.Exec(selfPath, os.Args, os.Environ())
	}
	if os.Args[0] == launcherName {
		launch(os.Args)
	}
	os.Exit(runTracer(os.NewFile(3, "control"), os.NewFile(4, "records"), os.NewFile(5, "status")))
}

// A tracer traces processes by ptrace, and records bursts of their threads. All its methods run on
// one thread, because ptrace demands that.
type tracer struct {
	config     Config
	stats      Stats
	random     *rand.Rand
	most       int // threads that ran at once at a moment, at most the number of processors
	writer     *perfdata.Writer
	out        *outbox
	replies    *json.Encoder
	requests   chan request
	stopping   atomic.Bool // the caller has closed the control pipe, or is gone
	alarm      *alarm
	processors unix.CPUSet // those on which this thread may run
	schedule   schedule
	self       int
	attached   bool
	threads    map[int]*thread
	order      []*thread // the same threads, to pick one at random
	processes  map[int]*process
	cpu        processor      // of bursts
	registers  otherRegisters // of the last burst
	slots      slotCache
	pages      pageCache
	branches   []perfdata.Branch // of the last burst
	unfinished map[place][]int   // by place, how many instructions each sample lacks: see burst.cut
	open       int               // threads whose files are open
	moments    int               // since the start
}

// runTracer is the main function of the tracer's process. It handles requests of its caller until
// all traced processes have ended, or the caller is gone. It returns the exit status.
func runTracer(control, records, status *os.File) int {
	startClock()
	protect()
	debug.SetGCPercent(-1) // see collect
	debug.SetMemoryLimit(memoryLimit)
	var first request
	requests := json.NewDecoder(control)
	if err := requests.Decode(&first); err != nil || first.Config == nil {
		return 2
	}
	t := &tracer{
		config: *first.Config, replies: json.NewEncoder(status), requests: make(chan request, 1), self: os.Getpid(),
		threads: make(map[int]*thread), processes: make(map[int]*process), out: newOutbox(records),
		slots: make(slotCache), unfinished: make(map[place][]int),
	}
	t.random = rand.New(rand.NewPCG(rand.Uint64(), 0))
	err := t.prepare()
	if t.replies.Encode(replyTo(err)) != nil || err != nil {
		return 0
	}
	go t.receive(requests)
	err = t.serve()
	t.report()
	t.flush()
	last := replyTo(err)
	last.Stats = &t.stats
	_ = t.replies.Encode(last) // the caller may be gone
	return 0
}

// report writes the last two records of a recording: how many records were dropped, and the
// statistics of the tracer.
func (t *tracer) report() {
	s := &t.stats
	s.Budget = time.Duration(t.config.Overhead * t.schedule.busy)
	if lost := t.out.finish(); lost > 0 {
		t.emit(&perfdata.Lost{Count: lost, Time: uint64(clock())})
	}
	if figures, err := json.Marshal(s); err == nil {
		t.emit(&perfdata.Comm{PID: int32(t.self), TID: int32(t.self), Time: uint64(clock()), Name: perfdata.StepsReport + string(figures)})
	}
}

// protect keeps this process alive while the processes around it are killed: it ignores signals and
// asks the kernel to spare it when memory runs out. Real-time priority shortens stops on a busy
// machine from 34 to 21 us (TestKnownLoop, two processors with a load of 20).
func protect() {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE, unix.SIGALRM, unix.SIGTERM, unix.SIGUSR2,
		unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGPROF, unix.SIGIO)
	name := [16]byte{'a', 'f', 'd', 'o', '-', 's', 't', 'e', 'p', 's'}
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name)), 0, 0, 0)
	realTime := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	if unix.SchedSetAttr(0, &realTime, 0) != nil { // it needs a privilege
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -10)
	}
	avoidOOM()
}

// prepare sets up a tracer before its first request: the signal and the timer that interrupt its
// waits, the schedule of bursts, and the writer of records.
func (t *tracer) prepare() (err error) {
	signal.Notify(make(chan os.Signal, 1), wakeSignal)
	if err := makeInterrupting(int(wakeSignal)); err != nil {
		return os.NewSyscallError("sigaction", err)
	}
	if err := unix.SchedGetaffinity(0, &t.processors); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	if t.alarm, err = newAlarm(); err != nil {
		return err
	}
	t.schedule = newSchedule(t.config.Overhead, t.random, clock())
	t.writer, err = perfdata.NewWriter(t.out, Head())
	return err
}

// receive passes the requests of the tracer's caller to the main thread, until the caller closes
// the control pipe.
func (t *tracer) receive(requests *json.Decoder) {
	main := t.self // the main thread has the number of the process
	for r := (request{}); requests.Decode(&r) == nil; r = (request{}) {
		t.requests <- r
		for len(t.requests) > 0 {
			_ = unix.Tgkill(t.self, main, wakeSignal)
			time.Sleep(time.Millisecond)
		}
	}
	t.stopping.Store(true)
	close(t.requests)
	for { // a signal may come just before a wait, so one is not enough
		_ = unix.Tgkill(t.self, main, wakeSignal)
		time.Sleep(time.Millisecond)
	}
}

// serve handles requests of the caller and events of traced threads, until all processes have
// ended, or the caller has closed the control pipe.
func (t *tracer) serve() error {
	for !t.stopping.Load() {
		if len(t.threads) == 0 && t.attached {
			return nil
		}
		if len(t.threads) == 0 || len(t.requests) > 0 {
			r, ok := <-t.requests
			if !ok {
				return nil
			}
			err := t.handle(r)
			if t.replies.Encode(replyTo(err)) != nil || err != nil {
				return nil
			}
			continue
		}
		if err := t.waitOnce(); err != nil {
			return err
		}
		if now := clock(); now >= t.schedule.next {
			t.tryBurst(now)
			t.collect()
		}
	}
	return nil
}

// heapLimit is the size of the heap, in bytes, at which garbage is collected.
const heapLimit = 32 << 20

// memoryLimit is the memory in bytes at which Go's runtime collects garbage even during a burst.
const memoryLimit = 8 * heapLimit

// collect runs Go's garbage collector if the heap is larger than heapLimit. The collector does not
// run by itself, because it would delay the tracer during a burst for as long as other programs use
// its processors.
func (t *tracer) collect() {
	if t.moments++; t.moments%100 != 0 {
		return
	}
	var stats runtime.MemStats
	if runtime.ReadMemStats(&stats); stats.HeapAlloc > heapLimit {
		runtime.GC()
	}
}

// handle executes a request of the process that has started the tracer.
func (t *tracer) handle(r request) error {
	if r.Begin {
		t.begin()
		return nil
	}
	return t.attach(r)
}

// waitOnce waits for one event of a traced thread and handles it. It returns without an event if
// the time of a burst has come or a request has arrived.
func (t *tracer) waitOnce() error {
	t.alarm.set(max(1, t.schedule.next-clock()))
	tid, status, err := wait(0)
	switch {
	case err == nil:
		t.event(tid, status)
	case errors.Is(err, unix.ECHILD):
		t.forgetAll()
	case !errors.Is(err, unix.EINTR):
		return os.NewSyscallError("wait4", err)
	}
	return nil
}

// flush writes the records that wait in the outbox. Meanwhile it handles the events of the threads
// that are still traced, so that they can run. The kernel detaches these threads when this process
// ends.
func (t *tracer) flush() {
	t.out.close()
	t.schedule.next = clock()
	for {
		select {
		case <-t.out.done:
			return
		default:
		}
		if len(t.threads) == 0 {
			<-t.out.done
			return
		}
		t.schedule.next = clock() + alarmRepeat
		if t.waitOnce() != nil {
			return
		}
	}
}

// attach starts to trace all threads of a process.
func (t *tracer) attach(r request) error {
	for fresh := true; fresh; {
		fresh = false
		list, err := threadsOf(r.PID)
		if err != nil {
			return fmt.Errorf("process %d: %w", r.PID, unix.ESRCH)
		}
		if r.Launch { // the threads of the launcher end when it executes the program
			list = []int{r.PID}
		}
		for _, tid := range list {
			if t.threads[tid] != nil {
				continue
			}
			seized, err := t.seize(r.PID, tid)
			if err != nil {
				return err
			}
			fresh = fresh || seized
		}
	}
	if len(t.threads) == 0 {
		return fmt.Errorf("process %d: %w", r.PID, unix.ESRCH)
	}
	t.attached = true
	t.processes[r.PID].ready = false
	return nil
}

// begin starts to record the processes to which the tracer is attached.
func (t *tracer) begin() {
	t.schedule = newSchedule(t.config.Overhead, t.random, clock())
	for _, p := range t.processes {
		p.ready = true
		t.announce(p)
	}
}

// seize starts to trace a thread. It returns false if the thread has ended or is already traced.
func (t *tracer) seize(pid, tid int) (bool, error) {
	err := ptrace(unix.PTRACE_SEIZE, tid, 0, traceOptions)
	switch {
	case err == nil:
		t.add(pid, tid).announced = true
		return true, nil
	case errors.Is(err, unix.ESRCH):
		return false, nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		switch by := statusField(tid, "TracerPid"); {
		case by == strconv.Itoa(t.self), by == "": // a new thread of a traced one, or it is gone
			return false, nil
		case by != "0":
			return false, fmt.Errorf("process %d is traced by process %s, such as a debugger: %w", pid, by, ErrTraced)
		}
		if state := statusField(tid, "State"); state == "" || state[0] == 'Z' || state[0] == 'X' {
			return false, nil
		}
		return false, fmt.Errorf("process %d: %w", pid, ErrNotPermitted)
	}
	return false, fmt.Errorf("process %d: %w", pid, os.NewSyscallError("ptrace", err.(syscall.Errno)))
}
