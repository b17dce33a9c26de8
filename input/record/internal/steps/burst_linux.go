//go:build amd64 || arm64

package steps

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// Limits of a burst.
const (
	// maxBurst is the longest time of a burst. Most take less than 1 ms.
	maxBurst = int64(5 * time.Millisecond)

	// clockEvery is how many instructions, or pieces of strings, the tracer simulates between two
	// looks at the clock. They take some 2 us.
	clockEvery = 32

	// maxTail bounds the instructions from the length of a burst to the next branch.
	maxTail = 100

	// maxStack is the number of branches of a sample. A record has room for 2,700.
	maxStack = 2000
)

// A burst follows one thread: it stops the thread, and simulates what the thread is about to do.
type burst struct {
	*tracer
	th     *thread
	woke   int64    // when the tracer woke for this burst
	shares bool     // the tracer has no other processor than that of the thread
	picked activity // of the thread when it was picked
	entry  bool     // it was stopped at the end of a system call or page fault
	cpu    *processor
	walked int
	stack  []perfdata.Branch
}

// moment starts a burst of a running thread, if there is one.
func (t *tracer) moment(now int64) {
	if t.stopping.Load() || t.out.isFull() {
		t.schedule.plan(now)
		return
	}
	th, picked := t.pick()
	if th == nil {
		t.schedule.plan(now)
		return
	}
	t.stats.Moments++
	if !keepsCalls && isFiltered(th.tid) {
		t.miss(th)
		t.schedule.plan(now)
		return
	}
	b := burst{tracer: t, th: th, woke: now, picked: picked, cpu: &t.cpu, stack: t.branches[:0]}
	if !b.leave() || !b.shares && !th.files.executes(b.picked.arrived) {
		_ = unix.SchedSetaffinity(0, &t.processors)
		t.miss(th)
		t.schedule.miss(clock())
		return
	}
	cost := b.run()
	_ = unix.SchedSetaffinity(0, &t.processors)
	t.stats.Stopped += time.Duration(cost)
	t.stats.Longest = max(t.stats.Longest, time.Duration(cost))
	t.schedule.add(clock(), float64(cost))
}

// miss counts a moment at which a thread ran, but was not stopped.
func (t *tracer) miss(th *thread) {
	t.stats.Missed++
	if !th.sampled {
		th.missed++
		t.stats.Unsampled++
	}
}

// maxPicks bounds how many threads a moment looks at.
const maxPicks = 32

// pick returns a random thread that is running, nil if none was found, and what it has done.
func (t *tracer) pick() (*thread, activity) {
	n := len(t.order)
	for range min(n, maxPicks) {
		i := t.random.IntN(n)
		th := t.order[i]
		if th.announced && !th.stopped && th.process.ready {
			if th.process.mapsAreOld() {
				t.refresh(th.process)
			}
			if a := t.activity(th); a.running {
				return th, a
			}
		}
		n-- // each thread once
		t.order[i], t.order[n] = t.order[n], t.order[i]
	}
	return nil, activity{}
}

// run is the whole burst. It returns for how long the thread was stopped, in nanoseconds. The
// thread runs freely afterwards.
func (b *burst) run() int64 {
	if ptrace(unix.PTRACE_INTERRUPT, b.th.tid, 0, 0) != nil || !b.await() {
		b.miss(b.th)
		return eventCost
	}
	began, worked := clock(), processorTime()
	b.stats.Stops++
	started := b.start()
	if started {
		started = b.follow(began + maxBurst)
	}
	b.release(b.th, 0)
	cost := clock() - began + eventCost
	b.stats.LongestWork = max(b.stats.LongestWork, time.Duration(processorTime()-worked))
	if started {
		b.th.copied = b.cpu.Memory.Used(b.th.copied[:0])
		b.stats.Bursts++
		b.sample()
	} else {
		b.stats.Dropped++
	}
	return cost
}

// maxSpin is for how long the tracer polls for a stop before it sleeps. A thread that executes on
// another processor stops within 10 us, and waking the tracer would take longer.
const maxSpin = int64(50 * time.Microsecond)

// await waits until the thread has stopped, and handles the events of all other threads meanwhile.
// It returns false if the thread has stopped for something else, or is gone. An interrupt that is
// still to come is handled as an event.
func (b *burst) await() bool {
	flags := 0
	if !b.shares {
		flags = unix.WNOHANG
	}
	for until := clock() + maxSpin; ; {
		if flags != 0 && clock() > until {
			flags = 0
		}
		if flags == 0 {
			b.alarm.set(alarmRepeat)
		}
		tid, status, err := wait(flags)
		switch {
		case err == nil && tid == 0:
			continue
		case err == unix.EINTR && !b.stopping.Load():
			continue
		case err != nil:
			return false
		case tid == b.th.tid && isInterrupt(status):
			return true
		}
		b.event(tid, status)
		if tid == b.th.tid || b.threads[b.th.tid] != b.th {
			return false
		}
	}
}

// isInterrupt reports whether a stop is due to PTRACE_INTERRUPT.
func isInterrupt(s unix.WaitStatus) bool {
	return s.Stopped() && int(s)>>16 == unix.PTRACE_EVENT_STOP && s.StopSignal() == unix.SIGTRAP
}

// start copies the registers of the thread, and reports whether a burst can start there.
func (b *burst) start() bool {
	var r registers
	if !r.read(b.th.tid) {
		return false
	}
	b.resetMemory()
	call, restarted := r.systemCall(b.cpu)
	if call && restarted || !b.registers.set(b.cpu, b.th.tid, &r) {
		return false
	}
	c := b.cpu
	c.Memory.ReadAhead(append(c.Addresses(b.ahead[:0]), b.th.copied...))
	b.entry = b.hadFault() || call || r.endsFault()
	c.Memory.Fresh = 0 // the first instruction is allowed to use a new page
	return b.entry || b.isRecorded(r.ip())
}

// resetMemory makes the simulation read the memory of the thread.
func (b *burst) resetMemory() {
	m := &b.cpu.Memory
	m.Reset()
	m.Read = func(addresses []uint64, to [][]byte) int { return readMemory(b.th.process.pid, addresses, to) }
	m.Constant = func(address uint64) *simulate.Page {
		if mapping := b.mapping(address); mapping != nil && mapping.constant {
			return b.pages.of(b.th.process, mapping, address, m.Read)
		}
		return nil
	}
	b.pages.trim(&b.cpu.Kept)
}

// hadFault reports whether a stop that came just after a page fault looks like one in user code.
// The instruction at which the thread is uses new memory then, and will be executed again.
func (b *burst) hadFault() bool {
	return b.cpu.TouchesZeros() && b.activity(b.th).faults != b.picked.faults
}

// maxPause is the longest time for which the tracer waits after it has left the thread's processor.
const maxPause = int64(300 * time.Microsecond)

// leave moves the tracer to another processor than that of the thread, and lets the thread run for
// a random time. On the same processor, the tracer would see the thread only where the kernel lets
// it be interrupted, such as after a page fault. It returns false if the moment has passed.
func (b *burst) leave() bool {
	others := b.processors
	others.Clear(b.picked.cpu)
	if others.Count() == 0 {
		b.shares = true
		return true
	}
	if ownProcessor() != b.picked.cpu {
		return true
	}
	_ = unix.SchedSetaffinity(0, &others)
	pause := unix.NsecToTimespec(b.random.Int64N(maxPause))
	_ = unix.Nanosleep(&pause, nil) // an event or a signal may end it early
	b.picked = b.activity(b.th)
	return b.picked.running && ownProcessor() != b.picked.cpu
}

// isRecorded reports whether an address is in code to record.
func (b *burst) isRecorded(address uint64) bool {
	m := b.mapping(address)
	return m != nil && m.recorded
}

// mapping returns the mapping of an address, nil if there is none.
func (b *burst) mapping(address uint64) *mapping {
	return find(b.th.process.maps, address)
}

// maxBetween limits the instructions of a burst after a system call or page fault, as a multiple of
// Config.Length.
const maxBetween = 10

// lengthBetween returns the number of instructions within which a burst that begins at the end of a
// system call or page fault has to come to the next one, or it is dropped. It is not dropped if
// this number is the limit, so code without either is recorded as well.
//
// A thread that is being stopped runs on for some 25 us on a virtual machine, and the end of a
// system call or page fault stops it at once. So no other burst begins in the instructions that
// follow. This burst stands for all moments in the kernel and in the instructions after it. Their
// number is the time of both, and the burst shows each instruction once, so it is kept with the
// share that a burst of the usual length has in this time. The time in the kernel is estimated from
// the times of the thread in the kernel and in user mode. Drawing the length in advance saves
// simulating most of what is dropped.
func (b *burst) lengthBetween() int {
	kernel := 1 + float64(b.picked.system+1)/float64(b.picked.user+1)
	usual := float64(b.config.Length)
	return int(min(maxBetween*usual, usual*(1/b.random.Float64()-1)/kernel))
}

// follow simulates the thread until the burst is long enough, or an instruction cannot be
// simulated, such as a system call. It ends at a taken branch, so that every piece of code that
// begins within the burst is as likely to be whole as any other. It returns false if the burst is
// to be dropped.
func (b *burst) follow(deadline int64) bool {
	c, look := b.cpu, 0
	c.Work = 0
	length, keep := b.config.Length, true
	if b.entry {
		length = b.lengthBetween()
		keep = length >= maxBetween*b.config.Length
	}
	for b.walked < length+maxTail && (!b.entry || c.Memory.Fresh == 0) {
		if work := b.walked + c.Work; work >= look {
			if look = work + clockEvery; clock() > deadline || b.stopping.Load() {
				return keep
			}
		}
		in, from := c.Decode(), c.IP
		if in == nil {
			return true
		}
		next, name := from+in.Flow.Size, ""
		if slot := c.Slot(in); slot != 0 {
			name = b.libraryFunction(from, slot)
		}
		if !c.Execute(in) {
			return true
		}
		b.walked++
		if flow := &in.Flow; flow.Leaves || flow.Calls || flow.Jumps && c.IP != next {
			b.taken(from, c.IP)
			if b.walked >= length {
				return keep
			}
		}
		if name == "" {
			continue
		}
		if entry := c.IP; c.Call(name) {
			b.taken(entry, c.IP)
		} else {
			return true
		}
	}
	return keep || b.entry && c.Memory.Fresh > 0
}

// taken adds a taken branch to the sample, unless it is one within code that is not recorded.
func (b *burst) taken(from, to uint64) {
	if b.isRecorded(from) || b.isRecorded(to) {
		b.stack = append(b.stack, perfdata.Branch{From: from, To: to})
	}
}

// libraryFunction returns the name of the C library's function that an instruction enters, if it
// is one that need not be simulated. The instruction gets its target from a slot of a table.
func (b *burst) libraryFunction(from, slot uint64) string {
	m := b.mapping(from)
	if m == nil {
		return ""
	}
	if t := b.slots[m.file]; t != nil { // it is not read now, because the thread is stopped
		return t.name(m, slot)
	}
	return ""
}

// sample writes the branches of the burst as samples, newest first.
func (b *burst) sample() {
	b.branches = b.stack
	if len(b.stack) < 2 {
		b.stats.Dropped++
		return
	}
	if th := b.th; !th.sampled {
		th.sampled = true
		b.stats.Sampled++
		b.stats.Unsampled -= th.missed
	}
	for piece := range slices.Chunk(b.stack, maxStack) {
		slices.Reverse(piece)
		b.emit(&perfdata.Sample{
			Mode: perfdata.ModeUser, PID: int32(b.th.process.pid), TID: int32(b.th.tid), Time: uint64(clock()),
			IP: piece[0].To, Period: uint64(b.walked * len(piece) / len(b.stack)), Branches: piece,
		})
	}
}
