//go:build amd64 || arm64

package steps

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// eventCost is the assumed time of a stop outside of bursts, such as one for a signal, in
// nanoseconds.
const eventCost = 25_000

// A thread is the tracer's state for one thread of a traced process.
type thread struct {
	tid       int
	process   *process
	announced bool     // a record of the recording introduces it
	stopped   bool     // the kernel keeps it in a group stop
	stat      *os.File // stays open: opening it takes 15 us, reading it 2 us
	sampled   bool     // a burst of it gave a sample
	missed    uint64   // moments at which it ran and was not stopped, before its first sample
}

// A process is the tracer's state for one process whose threads it traces.
type process struct {
	pid      int
	ready    bool // false for a launcher that has not executed the program
	threads  int
	maps     []mapping
	began    int64 // when it was started, attached or executed
	mapsTime int64 // when maps was read; 0 if never
	mapsCost int64 // how long that took, in nanoseconds
	known    map[known]bool
}

// A known identifies a mapping of a process about which the recording has a record already.
type known struct {
	start, length, offset uint64
	path                  string
}

// add adds a thread, to which the tracer has just been attached, to the traced threads.
func (t *tracer) add(pid, tid int) *thread {
	p := t.processes[pid]
	if p == nil {
		p = &process{pid: pid, ready: true, began: clock(), known: make(map[known]bool)}
		t.processes[pid] = p
	}
	p.threads++
	t.stats.Threads++
	th := &thread{tid: tid, process: p}
	t.threads[tid] = th
	t.order = append(t.order, th)
	return th
}

// remove removes a thread that has ended from the traced threads.
func (t *tracer) remove(th *thread) {
	delete(t.threads, th.tid)
	t.closeFile(th)
	if i := slices.Index(t.order, th); i >= 0 {
		t.order[i] = t.order[len(t.order)-1]
		t.order = t.order[:len(t.order)-1]
	}
	if th.announced && th.process.ready {
		t.emit(&perfdata.Exit{PID: int32(th.process.pid), TID: int32(th.tid), Time: uint64(clock())})
	}
	if th.process.threads--; th.process.threads == 0 {
		delete(t.processes, th.process.pid)
	}
}

// forgetAll removes all threads from the tracer's state, after the kernel has reported that this
// process traces none.
func (t *tracer) forgetAll() {
	for _, th := range t.order {
		t.closeFile(th)
	}
	t.threads, t.processes, t.order = make(map[int]*thread), make(map[int]*process), nil
}

// maxOpen limits the number of threads whose file stat stays open. The files of other threads are
// opened for each read.
const maxOpen = 200

// activity reads from /proc whether a thread executes at this time, and on which processor.
func (t *tracer) activity(th *thread) activity {
	if th.stat == nil {
		if th.stat = openStat(th.process.pid, th.tid); th.stat == nil {
			return activity{}
		}
		if t.open++; t.open > maxOpen {
			defer t.closeFile(th)
		}
	}
	return readActivity(th.stat)
}

// closeFile closes the file in /proc from which the activity of a thread is read, if it is open.
func (t *tracer) closeFile(th *thread) {
	if th.stat != nil {
		_ = th.stat.Close()
		th.stat = nil
		t.open--
	}
}

// emit writes a record to the recording. It drops a record that a perf.data file cannot contain,
// such as a mapping whose path has more than 64 KiB.
func (t *tracer) emit(r perfdata.Record) { _ = t.writer.Write(r) }

// event handles an event of a thread that wait has returned, such as the thread's end, a signal or
// a new child process. It lets a stopped thread continue.
func (t *tracer) event(tid int, status unix.WaitStatus) {
	th := t.threads[tid]
	if status.Exited() || status.Signaled() {
		if th != nil {
			t.remove(th)
		}
		return
	}
	if !status.Stopped() {
		return
	}
	if th == nil { // a new one, whose parent has not reported it yet
		pid, err := strconv.Atoi(statusField(tid, "Tgid"))
		if err != nil {
			pid = tid
		}
		th = t.add(pid, tid)
	}
	t.schedule.charge(eventCost)
	t.stats.Stopped += eventCost
	signal, cause := int(status.StopSignal()), int(status)>>16
	switch cause {
	case unix.PTRACE_EVENT_CLONE, unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
		t.forked(th, cause)
		signal = 0
	case unix.PTRACE_EVENT_EXEC:
		t.executed(th)
		signal = 0
	case unix.PTRACE_EVENT_STOP:
		if signal != int(unix.SIGTRAP) {
			th.stopped = true
			_ = ptrace(unix.PTRACE_LISTEN, tid, 0, 0)
			return
		}
		th.stopped, signal = false, 0
	}
	t.release(th, signal)
}

// release lets a stopped thread run. signal is the signal that it delivers to the thread, or 0.
func (t *tracer) release(th *thread, signal int) {
	keepCall(th.tid)
	_ = ptrace(unix.PTRACE_CONT, th.tid, 0, uintptr(signal)) // it fails if the thread was killed meanwhile
}

// message returns the number that the kernel provides for the event with which a thread has
// stopped. For a new thread it is the thread's ID.
func message(th *thread) int {
	id, err := unix.PtraceGetEventMsg(th.tid)
	if err != nil {
		return 0
	}
	return int(id)
}

// forked handles the event that the thread parent has started another thread or a process. cause
// says which of the two.
func (t *tracer) forked(parent *thread, cause int) {
	tid := message(parent)
	if tid == 0 {
		return
	}
	child := t.threads[tid]
	if child == nil {
		pid := tid
		if cause == unix.PTRACE_EVENT_CLONE { // a thread, or rarely a process; it may have ended already
			pid = parent.process.pid
			if leader, err := strconv.Atoi(statusField(tid, "Tgid")); err == nil {
				pid = leader
			}
		}
		child = t.add(pid, tid)
	}
	child.announced = true
	from, to := parent.process, child.process
	if to != from {
		to.ready = from.ready
		to.known = make(map[known]bool, len(from.known))
		for k := range from.known {
			to.known[k] = true
		}
	}
	if to.ready {
		t.emit(&perfdata.Fork{
			PID: int32(to.pid), ParentPID: int32(from.pid), TID: int32(tid), ParentTID: int32(parent.tid), Time: uint64(clock()),
		})
	}
}

// executed handles the event that a thread has executed another program by execve. All other
// threads of the process have then ended without an event, and the thread has the ID of the
// process.
func (t *tracer) executed(th *thread) {
	p := th.process
	for _, other := range slices.Clone(t.order) {
		if other.process == p && other != th {
			t.remove(other)
		}
	}
	if !p.ready {
		t.schedule = newSchedule(t.config.Overhead, t.random, clock())
	}
	p.ready, th.announced = true, true
	p.maps, p.mapsTime, p.began = nil, 0, clock()
	clear(p.known)
	t.name(th, true)
}

// name writes a record with the name of a thread to the recording. exec is set if the name is that
// of a program which the thread has just executed.
func (t *tracer) name(th *thread, exec bool) {
	if name, err := readProc(th.process.pid, "task/"+strconv.Itoa(th.tid)+"/comm"); err == nil {
		t.emit(&perfdata.Comm{
			PID: int32(th.process.pid), TID: int32(th.tid), Time: uint64(clock()), Exec: exec, Name: strings.TrimSuffix(string(name), "\n"),
		})
	}
}

// announce writes records with the names of the threads and the mappings of a process that ran
// before the recording.
func (t *tracer) announce(p *process) {
	var last *thread
	for _, th := range t.order {
		if th.process == p {
			t.name(th, false)
			last = th
		}
	}
	t.refresh(last)
}

// Times after which the mappings of a process are read again. mapsAge is the shortest time between
// two reads. If a read takes long, the time is mapsShare times the duration of the read. A young
// process still loads libraries, so its mappings are read again when its age has doubled. Reading
// mappings costs only processor time of the tracer, which never reads them while a thread is
// stopped.
const (
	mapsShare = 20
	mapsAge   = int64(50 * time.Millisecond)
)

// refresh reads the mappings of a thread's process again, and writes records of those that are new
// to the recording.
func (t *tracer) refresh(th *thread) {
	p, before := th.process, clock()
	list, err := readMaps(p.pid)
	if len(list) == 0 { // the main thread has ended
		list, err = readMaps(th.tid)
	}
	if err != nil {
		return
	}
	p.maps, p.mapsTime = list, clock()
	p.mapsCost = p.mapsTime - before
	for i := range list {
		list[i].PID = int32(p.pid)
		if list[i].file != (fileID{}) && t.slots.of(&list[i]).patched {
			list[i].file = fileID{}
		}
		m := &list[i].Mmap
		if !m.Executable {
			continue
		}
		k := known{m.Start, m.Length, m.PageOffset, m.Path}
		if p.known[k] {
			continue
		}
		p.known[k] = true
		m.Time = uint64(before)
		t.emit(m)
	}
}

// mapsAreOld reports whether the mappings of a process should be read again before a burst.
func (p *process) mapsAreOld() bool {
	return p.mapsTime == 0 || clock()-p.mapsTime > max(min(mapsAge, p.mapsTime-p.began), mapsShare*p.mapsCost)
}
