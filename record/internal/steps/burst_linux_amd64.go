package steps

import (
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/perfdata"
)

// Limits of a burst.
const (
	// maxBurst is the longest time of a burst. With the stop that follows, it stays below 20 ms.
	// The time in which the thread waits for a processor does not count: it would wait without a
	// burst, too.
	maxBurst = int64(10 * time.Millisecond)

	// maxCrowded is the longest time of a burst with the time in which the thread waits.
	maxCrowded = int64(100 * time.Millisecond)

	// maxWalk bounds the instructions of a burst, including those of libraries, as a multiple of
	// its length.
	maxWalk = 8

	// maxStack is the number of branches of a sample. A record has room for 2,700.
	maxStack = 1000

	// maxPath bounds the code between two stops, in instructions.
	maxPath = 2000
)

// A burst follows one thread.
type burst struct {
	*tracer
	th    *thread
	began int64
	delay int64 // time for which the thread had waited for a processor when the burst began

	pc       uint64 // where the thread is stopped
	resuming bool   // the breakpoint at pc, if any, does not trigger when the thread continues
	at       uint64 // the walker: the thread gets there without a conditional branch
	path     []uint64
	returns  []uint64 // return addresses of calls in this burst

	registers [4]uint64 // debug registers: addresses
	control   uint64    // debug register 7

	rseq     uint64 // address of the thread's rseq structure
	counted  int    // instructions of recorded code
	walked   int    // all instructions
	stack    []perfdata.Branch
	reread   bool // mappings were read again in this burst
	ended    bool // the burst is over
	gone     bool // the thread is gone, or runs already
	pending  unix.WaitStatus
	hasEvent bool // pending is an event for tracer.event
}

// moment starts a burst of a running thread, if there is one.
func (t *tracer) moment(now int64) {
	if t.stopping.Load() || t.out.isFull() {
		t.schedule.plan(now)
		return
	}
	th := t.pick()
	if th == nil {
		t.schedule.plan(now)
		return
	}
	if th.process.mapsAreOld() {
		t.refresh(th.process)
	}
	if th.process.trapping {
		t.schedule.plan(now)
		return
	}
	b := burst{tracer: t, th: th, began: clock(), delay: delayOf(th.process.pid, th.tid)}
	t.alarm.set(maxBurst)
	b.run()
	end, cost := clock(), b.duration()
	t.stats.Stopped += time.Duration(cost)
	t.stats.Longest = max(t.stats.Longest, time.Duration(cost))
	t.schedule.add(end, float64(cost))
}

// maxPicks bounds how many threads a moment looks at.
const maxPicks = 32

// isRunning reports whether the thread executes, and notes where.
func (th *thread) isRunning() (ok bool) {
	th.processor, ok = runningOn(th.process.pid, th.tid)
	return ok
}

// pick returns a random thread that is running, nil if none was found.
func (t *tracer) pick() *thread {
	n := len(t.order)
	for range min(n, maxPicks) {
		i := t.random.IntN(n)
		th := t.order[i]
		if th.announced && !th.stopped && th.process.ready && th.isRunning() {
			return th
		}
		n-- // each thread once
		t.order[i], t.order[n] = t.order[n], t.order[i]
	}
	return nil
}

// run is the whole burst. The thread runs freely afterwards.
func (b *burst) run() {
	if ptrace(unix.PTRACE_INTERRUPT, b.th.tid, 0, 0) != nil {
		return // it was killed, and wait will report that
	}
	if !b.await() {
		return
	}
	b.began = clock()                           // until now, the thread was not stopped
	if !b.hasEvent || !isInterrupt(b.pending) { // something else has stopped it; the interrupt is still to come
		b.finish()
		return
	}
	b.hasEvent = false
	t := b.tracer
	t.moveTo(b.th.processor)
	defer t.moveBack()
	if b.start() {
		b.stats.Bursts++
		b.follow()
	} else {
		b.stats.Elsewhere++
	}
	b.sample()
	b.finish()
	b.stats.Instructions += uint64(b.walked)
}

// moveTo moves this thread to the processor of the thread that it follows. Waking a thread on
// another processor takes longer: stops get 10 to 25% shorter on a busy machine of two processors.
func (t *tracer) moveTo(processor int) {
	var one unix.CPUSet
	one.Set(processor)
	_ = unix.SchedSetaffinity(0, &one)
}

// moveBack lets this thread run anywhere again.
func (t *tracer) moveBack() { _ = unix.SchedSetaffinity(0, &t.processors) }

// isInterrupt reports whether a stop is due to PTRACE_INTERRUPT.
func isInterrupt(s unix.WaitStatus) bool {
	return s.Stopped() && int(s)>>16 == unix.PTRACE_EVENT_STOP && s.StopSignal() == unix.SIGTRAP
}

// await waits until the thread has stopped, and handles the events of all other threads meanwhile.
// It returns false if the thread is gone. The stop is in pending.
func (b *burst) await() bool {
	interrupted := false
	for {
		tid, status, err := wait(0)
		switch {
		case err == unix.EINTR:
			if !interrupted && b.overdue() {
				interrupted = true
				if ptrace(unix.PTRACE_INTERRUPT, b.th.tid, 0, 0) != nil {
					interrupted = false
				}
			}
			continue
		case err != nil:
			b.gone, b.ended = true, true
			return false
		case tid != b.th.tid:
			b.tracer.event(tid, status)
			if b.threads[b.th.tid] != b.th { // execve of another thread has ended it
				b.gone, b.ended = true, true
				return false
			}
			continue
		}
		b.pending, b.hasEvent = status, true
		b.stats.Stops++
		if status.Exited() || status.Signaled() {
			b.gone, b.ended = true, true
			b.tracer.event(tid, status)
			return false
		}
		return true
	}
}

// overdue reports whether the burst has to end.
func (b *burst) overdue() bool {
	wall := clock() - b.began
	return b.stopping.Load() || wall > maxCrowded || wall > maxBurst && b.duration() > maxBurst
}

// duration returns for how long the burst has kept the thread from running, in nanoseconds.
func (b *burst) duration() int64 {
	wall := clock() - b.began
	return max(0, wall-(delayOf(b.th.process.pid, b.th.tid)-b.delay))
}

// start looks where the thread is, and reports whether a burst can start there.
func (b *burst) start() bool {
	var regs unix.PtraceRegs
	if registers(b.th.tid, &regs) != nil || blocksTraps(b.th.tid) {
		return false
	}
	const restart, restartLast = -516, -512 // the kernel's ERESTART errors: a system call was interrupted
	if result := int64(regs.Rax); int64(regs.Orig_rax) >= 0 && result >= restart && result <= restartLast {
		return false
	}
	const trapFlag = 0x100
	if regs.Eflags&trapFlag != 0 { // the program single-steps itself
		return false
	}
	const code32 = 0x23 // the code segment of 32-bit code
	mode := 64
	if regs.Cs == code32 {
		mode = 32
	}
	b.memory.reset(b.th.process.pid, mode)
	b.pc, b.at = regs.Rip, regs.Rip
	b.rseq = sequenceAddress(b.th.tid)
	b.learnSequence()
	return b.isRecorded(b.pc)
}

// isRecorded reports whether an address is in code to record.
func (b *burst) isRecorded(address uint64) bool {
	m := find(b.th.process.maps, address)
	if m == nil && !b.reread {
		b.reread = true
		b.refresh(b.th.process)
		m = find(b.th.process.maps, address)
	}
	return m != nil && m.recorded
}

// follow walks until the burst is long enough. It ends at a taken branch, so that every piece of
// code that begins within the burst is as likely to be whole as any other.
func (b *burst) follow() {
	for !b.ended {
		if b.walked >= maxWalk*b.config.Length || len(b.stack) >= maxStack || len(b.path) >= maxPath {
			return
		}
		if s := b.sequenceAt(b.at); s != nil {
			b.leaveSequence(s)
			continue
		}
		in, code := b.memory.instruction(b.at)
		if in.Size == 0 || in.Opaque {
			return
		}
		b.walked++
		if b.isRecorded(b.at) {
			b.counted++
		}
		b.path = append(b.path, b.at)
		taken := len(b.stack)
		b.execute(in, code)
		if len(b.stack) > taken && b.counted >= b.config.Length {
			return
		}
	}
}

// clear runs to the walker if an address is on the path there. A breakpoint at the address would
// otherwise trigger too early.
func (b *burst) clear(addresses ...uint64) bool {
	for _, a := range addresses {
		i := slices.Index(b.path, a)
		if i > 0 || i == 0 && !(b.resuming && b.path[0] == b.pc) {
			return b.runTo(b.at)
		}
	}
	return true
}

// runTo lets the thread run to the walker's instruction.
func (b *burst) runTo(to uint64) bool {
	if b.pc == to {
		b.path = b.path[:0]
		return true
	}
	return b.resume(unix.PTRACE_SYSCALL, to) && b.pc == to
}

// step executes one instruction.
func (b *burst) step() bool { return b.resume(unix.PTRACE_SINGLESTEP) }

// breakAt sets hardware breakpoints at up to four addresses, and clears all others.
func (b *burst) breakAt(addresses []uint64) bool {
	var control uint64
	for _, a := range addresses {
		slot := slices.Index(b.registers[:], a)
		if slot < 0 || control>>(2*slot)&1 != 0 {
			slot = 0
			for control>>(2*slot)&1 != 0 || slices.Contains(addresses, b.registers[slot]) && b.registers[slot] != 0 {
				slot++
			}
			if !b.setRegister(slot, a) {
				return false
			}
			b.registers[slot] = a
		}
		control |= 1 << (2 * slot)
	}
	if control != b.control {
		if !b.setRegister(7, control) {
			return false
		}
		b.control = control
	}
	return true
}

// setRegister writes a debug register.
func (b *burst) setRegister(i int, value uint64) bool {
	err := pokeDebugRegister(b.th.tid, i, value)
	if err != nil && err != unix.ESRCH {
		b.stats.SingleStep = true // from now on
	}
	return err == nil
}

// resume lets the thread run until it has executed one instruction, or reaches one of some
// addresses. It returns false if something else happens, which ends the burst.
func (b *burst) resume(how int, addresses ...uint64) bool {
	if b.overdue() || !b.breakAt(addresses) {
		b.ended = true
		return false
	}
	for {
		b.th.stepping = how == unix.PTRACE_SINGLESTEP
		if ptrace(how, b.th.tid, 0, 0) != nil || !b.await() {
			b.ended = true
			return false
		}
		if !b.isHarmlessCall() {
			break
		}
	}
	signal, cause := b.pending.StopSignal(), int(b.pending)>>16
	if signal != unix.SIGTRAP || cause != 0 {
		b.ended = true
		return false
	}
	var regs unix.PtraceRegs
	if registers(b.th.tid, &regs) != nil {
		b.ended = true
		return false
	}
	expected := len(addresses) == 0 || slices.Contains(addresses, regs.Rip)
	if !b.th.isOurTrap(expected) { // the program's own
		b.ended = true
		return false
	}
	b.hasEvent = false
	if !expected {
		b.ended = true
		return false
	}
	b.pc, b.resuming = regs.Rip, len(addresses) > 0
	b.path = b.path[:0]
	b.learnSequence()
	return true
}

// harmless are system calls that do not block, and do not change signals or threads.
var harmless = map[uint64]bool{
	unix.SYS_BRK: true, unix.SYS_MMAP: true, unix.SYS_MUNMAP: true, unix.SYS_MPROTECT: true, unix.SYS_MADVISE: true,
	unix.SYS_MREMAP: true, unix.SYS_CLOCK_GETTIME: true, unix.SYS_GETTIMEOFDAY: true, unix.SYS_TIME: true, unix.SYS_GETPID: true,
	unix.SYS_GETTID: true, unix.SYS_LSEEK: true, unix.SYS_FSTAT: true, unix.SYS_NEWFSTATAT: true, unix.SYS_GETRANDOM: true,
}

// isHarmlessCall reports whether the thread has stopped at a system call during which the burst can
// go on. The stop after such a call counts as well.
func (b *burst) isHarmlessCall() bool {
	if b.pending.StopSignal() != unix.SIGTRAP|0x80 {
		return false
	}
	var regs unix.PtraceRegs
	return b.memory.mode == 64 && registers(b.th.tid, &regs) == nil && harmless[regs.Orig_rax] && !b.overdue()
}

// sample writes the branches of the burst as a sample, newest first.
func (b *burst) sample() {
	if len(b.stack) < 2 {
		return
	}
	slices.Reverse(b.stack)
	b.stats.Branches += uint64(len(b.stack))
	b.emit(&perfdata.Sample{
		Mode: perfdata.ModeUser, PID: int32(b.th.process.pid), TID: int32(b.th.tid), Time: uint64(clock()),
		IP: b.stack[0].To, Period: uint64(b.walked), Branches: b.stack,
	})
	b.stack = nil
}

// finish clears the breakpoints and lets the thread run.
func (b *burst) finish() {
	if b.gone {
		return
	}
	b.breakAt(nil)
	for b.hasEvent && isInterrupt(b.pending) && b.hasTrap() {
		b.tracer.release(b.th, 0)
		if !b.await() {
			return
		}
	}
	forTrap := b.hasEvent && b.pending.StopSignal() == unix.SIGTRAP && !isInterrupt(b.pending)
	b.th.stepping = b.th.stepping && (forTrap || b.hasTrap())
	if b.hasEvent {
		b.tracer.event(b.th.tid, b.pending)
		return
	}
	b.tracer.release(b.th, 0)
}

// hasTrap reports whether a breakpoint has triggered at the same moment as the burst was
// interrupted. The thread then stops once more, for a signal that [tracer.event] drops.
func (b *burst) hasTrap() bool {
	pending, err := strconv.ParseUint(statusField(b.th.tid, "SigPnd"), 16, 64)
	return err == nil && pending&(1<<(unix.SIGTRAP-1)) != 0
}
