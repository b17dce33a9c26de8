package arm64

import (
	"encoding/binary"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/internal/opcode"
)

// instructionSize is the size in bytes of all instructions.
const instructionSize = 4

// An Instruction is a decoded instruction.
type Instruction struct {
	Flow opcode.Instruction

	word word
	does func(*CPU, word) // nil if the instruction cannot be simulated
}

// EntersKernel reports whether an instruction is a system call.
func (i *Instruction) EntersKernel() bool { return i.word&0xffe0001f == 0xd4000001 }

// A word is an encoded instruction.
type word uint32

// field returns a field of an encoded instruction. low is the number of the field's lowest bit, and
// bits is the width of the field.
func (w word) field(low, bits int) uint64 { return uint64(w>>low) & (1<<bits - 1) }

// signed returns a field of an encoded instruction, extended with its sign to 64 bits. low is the
// number of the field's lowest bit, and bits is the width of the field.
func (w word) signed(low, bits int) uint64 { return extend(w.field(low, bits), bits) }

func (w word) bit(n int) bool { return w>>n&1 != 0 }

// Fields that most instructions have: the register of the result, and those of three operands.
func (w word) rd() uint64 { return w.field(0, 5) }
func (w word) rn() uint64 { return w.field(5, 5) }
func (w word) rm() uint64 { return w.field(16, 5) }
func (w word) ra() uint64 { return w.field(10, 5) }

// wide reports whether an instruction of general registers works with 64 bits, not 32.
func (w word) wide() bool { return w.bit(31) }

// width returns the number of bits that an instruction of general registers works with.
func (w word) width() int {
	if w.wide() {
		return 64
	}
	return 32
}

// cut truncates a number to the width of the general registers that the instruction uses, 32 or 64
// bits.
func (w word) cut(v uint64) uint64 { return v & mask(w.width()) }

// mask returns a number whose lowest bits are 1 and whose other bits are 0. bits is the number of
// ones, 1 to 64.
func mask(bits int) uint64 { return ^uint64(0) >> (64 - bits) }

// extend extends a number to 64 bits with its sign. bits is the width of the number.
func extend(v uint64, bits int) uint64 { return uint64(int64(v<<(64-bits)) >> (64 - bits)) }

// A pattern matches encoded instructions, which have 32 bits. Its text has a 0 or 1 for each bit
// that all matching instructions have in common, from the highest to the lowest, a point for any
// other bit, and spaces between fields.
type pattern struct {
	text string
	does func(*CPU, word)

	mask, value word
}

// compile computes the mask and the value of a pattern from its text. An encoded instruction
// matches the pattern if its bits under the mask equal the value.
func (p *pattern) compile() {
	for _, digit := range strings.ReplaceAll(p.text, " ", "") {
		p.mask, p.value = p.mask<<1, p.value<<1
		if digit != '.' {
			p.mask |= 1
		}
		if digit == '1' {
			p.value |= 1
		}
	}
}

// classes has the patterns of all instructions, by bits 25 to 28, which Arm calls op0. It is
// computed at the first use, because few runs of the command simulate.
var classes = sync.OnceValue(func() *[16][]pattern {
	classes := new([16][]pattern)
	for _, list := range [][]pattern{
		immediatePatterns, registerPatterns, branchPatterns, systemPatterns, memoryPatterns, structurePatterns,
		numberPatterns, vectorPatterns, otherVectorPatterns,
	} {
		for _, p := range list {
			p.compile()
			const low, bits = 25, 4
			for class := range word(1 << bits) {
				if field := class << low; (field^p.value)&p.mask&((1<<bits-1)<<low) == 0 {
					classes[class] = append(classes[class], p)
				}
			}
		}
	}
	return classes
})

// operation returns the method that executes an encoded instruction. This is the method of the
// first pattern that matches the instruction. It returns nil if no pattern matches.
func operation(w word) func(*CPU, word) {
	for _, p := range classes()[w.field(25, 4)] {
		if (w^p.value)&p.mask == 0 {
			return p.does
		}
	}
	return nil
}

// Decode decodes the next instruction. It returns nil if the memory there cannot be read, or if the
// address is not a multiple of 4. The result is valid until the next call. Instructions on a
// [simulate.Page] are decoded once and kept there.
func (c *CPU) Decode() *Instruction {
	p := c.Memory.Unchanging(c.IP)
	if i, _ := p.Instruction(c.IP).(*Instruction); i != nil {
		return i
	}
	var code [instructionSize]byte
	n := c.Memory.Bytes(c.IP, code[:])
	flow := opcode.ARM64(code[:n])
	if flow.Size == 0 || c.IP%instructionSize != 0 {
		return nil
	}
	to := &c.scratch
	if p.After(c.IP) >= instructionSize {
		to = new(Instruction)
		p.Keep(c.IP, to)
		c.Kept++
	}
	w := word(binary.LittleEndian.Uint32(code[:]))
	*to = Instruction{Flow: flow, word: w, does: operation(w)}
	return to
}

// Execute executes an instruction that Decode has returned. It returns false if it cannot simulate
// the instruction: the instruction is unknown, enters the kernel, or its memory cannot be read. The
// simulation is over then.
func (c *CPU) Execute(i *Instruction) bool {
	if i.does == nil {
		return false
	}
	after := c.IP + instructionSize
	c.failed, c.tainted, c.next = false, false, after
	i.does(c, i.word)
	if c.failed || c.tainted && c.next != after {
		return false
	}
	c.IP = c.next
	c.executed++
	return true
}

// Slot returns the address of the table entry from which a jump in a procedure linkage table has
// got its target, 0 for any other instruction. Decode has returned the instruction i. A procedure
// linkage table jumps with br x17, and then has the address of the entry in x16, because the
// dynamic linker needs it there.
func (c *CPU) Slot(i *Instruction) uint64 {
	const slot, target = 16, 17
	if i.word&^0x800 == 0xd61f0000|target<<5 || i.word == 0xd71f0800|target<<5|slot {
		return c.X[slot]
	}
	return 0
}

// TouchesZeros reports whether the next instruction accesses a page of memory that contains only
// zeros. The kernel creates such pages when it handles a page fault.
func (c *CPU) TouchesZeros() bool {
	i := c.Decode()
	return i != nil && i.word.usesMemory() && c.Memory.HasZeros(untag(c.address(i.word)))
}
