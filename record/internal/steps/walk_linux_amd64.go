package steps

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/opcode"
	"github.com/go-afdo/afdo/perfdata"
)

// execute walks over an instruction.
func (b *burst) execute(in opcode.Instruction, code []byte) {
	next := b.at + in.Size
	target := next + uint64(in.By)
	if b.memory.mode == 32 {
		next, target = next&0xffffffff, target&0xffffffff
	}
	switch {
	case !in.Calls && !in.Jumps && !in.Returns && in.Leaves:
		b.ended = true
	case !in.Calls && !in.Jumps && !in.Returns:
		if b.isStepping() {
			if isSystemCall(code) {
				b.ended = true
				return
			}
			b.arrive(b.step(), next)
			return
		}
		b.at = next
	case in.Jumps && !in.Leaves:
		b.conditional(next, target)
	case in.By != 0:
		if in.Calls {
			b.returns = append(b.returns, next)
		}
		from := b.at
		if b.isStepping() {
			b.arrive(b.step(), target)
		} else {
			b.at = target
		}
		b.taken(from, target)
	default:
		b.indirect(in, code, next)
	}
}

// arrive checks where a step has led.
func (b *burst) arrive(ok bool, want uint64) {
	if ok && b.pc != want { // a repeated string instruction, or a signal handler
		if b.pc == b.at && len(b.path) > 0 {
			b.path = b.path[:0]
			return
		}
		b.ended = true
	}
	if ok {
		b.at = b.pc
	}
}

// taken adds a taken branch to the sample.
func (b *burst) taken(from, to uint64) {
	b.stack = append(b.stack, perfdata.Branch{From: from, To: to})
}

// conditional walks over a conditional branch.
func (b *burst) conditional(next, target uint64) {
	from := b.at
	if next == target {
		b.at = next
		return
	}
	steps := b.isStepping() || target == from
	ok := false
	if steps {
		ok = b.runTo(from) && b.step()
	} else {
		ok = b.clear(next, target) && b.resume(unix.PTRACE_SYSCALL, next, target)
	}
	if !ok {
		b.ended = true
		return
	}
	switch b.at = b.pc; b.pc {
	case target:
		b.taken(from, target)
	case next:
	default:
		b.ended = true
	}
}

// indirect walks over an indirect branch or a return.
func (b *burst) indirect(in opcode.Instruction, code []byte, next uint64) {
	from := b.at
	if in.Calls {
		b.returns = append(b.returns, next)
	}
	if in.Jumps && len(b.returns) > 0 && b.library(code, next) {
		return
	}
	if in.Returns && b.returnTo(from) {
		return
	}
	if b.ended || !b.runTo(from) || !b.step() {
		b.ended = true
		return
	}
	b.at = b.pc
	b.taken(from, b.pc)
	if in.Returns {
		if n := len(b.returns); n > 0 && b.returns[n-1] == b.pc {
			b.returns = b.returns[:n-1]
		} else {
			b.returns = b.returns[:0]
		}
		return
	}
	if !b.isRecorded(b.pc) && b.isRecorded(from) {
		b.skipCall()
	}
}

// returnTo walks over a return to a call of the same burst. The tracer knows the return address, so
// the thread stops only there. It returns false if the address is not known, or is not reached.
func (b *burst) returnTo(from uint64) bool {
	n := len(b.returns)
	if n == 0 || b.th.process.unpredictable || b.isStepping() {
		return false
	}
	to := b.returns[n-1]
	if !b.clear(to) {
		return false
	}
	if !b.resume(unix.PTRACE_SYSCALL, to) {
		// If it was the program that has changed its return address, do not rely on it again.
		b.th.process.unpredictable = b.hasEvent && isInterrupt(b.pending) && !b.stopping.Load()
		return false
	}
	b.at, b.returns = b.pc, b.returns[:n-1]
	b.taken(from, to)
	return true
}

// isStepping reports whether each instruction is executed by a single step.
func (b *burst) isStepping() bool { return b.stats.SingleStep }

// isSystemCall reports whether code begins with an instruction that calls the kernel: syscall,
// sysenter or int. A single step over it may take as long as the call.
func isSystemCall(code []byte) bool {
	return len(code) > 1 && (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34) || code[0] == 0xcd)
}

// maxStepsOut bounds the single steps through a function of a library. Longer functions, such as a
// copy of many bytes, would use up the time of the burst: it ends there.
const maxStepsOut = 200

// stepUntil executes single steps until the thread reaches an address. It reports whether that has
// happened; not, if the thread comes to a system call or after too many steps.
func (b *burst) stepUntil(to uint64) bool {
	for range maxStepsOut {
		if b.pc == to {
			return true
		}
		in, code := b.memory.instruction(b.pc)
		if in.Size == 0 || in.Opaque || isSystemCall(code) || b.sequenceAt(b.pc) != nil || !b.step() {
			return false
		}
	}
	return false
}

// library handles a jump of the procedure linkage table into a library: jmp *slot(%rip). The slot
// names the target, so the thread need not stop before it is back.
func (b *burst) library(code []byte, next uint64) bool {
	for len(code) > 0 && (code[0] == 0xf2 || code[0] == 0x3e) { // bnd, notrack
		code = code[1:]
	}
	if b.memory.mode != 64 || len(code) < 6 || code[0] != 0xff || code[1] != 0x25 || b.isStepping() {
		return false
	}
	slot := next + uint64(int64(int32(binary.LittleEndian.Uint32(code[2:]))))
	var word [8]byte
	if readMemory(b.th.process.pid, slot, word[:]) != len(word) {
		return false
	}
	target := binary.LittleEndian.Uint64(word[:])
	if m := find(b.th.process.maps, target); m == nil || m.recorded {
		return false
	}
	b.taken(b.at, target)
	b.returnFrom(target)
	return true
}

// skipCall lets the thread run until the function that it has just entered returns.
func (b *burst) skipCall() {
	var regs unix.PtraceRegs
	if registers(b.th.tid, &regs) != nil {
		b.ended = true
		return
	}
	var word [8]byte
	size := b.memory.mode / 8
	if readMemory(b.th.process.pid, regs.Rsp, word[:size]) != size {
		b.ended = true
		return
	}
	to := binary.LittleEndian.Uint64(word[:])
	if !b.isRecorded(to) { // a jump within a library
		return
	}
	if n := len(b.returns); n == 0 || b.returns[n-1] != to {
		b.returns = append(b.returns[:0], to)
	}
	b.returnFrom(b.pc)
}

// returnFrom lets the thread run from the entry of a function in a library until it returns. The
// sample has a branch from the entry, since the tracer does not see where the function returns.
func (b *burst) returnFrom(entry uint64) {
	to := b.returns[len(b.returns)-1]
	b.returns = b.returns[:len(b.returns)-1]
	returned := false
	if b.isStepping() {
		returned = b.stepUntil(to)
	} else {
		returned = b.clear(to) && b.resume(unix.PTRACE_SYSCALL, to) && b.pc == to
	}
	if !returned {
		b.ended = true
		return
	}
	b.at = b.pc
	b.taken(entry, to)
}
