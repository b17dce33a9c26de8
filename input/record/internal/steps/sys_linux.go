//go:build amd64 || arm64

package steps

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// traceOptions make the kernel attach new threads and processes, and report execve.
// PTRACE_O_EXITKILL must not be among them: with it, a killed tracer would take the program along.
const traceOptions = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// ptrace calls ptrace. All calls have to come from the thread that has attached.
func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// openMemory opens the memory of a thread for readMemory. It returns -1 if the thread is gone.
// Reads of this file fail at a page that the program provides itself, by userfaultfd. The system
// call process_vm_readv would wait there for the program, which may be waiting for the tracer.
func openMemory(tid int) int {
	file, err := unix.Open(procPath(tid, "mem"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return file
}

// readMemory copies memory at an address to a buffer. It returns the number of bytes read. file is
// from openMemory.
func readMemory(file int, address uint64, to []byte) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(file), uintptr(unsafe.Pointer(&to[0])), uintptr(len(to)), uintptr(address), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wait waits for an event of any traced thread. It returns EINTR when the timer [alarm] or the
// signal wakeSignal interrupts it.
func wait(flags int) (tid int, status unix.WaitStatus, err error) {
	var s uint32
	id, _, errno := syscall.Syscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&s)), uintptr(unix.WALL|flags), 0, 0, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(id), unix.WaitStatus(s), nil
}

// wakeSignal interrupts the tracer's wait.
const wakeSignal = unix.SIGUSR1

// makeInterrupting changes a signal that Go handles, so that the signal interrupts a system call.
// By default, the kernel restarts the system call after the signal.
func makeInterrupting(signal int) error {
	var action struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	const restart = 0x10000000
	p, size := uintptr(unsafe.Pointer(&action)), unsafe.Sizeof(action.mask)
	if _, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), 0, p, size, 0, 0); errno != 0 {
		return errno
	}
	action.flags &^= restart
	if _, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), p, 0, size, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// An alarm is a timer of the kernel that sends wakeSignal to this thread. It repeats every
// millisecond, because a signal that arrives just before a wait does not interrupt it.
type alarm struct{ id int32 }

const alarmRepeat = 1_000_000 // nanoseconds

func newAlarm() (*alarm, error) {
	event := struct {
		value          uint64
		signal, notify int32
		tid            int32
		_              [44]byte
	}{signal: int32(wakeSignal), notify: 4 /* SIGEV_THREAD_ID */, tid: int32(unix.Gettid())}
	a := new(alarm)
	_, _, errno := syscall.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.id)))
	if errno != 0 {
		return nil, os.NewSyscallError("timer_create", errno)
	}
	return a, nil
}

// set starts the timer. A time of 0 or less stops it.
func (a *alarm) set(nanoseconds int64) {
	var spec unix.ItimerSpec
	if nanoseconds > 0 {
		spec.Value = unix.NsecToTimespec(nanoseconds)
		spec.Interval = unix.NsecToTimespec(alarmRepeat)
	}
	syscall.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(a.id), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// processorTime returns the processor time that this thread has used, in nanoseconds.
func processorTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // fails for unknown clocks only
	return t.Nano()
}

// kernelClock returns the monotonic time in nanoseconds.
func kernelClock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for unknown clocks only
	return t.Nano()
}

// started and startedNano are the time at which startClock was called, by Go's clock and by the
// kernel's.
var (
	started     time.Time
	startedNano int64
)

// startClock sets the times from which clock counts. It has to be called before clock.
func startClock() { started, startedNano = time.Now(), kernelClock() }

// clock returns the monotonic time in nanoseconds. Go reads it without a system call.
func clock() int64 { return startedNano + int64(time.Since(started)) }

// ownProcessor returns the processor on which this thread executes, -1 if that is unknown.
func ownProcessor() int {
	var processor uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&processor)), 0, 0); errno != 0 {
		return -1
	}
	return int(processor)
}
