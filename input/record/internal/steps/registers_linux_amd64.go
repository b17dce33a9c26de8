package steps

import (
	"debug/elf"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate/x86"
)

// A processor is the simulated processor of this architecture.
type processor = x86.CPU

// unsupportedMachine is the machine of programs that run on this processor but cannot be simulated.
// There is none, because 32-bit code is simulated as well.
const unsupportedMachine = elf.EM_NONE

// registers are the general registers of a stopped thread.
type registers struct{ unix.PtraceRegs }

// read reads the general registers of a stopped thread, and reports whether that was possible.
func (r *registers) read(tid int) bool {
	return ptrace(unix.PTRACE_GETREGS, tid, 0, uintptr(unsafe.Pointer(&r.PtraceRegs))) == nil
}

// ip returns the address of the stopped thread's next instruction.
func (r *registers) ip() uint64 { return r.Rip }

// Results of a system call that a stop has interrupted. The kernel starts the call again, or makes
// it fail, when the thread continues.
const (
	firstRestart     = 512 // ERESTARTSYS of Linux
	restartNoHandler = 514 // the call is made again, unless a signal handler runs first
	restartBlock     = 516 // the same, but as restart_syscall, which knows how long the call has waited
)

// systemCall reports whether a thread was stopped at the end of a system call, and whether the stop
// has interrupted this call, so that the kernel may start it again.
func (r *registers) systemCall(*processor) (ended, restarted bool) {
	result := -int64(r.Rax)
	return int64(r.Orig_rax) >= 0, result >= firstRestart && result <= restartBlock
}

// keepsCalls reports whether keepCall works on this architecture.
const keepsCalls = true

// keepCall changes how the kernel continues a system call of a stopped thread that the stop has
// interrupted, if the thread has a seccomp filter: the kernel repeats the call itself instead of
// calling restart_syscall. A filter that allows nanosleep may kill the thread for restart_syscall.
// A repeated call waits for its whole time again.
func keepCall(tid int) {
	var r registers
	if !r.read(tid) || int64(r.Orig_rax) < 0 || -int64(r.Rax) != restartBlock || !isFiltered(tid) {
		return
	}
	result := int64(-restartNoHandler)
	_ = ptrace(unix.PTRACE_POKEUSR, tid, unsafe.Offsetof(r.Rax), uintptr(result)) // fails if the thread was killed
}

// endsFault reports whether a thread was stopped at the end of a page fault.
func (r *registers) endsFault(*processor) bool {
	const resume = 1 << 16 // the processor sets this flag when an instruction faults, not when it is interrupted
	return r.Eflags&resume != 0
}

// Sizes in bytes: of the area that FXSAVE writes, and of a buffer that is large enough for XSAVE
// with AVX-512.
const (
	sizeFXSAVE = 512
	sizeXSAVE  = 4096
)

// otherRegisters is a buffer for the vector registers of a thread, which type registers does not
// contain.
type otherRegisters struct {
	vectors [sizeXSAVE]byte
	upper   int // offset of vector registers 16 to 31 in what XSAVE stores; 0: not known yet
}

// saveOffset returns the offset at which XSAVE stores a component of the registers. Only processors
// with XSAVE have the instruction that it executes.
func saveOffset(component uint32) uint32

// read returns the vector registers of a stopped thread, laid out as XSAVE or FXSAVE stores them.
func (o *otherRegisters) read(tid int) []byte {
	to := unix.Iovec{Base: &o.vectors[0], Len: sizeXSAVE}
	const xstate = 0x202 // NT_X86_XSTATE
	if ptrace(unix.PTRACE_GETREGSET, tid, xstate, uintptr(unsafe.Pointer(&to))) == nil {
		return o.vectors[:to.Len]
	}
	if ptrace(unix.PTRACE_GETFPREGS, tid, 0, uintptr(unsafe.Pointer(&o.vectors))) != nil {
		return nil
	}
	return o.vectors[:sizeFXSAVE]
}

// set copies all registers of a stopped thread to the simulated processor. It reports whether they
// could be read.
func (o *otherRegisters) set(c *processor, tid int, r *registers) bool {
	const code32 = 0x23 // the code segment of 32-bit code
	c.Mode = 64
	if r.Cs == code32 {
		c.Mode = 32
	}
	c.R = [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	c.IP, c.Flags, c.FS, c.GS = r.Rip, r.Eflags, r.Fs_base, r.Gs_base
	saved := o.read(tid)
	if saved == nil {
		return false
	}
	const upperVectors = 7 // XSAVE's number of vector registers 16 to 31
	more := 0
	if len(saved) > sizeFXSAVE {
		if o.upper == 0 {
			o.upper = int(saveOffset(upperVectors))
		}
		more = o.upper
	}
	c.SetVectors(saved, more)
	return true
}
