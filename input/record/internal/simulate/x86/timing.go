package x86

import (
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

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
