//go:build amd64 || arm64

package steps

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// Limits of a burst, which is the simulation of one stopped thread.
const (
	// maxBurst is the longest time of a burst. Most take less than 1 ms.
	maxBurst = int64(5 * time.Millisecond)

	// clockEvery is the length, or the number of pieces of strings, that the tracer simulates
	// before it checks the clock again. That takes some 2 to 4 us.
	clockEvery = 32

	// maxTail limits how far beyond its length a burst goes on to reach the next taken branch.
	maxTail = 100

	// maxStack is the largest number of branches in a sample. A record has room for 2,700.
	maxStack = 2000
)

// A burst stops one thread and simulates the instructions that the thread will execute next. Its
// taken branches become samples with branch stacks.
type burst struct {
	*tracer
	th      *thread
	picked  activity // of the thread when it was picked
	lengths []int    // length of each sample, in the unit of DefaultLength; all samples begin where the thread stopped
	cpu     *processor
	memory  int // open file with the memory of the process
	walked  int // length that was simulated so far
	wanted  int // length to simulate, up to a system call
	stack   []perfdata.Branch
	at      []int // for each branch of stack, the length that was simulated up to it
}

// tryBurst runs at each of the random times that the schedule has chosen. It picks a running
// thread, if there is one, stops the thread and records a burst: it simulates the thread's next
// instructions. Then the schedule chooses the next time. now is the current time in nanoseconds.
func (t *tracer) tryBurst(now int64) {
	th, picked, running := t.pick()
	if th == nil {
		t.schedule.plan(now)
		return
	}
	if t.most = max(t.most, running); t.random.IntN(t.most) >= running { // of a phase with fewer threads
		t.schedule.miss(now)
		return
	}
	t.stats.Moments++
	if !keepsCalls && isFiltered(th.tid) {
		t.miss(th)
		t.schedule.plan(now)
		return
	}
	b := burst{tracer: t, th: th, picked: picked, lengths: []int{t.config.Length}, cpu: &t.cpu, memory: openMemory(th.tid), stack: t.branches[:0]}
	defer func() {
		_ = unix.Close(b.memory)
		_ = unix.SchedSetaffinity(0, &t.processors)
	}()
	if !b.join() {
		t.miss(th)
		t.schedule.miss(clock())
		return
	}
	cost := b.run()
	t.stats.Stopped += time.Duration(cost)
	t.stats.Longest = max(t.stats.Longest, time.Duration(cost))
	t.schedule.add(clock(), float64(cost))
}

// miss counts a burst that did not take place in the statistics: the tracer had picked the running
// thread th, but could not stop it.
func (t *tracer) miss(th *thread) {
	t.stats.Missed++
	if !th.sampled {
		th.missed++
		t.stats.Unsampled++
	}
}

// maxPicks limits how many threads are checked at one moment to find a running thread.
const maxPicks = 32

// pick returns a thread that runs or waits for a processor, and what /proc says about the thread.
// All such threads have the same probability to be picked. The result is nil if pick finds no such
// thread, if the recording is ending, or if too many records wait to be written. running is the
// number of running threads, at most the number of processors.
func (t *tracer) pick() (picked *thread, at activity, running int) {
	n, most := len(t.order), t.processors.Count()
	if t.stopping.Load() || t.out.isFull() {
		return nil, at, 0
	}
	for tries := min(n, maxPicks); tries > 0 && running < most; tries-- {
		i := t.random.IntN(n)
		th := t.order[i]
		if th.announced && !th.stopped && th.process.ready {
			if th.process.mapsAreOld() {
				t.refresh(th)
			}
			if a := t.activity(th); a.running {
				if running++; picked == nil {
					picked, at = th, a
				}
			}
		}
		n-- // each thread once
		t.order[i], t.order[n] = t.order[n], t.order[i]
	}
	return picked, at, running
}

// run stops the burst's thread, simulates the instructions that the thread will execute next, lets
// the thread run on, and writes the samples. It returns the time for which the thread was stopped,
// in nanoseconds.
func (b *burst) run() int64 {
	if ptrace(unix.PTRACE_INTERRUPT, b.th.tid, 0, 0) != nil || !b.await() {
		b.miss(b.th)
		return eventCost
	}
	began, worked := clock(), processorTime()
	b.stats.Stops++
	started := b.start()
	if started {
		b.follow(began + maxBurst)
	}
	b.release(b.th, 0)
	cost := clock() - began + eventCost
	b.stats.LongestWork = max(b.stats.LongestWork, time.Duration(processorTime()-worked))
	if started {
		b.stats.Bursts++
		b.stats.Wanted += uint64(b.wanted)
		b.stats.Simulated += uint64(min(b.walked, b.wanted))
	}
	if !started || !b.sample() {
		b.stats.Dropped++
	}
	return cost
}

// await waits until the burst's thread has stopped because the tracer interrupted it. Meanwhile it
// handles the events of all other threads. It returns false if the thread has stopped for another
// reason, such as a signal, or has ended. The stop for the interrupt then comes later, and the
// tracer handles it like any other event.
func (b *burst) await() bool {
	for {
		b.alarm.set(alarmRepeat)
		tid, status, err := wait(0)
		switch {
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

// isInterrupt reports whether a thread has stopped, with wait status s, because the tracer has
// called PTRACE_INTERRUPT.
func isInterrupt(s unix.WaitStatus) bool {
	return s.Stopped() && int(s)>>16 == unix.PTRACE_EVENT_STOP && s.StopSignal() == unix.SIGTRAP
}

// start copies the registers of the stopped thread to the simulated processor. It reports whether
// the simulation can start at the thread's next instruction. It cannot if the thread was stopped at
// the end of a page fault, for example.
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
	if call {
		at, _ := b.placeOf(r.ip())
		b.lengths = b.unfinished[at]
		delete(b.unfinished, at)
	}
	return len(b.lengths) > 0 && (call || !r.endsFault(b.cpu))
}

// resetMemory prepares the simulated memory for the burst's thread. It drops the copies of memory
// that earlier bursts have made, except for pages whose content does not change, such as code.
func (b *burst) resetMemory() {
	m := &b.cpu.Memory
	m.Reset()
	m.Read = func(address uint64, to []byte) int { return readMemory(b.memory, address, to) }
	m.Constant = func(address uint64) *simulate.Page {
		if mapping := b.mapping(address); mapping != nil && mapping.constant {
			return b.pages.of(b.th.process, mapping, address, m.Read)
		}
		return nil
	}
	b.pages.trim(&b.cpu.Kept)
}

// maxPause limits the random time for which join sleeps.
const maxPause = int64(300 * time.Microsecond)

// join moves the tracer to the processor of the burst's thread, and sleeps there for a random time.
// The timer that ends the sleep interrupts the thread between any two of its instructions.
//
// Without join, the tracer would stop a thread on another processor. On a virtual machine, such a
// thread runs on for some 25 us, and stops at once if a system call or page fault ends meanwhile.
// So code between frequent page faults would be sampled only at the faults.
//
// join returns false if the thread is not on this processor any more.
func (b *burst) join() bool {
	var only unix.CPUSet
	only.Set(b.picked.cpu)
	_ = unix.SchedSetaffinity(0, &only) // it fails for processors that the tracer must not use
	pause := unix.NsecToTimespec(b.random.Int64N(maxPause))
	_ = unix.Nanosleep(&pause, nil) // an event or a signal may end it early
	b.picked = b.activity(b.th)
	return b.picked.running && (ownProcessor() == b.picked.cpu || !b.processors.IsSet(b.picked.cpu))
}

// isRecorded reports whether an address of the burst's thread is in code whose branches are
// recorded, for example not in the C library.
func (b *burst) isRecorded(address uint64) bool {
	m := b.mapping(address)
	return m != nil && m.recorded
}

// mapping returns the thread's mapping that contains an address, nil if there is none.
func (b *burst) mapping(address uint64) *mapping {
	return find(b.th.process.maps, address)
}

// A place is the position of an instruction in a file, such as a program or a library: the file and
// the offset in it.
type place struct {
	file   fileID
	offset uint64
}

// Limits of tracer.unfinished: the number of places in files, and the number of unfinished samples
// at each place.
const (
	maxPlaces = 1000
	maxCut    = 50
)

// placeOf returns the file that the burst's thread has mapped at an address, and the offset in this
// file. It returns false if no file is mapped there.
func (b *burst) placeOf(address uint64) (place, bool) {
	m := b.mapping(address)
	if m == nil || m.file == (fileID{}) {
		return place{}, false
	}
	return place{m.file, address - m.Start + m.PageOffset}, true
}

// cut is called when the simulation ends before the burst has its length, mostly before a system
// call. address is the address of the next instruction. cut stores how many instructions each
// sample of the burst still lacks. If a later burst stops a thread at this address, at the end of
// the system call, then that burst simulates the missing instructions and no more. So code after a
// system call is sampled as often as it runs, however long the call takes.
func (b *burst) cut(address uint64) {
	at, ok := b.placeOf(address)
	if !ok || len(b.unfinished) >= maxPlaces && b.unfinished[at] == nil {
		return
	}
	for _, n := range b.lengths {
		if list := b.unfinished[at]; n > b.walked && len(list) < maxCut {
			b.unfinished[at] = append(list, n-b.walked)
		}
	}
}

// follow simulates the thread until the burst has its length and has reached a taken branch. It
// ends earlier at the deadline, or if an instruction cannot be simulated, such as a system call.
//
// The length is an estimated time, because bursts start at random times. Bursts of the same time
// show code as often as the program executes it. Bursts with the same number of instructions would
// show slow code too often. Since a burst ends at a branch, every range of code that begins within
// it is equally likely to be complete.
func (b *burst) follow(deadline int64) {
	c, look, length := b.cpu, 0, slices.Max(b.lengths)
	c.Restart()
	b.wanted = length
	for b.walked < length+maxTail {
		if work := b.walked + c.Work; work >= look {
			if look = work + clockEvery; clock() > deadline || b.stopping.Load() {
				return
			}
		}
		in, from := c.Decode(), c.IP
		if in == nil {
			return
		}
		next, name := from+in.Flow.Size, ""
		if slot := c.Slot(in); slot != 0 {
			name = b.libraryFunction(from, slot)
		}
		if !c.Execute(in) {
			if b.cut(next); in.EntersKernel() {
				b.wanted = min(b.walked, length)
			}
			return
		}
		b.walked = c.Elapsed()
		if flow := &in.Flow; flow.Leaves || flow.Calls || flow.Jumps && c.IP != next {
			b.taken(perfdata.Branch{From: from, To: c.IP})
			if b.walked >= length {
				return
			}
		}
		if name == "" {
			continue
		}
		entry := c.IP
		c.Memory.Copied = -1
		if !c.Call(name) {
			return
		}
		b.taken(perfdata.Branch{From: entry, To: c.IP, Flags: perfdata.FlagsOfCopy(c.Memory.Copied)})
	}
}

// taken adds a taken branch to the burst. It ignores a branch whose source and target are both in
// code that is not recorded.
func (b *burst) taken(branch perfdata.Branch) {
	if b.isRecorded(branch.From) || b.isRecorded(branch.To) {
		b.stack, b.at = append(b.stack, branch), append(b.at, b.walked)
	}
}

// libraryFunction returns the name of the C library's function that a jump or call at the address
// from enters, if the simulation knows the effect of this function, and "" otherwise. slot is the
// address of the table entry that contains the target of the jump.
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

// sample writes the branches of the burst as samples with branch stacks, newest branch first. A
// burst that is longer than a branch stack gives several samples. It returns false if the burst has
// too few branches for a sample.
func (b *burst) sample() (found bool) {
	b.branches = b.stack
	for _, length := range b.lengths {
		end, _ := slices.BinarySearch(b.at, length)
		if end = min(end+1, len(b.stack)); end < 2 {
			continue
		}
		found = true
		for piece := range slices.Chunk(b.stack[:end], maxStack) {
			piece = slices.Clone(piece)
			slices.Reverse(piece)
			b.emit(&perfdata.Sample{
				Mode: perfdata.ModeUser, PID: int32(b.th.process.pid), TID: int32(b.th.tid), Time: uint64(clock()),
				IP: piece[0].To, Period: uint64(min(length, b.walked) * len(piece) / end), Branches: piece,
			})
		}
	}
	if th := b.th; found && !th.sampled {
		th.sampled = true
		b.stats.Sampled++
		b.stats.Unsampled -= th.missed
	}
	return found
}
