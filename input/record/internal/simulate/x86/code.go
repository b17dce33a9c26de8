package x86

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/go-afdo/afdo/internal/opcode"
)

// An Instruction is a decoded instruction, with the function that executes it.
type Instruction struct {
	Flow opcode.Instruction

	slot   int64 // of a jump or call through a table, jmp *slot(%rip): the table's distance from the next instruction; else 0
	in     x86asm.Inst
	timing timing
	does   func(*CPU) // nil if the instruction cannot be simulated
	wide   *wide      // nil if the instruction has no VEX or EVEX prefix
}

// maxInstruction is the length of the longest instruction of x86.
const maxInstruction = 15

// EntersKernel reports whether an instruction is a system call.
func (i *Instruction) EntersKernel() bool {
	return i.in.Op == x86asm.SYSCALL || i.in.Op == x86asm.SYSENTER || i.in.Op == x86asm.INT
}

// Decode decodes the next instruction. It returns nil if the instruction cannot be read or decoded.
// The result is valid until the next call. Instructions of a [simulate.Page] are decoded only once.
func (c *CPU) Decode() *Instruction {
	p := c.Memory.Unchanging(c.IP)
	if i, _ := p.Instruction(c.IP).(*Instruction); i != nil && i.in.Mode == c.Mode {
		return i
	}
	var code [maxInstruction]byte
	if !decode(&c.scratch, code[:c.Memory.Bytes(c.IP, code[:])], c.Mode) {
		return nil
	}
	c.scratch.setTiming(c.Kept)
	if p.After(c.IP) < maxInstruction {
		return &c.scratch
	}
	kept := c.scratch
	p.Keep(c.IP, &kept)
	c.Kept++
	return &kept
}

// decode decodes the instruction at the beginning of code into to. mode is 32 or 64 bits. It
// reports whether the length of the instruction is known.
func decode(to *Instruction, code []byte, mode int) bool {
	*to = Instruction{Flow: opcode.X86(code, mode)}
	size := to.Flow.Size
	if size == 0 {
		return false
	}
	code = code[:size]
	if mode == 64 {
		to.slot = slot(code)
	}
	to.in.Mode = mode
	if size == 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3]&0xfe == 0xfa { // endbr64, endbr32
		to.does = nothing
		return true
	}
	fillOperations()
	if mode == 64 && decodeWide(to, code) {
		return true
	}
	in, err := x86asm.Decode(code, mode)
	if err == nil && uint64(in.Len) == size && int(in.Op) < len(operations) {
		to.in, to.does = in, operations[in.Op]
		to.in.Mode = mode
		if to.does == nil && xmm(in.Args[0]) >= 0 {
			to.does = (*CPU).forget
		}
	}
	return true
}

// Slot returns the address of the table entry from which a jump or call through memory gets its
// target, 0 for any other instruction. Decode has returned the instruction i. Jumps in a procedure
// linkage table have this form.
func (c *CPU) Slot(i *Instruction) uint64 {
	if i.slot == 0 {
		return 0
	}
	return c.IP + i.Flow.Size + uint64(i.slot)
}

// slot returns the distance from the end of a jump or call to the table entry that contains its
// target, 0 if the instruction has another form.
func slot(code []byte) int64 {
	for len(code) > 0 && (code[0] == 0xf2 || code[0] == 0x3e) { // bnd, notrack
		code = code[1:]
	}
	if len(code) != 6 || code[0] != 0xff || code[1] != 0x25 && code[1] != 0x15 {
		return 0
	}
	return int64(int32(binary.LittleEndian.Uint32(code[2:])))
}

// Execute executes an instruction that Decode has returned. It returns false if it cannot simulate
// the instruction: the instruction is unknown, enters the kernel, or its memory cannot be read. The
// simulation is over then.
func (c *CPU) Execute(i *Instruction) bool {
	if i.does == nil {
		return false
	}
	c.in, c.failed, c.tainted, c.next = &i.in, false, false, c.IP+i.Flow.Size
	at, after, misses := c.IP, c.next, c.Memory.Misses
	if i.wide == nil {
		i.does(c)
	} else {
		i.wide.execute(c, i.does)
	}
	if c.failed || c.tainted && c.next != after {
		return false
	}
	c.IP = c.next
	if c.Mode == 32 {
		c.IP = uint64(uint32(c.IP))
	}
	c.timer.step(i, at, c.IP, c.Memory.Misses > misses)
	return true
}
