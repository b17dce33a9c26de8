package x86

import "math/bits"

// Times of a [timer] are in quarters of a cycle, since processors start about four instructions per
// cycle. The other constants are typical of processors of the last ten years.
const (
	cycle = 4

	window      = 448        // instructions that are executed at the same time
	loadTime    = 5 * cycle  // for data in the first cache
	missTime    = 20 * cycle // in addition, for data that is not in this cache
	mispredict  = 15 * cycle // from the execution of a branch to that of its target
	libraryTime = 15 * cycle // for a function of the C library that is not simulated
)

// A timer estimates how long the processor takes for the simulated instructions. No exact time is
// needed. A sample is a burst of simulated instructions, and all bursts have about the same
// estimated time, because then they show each range of code as often as the program executes it. If
// they had the same number of instructions, they would show slow code several times too often.
//
// The model of the processor executes an instruction when its operands have been computed, and
// works on up to window instructions at once. After a branch that was predicted wrongly, it
// continues only when the branch has been executed. The branch predictors identify a branch by a
// number that does not depend on the address, so what they learn in one process is used in other
// processes with the same program.
type timer struct {
	ready   [49]int     // by register, when its content is there
	ended   [window]int // when the last instructions ended, in the order of the program
	steps   int
	start   int    // when the next instruction can start
	end     int    // when the last instruction ended
	history uint64 // of the outcomes of branches, the last one in the lowest bit

	patterns [1 << 15]counter // whether a jump is taken after a history
	targets  [1 << 12]uint64  // of indirect branches after a history
}

// A counter of a branch predictor is 0 to 3. It is 2 or 3 if it was recently counted up more often
// than down, and otherwise 0 or 1.
type counter uint8

func (c *counter) count(up bool) {
	if up {
		*c = min(*c+1, 3)
	} else {
		*c = max(*c, 1) - 1
	}
}

// restart sets the time to 0. The predictors keep what they have learned.
func (t *timer) restart() {
	t.ready, t.ended = [49]int{}, [window]int{}
	t.steps, t.start, t.end, t.history = 0, 0, 0, 0
}

// step adds the time of the instruction i to the estimate. at is the address of the instruction,
// and next the address at which the program continued. missed means that the instruction accessed
// memory of which the first cache probably has no copy.
func (t *timer) step(i *Instruction, at, next uint64, missed bool) {
	begin, ended := t.start, &t.ended[t.steps%window]
	begin = max(begin, *ended)
	t.start = begin + max(1, i.timing.latency/(8*cycle)*cycle)
	for set := i.timing.reads; set != 0; set &= set - 1 {
		begin = max(begin, t.ready[bits.TrailingZeros64(set)])
	}
	if i.timing.loads {
		if begin += loadTime; missed {
			begin += missTime
		}
	}
	done := begin + i.timing.latency
	for set := i.timing.writes; set != 0; set &= set - 1 {
		t.ready[bits.TrailingZeros64(set)] = done
	}
	t.end = max(t.end, done)
	t.steps, *ended = t.steps+1, t.end
	if next != at+i.Flow.Size { // instructions that are decoded in one cycle have no gap
		t.start += cycle - 1
	}
	if !t.predicts(i, at, next) {
		t.start = max(t.start, done+mispredict)
	}
}

// predicts reports whether the processor would have predicted that the program continues at next
// after the instruction i at the address at. For a conditional jump there are two predictions, from
// the jump's own counter and from the counter for the directions of the jumps before it. The one
// that was right more often is used.
func (t *timer) predicts(i *Instruction, at, next uint64) bool {
	flow, hash := &i.Flow, i.timing.number*0x9e3779b97f4a7c15>>40
	switch {
	case flow.Jumps && !flow.Leaves:
		taken := next != at+flow.Size
		pattern := &t.patterns[(hash^t.history&0xfff)%uint64(len(t.patterns))]
		byPattern, alone := *pattern >= 2 == taken, i.timing.taken >= 2 == taken
		right := alone
		if i.timing.usesPatterns >= 2 {
			right = byPattern
		}
		if byPattern != alone {
			i.timing.usesPatterns.count(byPattern)
		}
		pattern.count(taken)
		i.timing.taken.count(taken)
		if t.history <<= 1; taken {
			t.history |= 1
		}
		return right
	case (flow.Jumps || flow.Calls) && flow.By == 0:
		target := &t.targets[(hash^t.history)%uint64(len(t.targets))]
		right := *target == next-at
		*target, t.history = next-at, t.history<<2^next
		return right
	}
	return true
}
