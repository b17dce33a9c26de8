package x86

import (
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

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

// A timing contains the properties of a decoded instruction from which a [timer] computes how long
// it takes: the registers that it reads and writes, its latency, and counters for branch
// prediction. A set of registers has a bit for each register: first the general registers, then the
// vector registers, then the flags.
type timing struct {
	reads, writes uint64
	latency       int // from the operands to the result
	loads         bool

	number              uint64  // identifies the instruction, at whatever address its file is mapped
	taken, usesPatterns counter // how to predict a conditional jump
}

const (
	firstVector = 16
	flagsBit    = 1 << 48
)

// latencies has the latencies of instructions, by the beginnings of their names. The first match
// counts. All other instructions take one cycle.
var latencies = []struct {
	latency int
	names   []string
}{
	{13 * cycle, []string{"DIVS", "DIVP", "SQRT"}},
	{16 * cycle, []string{"DIV", "IDIV"}},
	{18 * cycle, []string{"XCHG", "CMPXCHG", "XADD"}},
	{4 * cycle, []string{"MULS", "MULP", "ADDS", "ADDP", "SUBS", "SUBP", "HADD", "MAXS", "MINS", "CMPP", "CMPSS", "CMPSD_XMM"}},
	{5 * cycle, []string{"CVT", "COMIS", "UCOMIS"}},
	{3 * cycle, []string{"MUL", "IMUL", "PMUL", "PMADD", "BSF", "BSR", "POPCNT", "TZCNT", "LZCNT", "CRC32", "MOVD", "MOVQ", "PEXTR", "PINSR"}},
}

// Instructions that only write their first operand, by the beginnings of their names, and
// instructions that only read it.
var (
	overwriting = []string{"MOV", "LEA", "CVT", "POP", "SET", "PSHUF", "SQRT"}
	reading     = []x86asm.Op{x86asm.CMP, x86asm.TEST, x86asm.PUSH, x86asm.COMISS, x86asm.COMISD, x86asm.UCOMISS, x86asm.UCOMISD, x86asm.BT, x86asm.JMP, x86asm.CALL}
)

// setTiming computes the properties of a decoded instruction from which a timer estimates how long
// it takes. number identifies the instruction for branch prediction.
func (i *Instruction) setTiming(number int) {
	t, name := &i.timing, i.in.Op.String()
	begins := func(beginning string) bool { return strings.HasPrefix(name, beginning) }
	t.number, t.latency = uint64(number), cycle
	for _, l := range slices.Backward(latencies) {
		if slices.ContainsFunc(l.names, begins) {
			t.latency = l.latency
		}
	}
	overwrites := slices.ContainsFunc(overwriting, begins)
	for n, a := range i.in.Args {
		if m, ok := a.(x86asm.Mem); ok {
			t.reads |= registerBit(m.Base) | registerBit(m.Index)
			t.loads = i.in.Op != x86asm.LEA && (n > 0 || !overwrites)
		}
		bit := registerBit(a)
		if n > 0 || !overwrites {
			t.reads |= bit
		}
		if n == 0 && !slices.Contains(reading, i.in.Op) {
			t.writes |= bit
		}
	}
	if i.wide != nil {
		t.setWide(i.wide)
	} else {
		t.setImplicit(i, begins)
	}
}

// registerBit returns the bit that represents the register a in the sets of registers of a timing,
// 0 if a is no register.
func registerBit(a x86asm.Arg) uint64 {
	if n := xmm(a); n >= 0 {
		return 1 << (firstVector + n)
	}
	if r, ok := a.(x86asm.Reg); ok {
		if n, size, _ := register(r); size > 0 {
			return 1 << n
		}
	}
	return 0
}

// setImplicit adds the registers that an instruction reads or writes although they are not among
// its operands, such as the flags. It also removes the operand of an instruction that clears a
// register, such as XOR EAX, EAX, from the registers that the instruction waits for.
func (t *timing) setImplicit(i *Instruction, begins func(string) bool) {
	const rax, rdx = 1 << 0, 1 << 2
	in, conditional := &i.in, i.Flow.Jumps && !i.Flow.Leaves
	switch in.Op {
	case x86asm.XOR, x86asm.PXOR, x86asm.XORPS, x86asm.SUB:
		if in.Args[0] == in.Args[1] {
			t.reads = 0
		}
	case x86asm.DIV, x86asm.IDIV, x86asm.MUL, x86asm.CDQ, x86asm.CQO, x86asm.CDQE:
		t.reads, t.writes = t.reads|rax, t.writes|rax|rdx
		if in.Op == x86asm.DIV || in.Op == x86asm.IDIV {
			t.reads |= rdx
		}
	case x86asm.POP, x86asm.RET:
		t.loads = true
	}
	switch {
	case conditional, begins("SET"), begins("CMOV"), in.Op == x86asm.ADC, in.Op == x86asm.SBB:
		t.reads |= flagsBit
	case !i.Flow.Jumps && !begins("MOV") && in.Op != x86asm.LEA:
		t.writes |= flagsBit
	}
}

// setWide sets the vector registers of an instruction with a VEX or EVEX prefix.
func (t *timing) setWide(w *wide) {
	const vectors = 1<<48 - 1<<firstVector
	t.reads, t.writes = t.reads&^vectors|1<<(firstVector+w.first), t.writes&^vectors
	if w.space == 2 && w.opcode >= 0x96 && w.opcode < 0xc0 { // fused multiplication and addition
		t.latency = 4 * cycle
	}
	if w.writes >= 0 {
		t.writes |= 1 << (firstVector + w.writes)
	}
	if w.isStore {
		t.loads = false
		t.reads |= 1 << (firstVector + w.reg)
	} else if !t.loads {
		t.reads |= 1 << (firstVector + w.rm)
	}
}
