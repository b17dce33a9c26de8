package steps

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// probeName is the name of a process that is started to try a hardware breakpoint. It ends at once.
const probeName = "afdo-steps-probe"

// breakpointsTrigger reports whether hardware breakpoints work on this machine. Some virtual
// machines let the debug registers be written, but never report that a breakpoint was reached. So
// breakpointsTrigger starts a process and tries a breakpoint at its second instruction. It has to
// be called before anything else is traced. If it cannot start a process, it returns true.
func breakpointsTrigger() bool {
	p, err := os.StartProcess(selfPath, []string{probeName}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		return true
	}
	defer func() {
		_ = p.Kill()
		_, _ = p.Wait()
	}()
	var first, second unix.PtraceRegs
	if !stopsForTrap(p.Pid) || registers(p.Pid, &first) != nil {
		return true
	}
	if ptrace(unix.PTRACE_SINGLESTEP, p.Pid, 0, 0) != nil || !stopsForTrap(p.Pid) || registers(p.Pid, &second) != nil {
		return true
	}
	if setRegisters(p.Pid, &first) != nil || pokeDebugRegister(p.Pid, 0, second.Rip) != nil || pokeDebugRegister(p.Pid, 7, 1) != nil {
		return false
	}
	var reached unix.PtraceRegs
	return ptrace(unix.PTRACE_CONT, p.Pid, 0, 0) == nil && stopsForTrap(p.Pid) &&
		registers(p.Pid, &reached) == nil && reached.Rip == second.Rip
}

// stopsForTrap waits until a process stops or ends, and reports whether it has stopped for SIGTRAP.
func stopsForTrap(pid int) bool {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err != unix.EINTR {
			return err == nil && status.Stopped() && status.StopSignal() == unix.SIGTRAP
		}
	}
}
