// Package arm64 simulates code of AArch64, which Arm calls A64.
//
// Instructions are decoded by the encoding tables of the Arm Architecture Reference Manual. A table
// of this package has a pattern of bits for each, and the method of [CPU] that executes it. A word
// without a pattern ends the simulation. Exclusive stores always succeed, as they do for a thread
// that is alone.
//
// Two things are not simulated: the cumulative flags of floating-point exceptions, and the signing
// of addresses. An instruction that reads the flags ends the simulation. A signed address is used
// without its signature, and a new one gets none.
package arm64

import "github.com/go-afdo/afdo/input/record/internal/simulate"

// A Vector is 128 bits of a vector register, the low half first.
type Vector = simulate.Vector

// Flags of a [CPU], as in the register NZCV.
const (
	negative = 1 << 31
	zero     = 1 << 30
	carry    = 1 << 29
	overflow = 1 << 28

	arithmetic = negative | zero | carry | overflow
)

// Numbers of the registers with a special purpose.
const (
	linkRegister = 30
	zeroOrStack  = 31 // the zero register or the stack pointer, depending on the instruction
)

// A CPU simulates the processor that executes one thread.
type CPU struct {
	X     [32]uint64 // general registers; the last one is the zero register, and always 0
	SP    uint64
	IP    uint64 // address of the next instruction
	Flags uint64
	V     [32]Vector
	Mode  uint64 // FPCR: rounding and other modes of floating-point arithmetic

	TLS       uint64 // TPIDR_EL0: where the thread's own variables are
	Signature uint64 // bits of an address of code that are a signature
	ZeroBlock uint64 // DCZID_EL0: what DC ZVA does; 0: not known

	Memory simulate.Memory
	Kept   int // instructions that Decode has stored in pages
	Work   int // pieces of strings that were handled, each of which takes as long as an instruction

	executed int    // instructions since Restart
	next     uint64 // address of the next instruction
	failed   bool   // the instruction cannot be simulated
	scratch  Instruction

	unknown uint32 // vector registers whose content is not known, a bit for each
	tainted bool   // the instruction has used something that is not known
}

// SetRegisters sets the general registers to the values that the kernel has stored for a stopped
// thread.
func (c *CPU) SetRegisters(x *[31]uint64, sp, pc, state uint64) {
	copy(c.X[:], x[:])
	c.SP, c.IP, c.Flags = sp, pc, state&arithmetic
}

// SetVectors sets the vector registers, and the register FPCR with the mode of floating-point
// arithmetic.
func (c *CPU) SetVectors(v *[32]Vector, mode uint32) {
	c.V, c.Mode, c.unknown = *v, uint64(mode), 0
}

// Restart begins a new measurement. It sets to 0 the number of instructions that Elapsed returns,
// and Work, the amount of string data that simulated functions have handled.
func (c *CPU) Restart() { c.Work, c.executed = 0, 0 }

// Elapsed returns the number of instructions that were simulated since Restart was called.
func (c *CPU) Elapsed() int { return c.executed }

// fail records that the current instruction cannot be simulated.
func (c *CPU) fail() { c.failed = true }

// set changes a general register, or does nothing for the zero register.
func (c *CPU) set(n, v uint64) {
	if c.tainted {
		c.fail()
	}
	if n != zeroOrStack {
		c.X[n] = v
	}
}

// base returns the value of a register that holds an address: a general register, or the stack
// pointer for number 31.
func (c *CPU) base(n uint64) uint64 {
	if n == zeroOrStack {
		return c.SP
	}
	return c.X[n]
}

// setBase sets register n to v: a general register, or the stack pointer for number 31. Unlike set,
// it does not fail if the instruction has used unknown data, because an address does not depend on
// the data that is loaded from it.
func (c *CPU) setBase(n, v uint64) {
	if n == zeroOrStack {
		c.SP = v
	} else {
		c.X[n] = v
	}
}

// setFlags sets the four condition flags N, Z, C and V to the bits of flags.
func (c *CPU) setFlags(flags uint64) {
	if c.tainted {
		c.fail()
	}
	c.Flags = flags & arithmetic
}

// vector returns the content of a vector register. If the content is unknown, so is the
// instruction's result.
func (c *CPU) vector(n uint64) Vector {
	c.tainted = c.tainted || c.unknown>>n&1 != 0
	return c.V[n]
}

// setVector changes a vector register. Its content becomes unknown if the instruction has used
// unknown data.
func (c *CPU) setVector(n uint64, v Vector) {
	c.V[n] = v
	if c.unknown &^= 1 << n; c.tainted {
		c.unknown |= 1 << n
	}
}

// forget marks the content of the vector register that an instruction changes as unknown.
func (c *CPU) forget(w word) {
	c.tainted = true
	c.setVector(w.rd(), Vector{})
}

// untag returns an address without the highest byte, which the processor ignores.
func untag(address uint64) uint64 { return uint64(int64(address<<8) >> 8) }

// load reads a number of size bytes, at most 8, from the simulated memory at an address.
func (c *CPU) load(address uint64, size int) uint64 {
	address = untag(address)
	v, ok := c.Memory.Load(address, size)
	if !ok {
		c.fail()
	}
	c.tainted = c.tainted || c.Memory.IsUnknown(address, size)
	return v
}

// store writes the number v of size bytes, at most 8, to the simulated memory at an address.
func (c *CPU) store(address uint64, size int, v uint64) {
	address = untag(address)
	if c.failed || !c.Memory.Store(address, size, v) {
		c.fail()
	}
	c.Memory.SetUnknown(address, size, c.tainted)
}

// loadVector reads a vector of up to 16 bytes from memory.
func (c *CPU) loadVector(address uint64, size int) (v Vector) {
	v[0] = c.load(address, min(size, 8))
	if size == 16 {
		v[1] = c.load(address+8, 8)
	}
	return v
}

// storeVector writes up to 16 bytes of a vector into the copy of the memory.
func (c *CPU) storeVector(address uint64, size int, v Vector) {
	c.store(address, min(size, 8), v[0])
	if size == 16 {
		c.store(address+8, 8, v[1])
	}
}

// Call performs a function of the C library, such as memcpy, in place of simulating its
// instructions: it reads the arguments from the registers, sets the result, and continues at the
// return address. The CPU must be at the first instruction of the function with this name. Call
// returns false if it does not know the function, or cannot read its operands.
func (c *CPU) Call(name string) bool {
	if f := simulate.Number(name); f != nil {
		c.tainted = false
		a := c.vector(0)[0]
		c.setVector(0, Vector{f(a, c.V[1][0])})
		if c.unknown&2 != 0 { // it may have a second argument
			c.unknown |= 1
		}
	} else {
		result, work, ok := c.Memory.Call(name, c.X[0], c.X[1], c.X[2])
		if c.Work += work; !ok {
			return false
		}
		c.X[0] = result
	}
	c.IP = c.unsigned(c.X[linkRegister])
	return true
}
