package steps

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of ptrace that package unix does not define, in linux/ptrace.h.
const (
	ptraceGetSigmask = 0x420a
	ptraceGetRseq    = 0x420f
)

// offsetDebugRegisters is the offset of u_debugreg in struct user of x86-64.
const offsetDebugRegisters = 848

// traceOptions make the kernel attach new threads and processes, and report execve.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// ptrace calls ptrace. All calls have to come from the thread that has attached.
func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// registers returns the registers of a stopped thread.
func registers(tid int, regs *unix.PtraceRegs) error {
	return ptrace(unix.PTRACE_GETREGS, tid, 0, uintptr(unsafe.Pointer(regs)))
}

// setRegisters changes the registers of a stopped thread.
func setRegisters(tid int, regs *unix.PtraceRegs) error {
	return ptrace(unix.PTRACE_SETREGS, tid, 0, uintptr(unsafe.Pointer(regs)))
}

// pokeDebugRegister writes a debug register of a stopped thread.
func pokeDebugRegister(tid, i int, value uint64) error {
	return ptrace(unix.PTRACE_POKEUSR, tid, uintptr(offsetDebugRegisters+8*i), uintptr(value))
}

// Reasons of SIGTRAP, in asm-generic/siginfo.h TRAP_TRACE and TRAP_HWBKPT.
const (
	trapStep       = 2
	trapBreakpoint = 4
)

// A signalInfo is the first part of siginfo_t.
type signalInfo struct {
	Signo, Errno, Code int32
	_                  [116]byte
}

// signalOf returns why a thread has stopped for a signal.
func signalOf(tid int) (info signalInfo, err error) {
	err = ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info)))
	return info, err
}

// blocksTraps reports whether a stopped thread blocks SIGTRAP. The kernel would unblock it to
// report a breakpoint.
func blocksTraps(tid int) bool {
	var mask uint64
	err := ptrace(ptraceGetSigmask, tid, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	return err != nil || mask&(1<<(unix.SIGTRAP-1)) != 0
}

// sequenceAddress returns the address of the rseq structure of a stopped thread, 0 if it has none.
func sequenceAddress(tid int) uint64 {
	var config struct {
		Address         uint64
		Size, Signature uint32
		Flags, _        uint32
	}
	if ptrace(ptraceGetRseq, tid, unsafe.Sizeof(config), uintptr(unsafe.Pointer(&config))) != nil {
		return 0
	}
	return config.Address
}

// readMemory reads memory of a process. It returns the number of bytes read.
func readMemory(pid int, address uint64, to []byte) int {
	local := unix.Iovec{Base: &to[0]}
	local.SetLen(len(to))
	remote := unix.RemoteIovec{Base: uintptr(address), Len: len(to)}
	n, _, errno := syscall.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wait waits for any traced thread. It returns EINTR when [alarm] or a wake-up interrupts it.
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

// makeInterrupting lets a signal that Go handles interrupt system calls, which Go otherwise has the
// kernel restart.
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

// clock returns the monotonic time in nanoseconds.
func clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for unknown clocks only
	return t.Nano()
}
