package steps

import (
	"debug/elf"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate/arm64"
)

// A processor is the simulated processor of this architecture.
type processor = arm64.CPU

// unsupportedMachine is the machine of 32-bit programs, which run on this processor but cannot be
// simulated.
const unsupportedMachine = elf.EM_ARM

// registers are the general registers of a stopped thread.
type registers struct{ unix.PtraceRegs }

// Sets of registers of a thread, by their numbers in core files.
const (
	setGeneral = 1     // NT_PRSTATUS
	setVectors = 2     // NT_PRFPREG
	setTLS     = 0x401 // NT_ARM_TLS
	setPAC     = 0x406 // NT_ARM_PAC_MASK
)

// readSet reads a set of registers of a stopped thread. It returns the number of bytes read.
func readSet(tid int, set uintptr, to unsafe.Pointer, size uintptr) uintptr {
	vector := unix.Iovec{Base: (*byte)(to), Len: uint64(size)}
	if ptrace(unix.PTRACE_GETREGSET, tid, set, uintptr(unsafe.Pointer(&vector))) != nil {
		return 0
	}
	return uintptr(vector.Len)
}

// read reads the general registers of a stopped thread, and reports whether that was possible. The
// registers of 32-bit code are another, shorter set, so such code is not recorded.
func (r *registers) read(tid int) bool {
	const size = unsafe.Sizeof(r.PtraceRegs)
	return readSet(tid, setGeneral, unsafe.Pointer(&r.PtraceRegs), size) == size
}

// ip returns the address of the stopped thread's next instruction.
func (r *registers) ip() uint64 { return r.Pc }

// systemCall reports whether a thread was stopped at the end of a system call, and whether the
// kernel starts this call again after the stop.
//
// Linux on arm64 forgets the number of the system call before it stops the thread: do_signal calls
// forget_syscall first. So NT_ARM_SYSTEM_CALL has no number at this stop, and
// PTRACE_GET_SYSCALL_INFO reports none, because the stop is not one for system calls. But the
// kernel has already set the program counter: to the instruction after SVC, or to SVC itself if it
// starts the call again.
func (r *registers) systemCall(c *processor) (ended, restarted bool) {
	const svc = 0xd4000001 // svc #0
	is := func(address uint64) bool {
		word, ok := c.Memory.Load(address, 4)
		return ok && word == svc
	}
	restarted = is(r.Pc)
	return restarted || is(r.Pc-4), restarted
}

// keepsCalls is false: the kernel has read the result of the call before the stop, and ignores
// changes of it.
const keepsCalls = false

// keepCall does nothing: see keepsCalls.
func keepCall(int) {}

// endsFault reports whether a thread may have been stopped at the end of a page fault. The
// registers do not show that. But if the kernel has just created the missing page, the page
// contains zeros only and the thread's next instruction accesses it.
func (r *registers) endsFault(c *processor) bool { return c.TouchesZeros() }

// otherRegisters is a buffer for registers of a thread that type registers does not contain: vector
// registers, the mask of signed addresses and the thread pointer.
type otherRegisters struct {
	vectors struct {
		v            [32]arm64.Vector
		status, mode uint32 // FPSR and FPCR
		_            [2]uint32
	}
	mask struct{ data, code uint64 } // bits of addresses that sign them
	tls  uint64
}

// set copies all registers of a stopped thread to the simulated processor. It reports whether they
// could be read.
func (o *otherRegisters) set(c *processor, tid int, r *registers) bool {
	if readSet(tid, setVectors, unsafe.Pointer(&o.vectors), unsafe.Sizeof(o.vectors)) != unsafe.Sizeof(o.vectors) ||
		readSet(tid, setTLS, unsafe.Pointer(&o.tls), unsafe.Sizeof(o.tls)) != unsafe.Sizeof(o.tls) {
		return false
	}
	if readSet(tid, setPAC, unsafe.Pointer(&o.mask), unsafe.Sizeof(o.mask)) == 0 { // the processor signs no addresses
		o.mask.data, o.mask.code = 0, 0
	}
	c.SetRegisters(&r.Regs, r.Sp, r.Pc, r.Pstate)
	c.SetVectors(&o.vectors.v, o.vectors.mode)
	c.TLS, c.Signature, c.ZeroBlock = o.tls, o.mask.code, zeroBlock()
	return true
}

// zeroBlock returns the register DCZID_EL0, which contains the size of the memory block that the
// instruction DC ZVA clears.
func zeroBlock() uint64
