// Package x86 simulates code of x86, in 64 or 32 bits.
package x86

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// Flags that the simulation knows. It does not compute the auxiliary carry.
const (
	carry     = 1 << 0
	parity    = 1 << 2
	zero      = 1 << 6
	sign      = 1 << 7
	direction = 1 << 10
	overflow  = 1 << 11

	arithmetic = carry | parity | zero | sign | overflow
)

// A Vector is 128 bits of a vector register, the low half first.
type Vector = simulate.Vector

// lanes128 is the number of Vectors in a vector register. Registers of 512 bits are not simulated.
const lanes128 = 2

// A CPU simulates the processor that executes one thread.
type CPU struct {
	R      [16]uint64 // general registers, in the order of their numbers: rax, rcx, rdx, rbx, rsp, ...
	IP     uint64
	Flags  uint64
	X      [32][lanes128]Vector
	FS, GS uint64 // bases of segments
	Mode   int    // 32 or 64 bits
	Memory simulate.Memory
	Kept   int // instructions that Decode has stored in pages
	Work   int // pieces of strings that were handled, each of which takes as long as an instruction

	timer   timer
	in      *x86asm.Inst
	next    uint64 // address of the next instruction
	failed  bool   // the instruction cannot be simulated
	scratch Instruction

	unknown uint32 // vector registers whose content is not known, a bit for each
	tainted bool   // the instruction has used something that is not known
	wide    *wide  // of an instruction with a VEX or EVEX prefix
	lane    int    // the Vector that such an instruction handles
	result  [lanes128]Vector
	sum     uint64 // bits of a general register, to which each Vector of the instruction adds
}

// uses records that the current instruction reads vector register n. If the content of the register
// is unknown, the result of the instruction becomes unknown.
func (c *CPU) uses(n int) { c.tainted = c.tainted || c.unknown>>n&1 != 0 }

// know records that the current instruction has set vector register n. The content of the register
// is then known, unless the instruction has read unknown data.
func (c *CPU) know(n int) {
	if c.unknown &^= 1 << n; c.tainted {
		c.unknown |= 1 << n
	}
}

// SetVectors sets the vector registers from a buffer in the layout of XSAVE, which has at least the
// area that FXSAVE writes. more is the offset of registers 16 to 31, 0 if they are missing.
func (c *CPU) SetVectors(saved []byte, more int) {
	const x, y, size, longest, count = 160, 576, 16, 64, 16 // where the registers and their upper halves are
	c.unknown = 0xffff0000
	for n := range count {
		c.X[n] = [lanes128]Vector{vectorOf([size]byte(saved[x+size*n:]))}
		if len(saved) >= y+size*count {
			c.X[n][1] = vectorOf([size]byte(saved[y+size*n:]))
		}
	}
	if more == 0 || len(saved) < more+longest*count {
		return
	}
	c.unknown = 0
	for n := range count {
		at := saved[more+longest*n:]
		c.X[count+n] = [lanes128]Vector{vectorOf([size]byte(at)), vectorOf([size]byte(at[size:]))}
	}
}

// Restart begins a new measurement. It sets to 0 the estimated time that Elapsed returns, and Work,
// the amount of string data that simulated functions have handled.
func (c *CPU) Restart() {
	c.Work = 0
	c.timer.restart()
}

// Elapsed returns the estimated time of the instructions that were simulated since Restart, in
// halves of a cycle. This is about the number of these instructions.
func (c *CPU) Elapsed() int { return c.timer.end * 2 / cycle }

// fail records that the current instruction cannot be simulated.
func (c *CPU) fail() { c.failed = true }

// has reports whether the current instruction has the given prefix byte, such as REP.
func (c *CPU) has(prefix x86asm.Prefix) bool {
	for _, p := range c.in.Prefix {
		if p&^(x86asm.PrefixImplicit|x86asm.PrefixIgnored) == prefix {
			return true
		}
	}
	return false
}

// register returns the number and the size in bytes of a general register. The registers AH to BH
// are the second bytes of the first four.
func register(r x86asm.Reg) (number, size int, second bool) {
	switch {
	case r < x86asm.AL || r > x86asm.R15:
		return 0, 0, false
	case r <= x86asm.BL:
		return int(r - x86asm.AL), 1, false
	case r <= x86asm.BH:
		return int(r - x86asm.AH), 1, true
	case r <= x86asm.R15B:
		return int(r-x86asm.SPB) + 4, 1, false
	case r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, false
	case r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, false
	}
	return int(r - x86asm.RAX), 8, false
}

// mask returns a number of size bytes whose bits are all 1.
func mask(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// top returns a number of size bytes in which only the highest bit is 1.
func top(size int) uint64 { return 1 << (8*size - 1) }

// extend extends a number of size bytes with its sign to 64 bits.
func extend(v uint64, size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(v<<shift) >> shift)
}

// address returns the address to which an operand in memory refers, from the current values of its
// registers.
func (c *CPU) address(m x86asm.Mem) uint64 {
	a := uint64(m.Disp)
	if a>>32 == 0 { // some are decoded without their sign
		a = extend(a, 4)
	}
	if m.Base == x86asm.RIP || m.Base == x86asm.EIP {
		a += c.next
	} else if m.Base != 0 {
		a += c.readRegister(m.Base)
	}
	if m.Index != 0 {
		a += c.readRegister(m.Index) * uint64(m.Scale)
	}
	if c.in.AddrSize < 64 {
		a = uint64(uint32(a))
	}
	switch m.Segment {
	case x86asm.FS:
		a += c.FS
	case x86asm.GS:
		a += c.GS
	default:
		return a
	}
	if c.Mode == 32 { // the bases are in tables of the kernel
		c.fail()
	}
	return a
}

func (c *CPU) readRegister(r x86asm.Reg) uint64 {
	n, size, second := register(r)
	if size == 0 {
		c.fail()
		return 0
	}
	if second {
		return c.R[n] >> 8 & 0xff
	}
	return c.R[n] & mask(size)
}

func (c *CPU) writeRegister(r x86asm.Reg, v uint64) {
	n, size, second := register(r)
	switch {
	case size == 0 || c.tainted:
		c.fail()
	case second:
		c.R[n] = c.R[n]&^0xff00 | v&0xff<<8
	case size >= 4: // a write of 4 bytes clears the others
		c.R[n] = v & mask(size)
	default:
		c.R[n] = c.R[n]&^mask(size) | v&mask(size)
	}
}

// size returns the size in bytes of operand i of the current instruction.
func (c *CPU) size(i int) int {
	switch a := c.in.Args[i].(type) {
	case x86asm.Reg:
		if _, n, _ := register(a); n > 0 {
			return n
		}
	case x86asm.Mem:
		if n := c.in.MemBytes; n > 0 && n <= 8 {
			return n
		}
	}
	c.fail()
	return 8
}

// get returns the value of operand i of the current instruction. An immediate is extended with its
// sign.
func (c *CPU) get(i int) uint64 {
	switch a := c.in.Args[i].(type) {
	case x86asm.Reg:
		return c.readRegister(a)
	case x86asm.Imm:
		return uint64(a)
	case x86asm.Mem:
		return c.load(c.address(a), c.size(i))
	}
	c.fail()
	return 0
}

// set writes a value to operand i of the current instruction.
func (c *CPU) set(i int, v uint64) {
	switch a := c.in.Args[i].(type) {
	case x86asm.Reg:
		c.writeRegister(a, v)
	case x86asm.Mem:
		c.store(c.address(a), c.size(i), v)
	default:
		c.fail()
	}
}

// load reads a number of size bytes, at most 8, from the simulated memory at an address.
func (c *CPU) load(address uint64, size int) uint64 {
	v, ok := c.Memory.Load(address, size)
	if !ok {
		c.fail()
	}
	c.tainted = c.tainted || c.Memory.IsUnknown(address, size)
	return v
}

// store writes the number v of size bytes, at most 8, to the simulated memory at an address.
func (c *CPU) store(address uint64, size int, v uint64) {
	if c.failed || !c.Memory.Store(address, size, v) {
		c.fail()
	}
	c.Memory.SetUnknown(address, size, c.tainted)
}

// flag sets the flags whose bits are set in bits if on is true, and clears them otherwise.
func (c *CPU) flag(bits uint64, on bool) {
	if c.tainted {
		c.fail()
	}
	if c.Flags &^= bits; on {
		c.Flags |= bits
	}
}
