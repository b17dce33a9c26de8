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

// A burst stops one thread and simulates the instructions that the thread will execute next.
type burst struct {
	*tracer
	th      *thread
	picked  activity // of the thread when it was picked
	lengths []int    // length of each sample, in the unit of DefaultLength; all samples begin where the thread stopped
	cpu     *processor
	walked  int // length that was simulated so far
	wanted  int // length to simulate, up to a system call
	stack   []perfdata.Branch
	at      []int // for each branch of stack, the length that was simulated up to it
}

// moment runs at each random time that the schedule has planned. It picks a running thread, if
// there is one, stops the thread and records a burst. Then it plans the next time.
func (t *tracer) moment(now int64) {
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
	b := burst{tracer: t, th: th, picked: picked, lengths: []int{t.config.Length}, cpu: &t.cpu, stack: t.branches[:0]}
	defer func() { _ = unix.SchedSetaffinity(0, &t.processors) }()
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

// miss counts a planned burst that did not take place, because the picked thread ran but could not
// be stopped.
func (t *tracer) miss(th *thread) {
	t.stats.Missed++
	if !th.sampled {
		th.missed++
		t.stats.Unsampled++
	}
}

// maxPicks limits how many threads are checked at one moment to find a running thread.
const maxPicks = 32

// pick returns a thread that runs or waits for a processor, chosen at random with equal
// probabilities, and the processor on which it ran last. It returns nil if it finds no such thread,
// or if no burst may start. running is the number of running threads, at most the number of
// processors.
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
				t.refresh(th.process)
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

// run stops the thread, simulates the instructions that it will execute next, lets it run on, and
// writes the samples. It returns the time for which the thread was stopped, in nanoseconds.
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
		b.th.copied = b.cpu.Memory.Used(b.th.copied[:0])
		b.stats.Bursts++
		b.stats.Wanted += uint64(b.wanted)
		b.stats.Simulated += uint64(min(b.walked, b.wanted))
	}
	if !started || !b.sample() {
		b.stats.Dropped++
	}
	return cost
}

// await waits until the thread has stopped for the burst, and meanwhile handles the events of all
// other threads. It returns false if the thread has stopped for another reason, or has ended. The
// tracer then handles the stop for the burst as an event when it comes.
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

// isInterrupt reports whether a stop is due to PTRACE_INTERRUPT.
func isInterrupt(s unix.WaitStatus) bool {
	return s.Stopped() && int(s)>>16 == unix.PTRACE_EVENT_STOP && s.StopSignal() == unix.SIGTRAP
}

// start copies the registers of the stopped thread to the simulated processor. It reports whether
// the simulation can start at the thread's next instruction.
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
	if call {
		at, _ := b.placeOf(r.ip())
		b.lengths = b.unfinished[at]
		delete(b.unfinished, at)
	}
	return len(b.lengths) > 0 && (call || !r.endsFault(c))
}

// resetMemory prepares the simulated memory for the burst's thread. It drops the memory of earlier
// bursts, except for pages that do not change.
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

// maxPause limits the random time for which join sleeps.
const maxPause = int64(300 * time.Microsecond)

// join moves the tracer to the processor of the thread, and sleeps there for a random time. The
// timer that ends the sleep interrupts the thread between two instructions of its own. A thread on
// another processor runs on for some 25 us on a virtual machine before it stops, and the end of a
// system call or page fault meanwhile stops it at once: code between frequent faults would only be
// seen there. Join returns false if the thread is not on this processor any more.
func (b *burst) join() bool {
	var only unix.CPUSet
	only.Set(b.picked.cpu)
	_ = unix.SchedSetaffinity(0, &only) // it fails for processors that the tracer must not use
	pause := unix.NsecToTimespec(b.random.Int64N(maxPause))
	_ = unix.Nanosleep(&pause, nil) // an event or a signal may end it early
	b.picked = b.activity(b.th)
	return b.picked.running && (ownProcessor() == b.picked.cpu || !b.processors.IsSet(b.picked.cpu))
}

// isRecorded reports whether an address is in code that bursts record.
func (b *burst) isRecorded(address uint64) bool {
	m := b.mapping(address)
	return m != nil && m.recorded
}

// mapping returns the thread's mapping that contains an address, nil if there is none.
func (b *burst) mapping(address uint64) *mapping {
	return find(b.th.process.maps, address)
}

// A place is an instruction in a file, such as a program or a library.
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

// placeOf returns the file and the file offset that are mapped at an address. ok is false if no
// file is mapped there.
func (b *burst) placeOf(address uint64) (place, bool) {
	m := b.mapping(address)
	if m == nil || m.file == (fileID{}) {
		return place{}, false
	}
	return place{m.file, address - m.Start + m.PageOffset}, true
}

// cut is called when the simulation ends early, mostly before a system call. address is the address
// of the next instruction. cut stores how many instructions each sample of the burst still lacks.
// If a later burst stops a thread at the end of the system call, at this address, that burst
// simulates the missing instructions, and no more. So code after a system call is sampled as often
// as it runs, however long the call takes.
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

// follow simulates the thread until the burst has its length and has reached a taken branch. The
// length is an estimated time, since moments are random times: bursts of the same time show code as
// often as it is executed, and bursts of as many instructions would show slow code too often. It
// ends earlier at the deadline, or if an instruction cannot be simulated, such as a system call.
// Since a burst ends at a branch, every range of code that begins within it is equally likely to be
// complete.
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
			b.taken(from, c.IP)
			if b.walked >= length {
				return
			}
		}
		if name == "" {
			continue
		}
		entry := c.IP
		if !c.Call(name) {
			return
		}
		b.taken(entry, c.IP)
	}
}

// taken adds a taken branch to the burst, unless both its source and its target are in code that is
// not recorded.
func (b *burst) taken(from, to uint64) {
	if b.isRecorded(from) || b.isRecorded(to) {
		b.stack, b.at = append(b.stack, perfdata.Branch{From: from, To: to}), append(b.at, b.walked)
	}
}

// libraryFunction returns the name of the C library's function that a jump or call enters, if the
// simulation knows the effect of this function, and "" otherwise. slot is the address of the table
// entry with the target.
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

// sample writes the branches of the burst as samples, each with its newest branch first. It returns
// false if the burst has no branches.
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
