package x86

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"
)

// setResult sets the flags zero, sign and parity as the result r of size bytes requires.
func (c *CPU) setResult(r uint64, size int) {
	c.flag(zero, r&mask(size) == 0)
	c.flag(sign, r&top(size) != 0)
	c.flag(parity, bits.OnesCount8(uint8(r))%2 == 0)
}

// add returns a + b + in, where in is a carry of 0 or 1, for numbers of size bytes. It sets the
// flags.
func (c *CPU) add(a, b, in uint64, size int) uint64 {
	m := mask(size)
	a, b = a&m, b&m
	sum, out := bits.Add64(a, b, in)
	if size < 8 {
		out = sum >> (8 * size) & 1
	}
	c.flag(carry, out != 0)
	c.flag(overflow, (a^sum)&(b^sum)&top(size) != 0)
	c.setResult(sum, size)
	return sum & m
}

// subtract returns a - b - in, where in is a borrow of 0 or 1, for numbers of size bytes. It sets
// the flags.
func (c *CPU) subtract(a, b, in uint64, size int) uint64 {
	m := mask(size)
	a, b = a&m, b&m
	r, out := bits.Sub64(a, b, in)
	c.flag(carry, out != 0)
	c.flag(overflow, (a^b)&(a^r)&top(size) != 0)
	c.setResult(r, size)
	return r & m
}

// logic sets the flags as AND, OR and XOR do for the result r. It returns r, truncated to size
// bytes.
func (c *CPU) logic(r uint64, size int) uint64 {
	c.flag(carry|overflow, false)
	c.setResult(r, size)
	return r & mask(size)
}

// two returns the operation of an instruction that sets its first operand to the result of f for
// both operands.
func two(f func(c *CPU, a, b uint64, size int) uint64) func(*CPU) {
	return func(c *CPU) { c.set(0, f(c, c.get(0), c.get(1), c.size(0))) }
}

// compare returns the operation of an instruction with two operands that changes only flags, such
// as CMP and TEST. f sets the flags.
func compare(f func(c *CPU, a, b uint64, size int) uint64) func(*CPU) {
	return func(c *CPU) { f(c, c.get(0), c.get(1), c.size(0)) }
}

// one returns the operation of an instruction that sets its operand to the result of f for this
// operand.
func one(f func(c *CPU, a uint64, size int) uint64) func(*CPU) {
	return func(c *CPU) { c.set(0, f(c, c.get(0), c.size(0))) }
}

// keepingCarry returns the operation of INC or DEC: it sets the operand to the sum or difference,
// computed by f, of the operand and 1. It does not change the carry flag.
func keepingCarry(f func(c *CPU, a, b, in uint64, size int) uint64) func(*CPU) {
	return one(func(c *CPU, a uint64, size int) uint64 {
		old := c.Flags & carry
		r := f(c, a, 1, 0, size)
		c.Flags = c.Flags&^carry | old
		return r
	})
}

// shift returns the operation of a shift or rotation. f computes the result for an operand a of
// size bytes and a count n above 0. If the count is 0, the operand and the flags do not change.
func shift(f func(c *CPU, a uint64, n, size int) uint64) func(*CPU) {
	return func(c *CPU) {
		size, a := c.size(0), c.get(0)
		limit := uint64(31)
		if size == 8 {
			limit = 63
		}
		n := uint64(1)
		if c.in.Args[1] != nil {
			n = c.get(1) & limit
		}
		if n > 0 {
			a = f(c, a, int(n), size)
		}
		c.set(0, a) // a register of 32 bits is extended in any case
	}
}

func left(c *CPU, a uint64, n, size int) uint64 {
	r := a << n
	c.setResult(r, size)
	c.flag(carry, n <= 8*size && a>>(8*size-n)&1 != 0)
	c.flag(overflow, (r&top(size) != 0) != (c.Flags&carry != 0))
	return r
}

func right(c *CPU, a uint64, n, size int) uint64 {
	c.setResult(a>>n, size)
	c.flag(carry, a>>(n-1)&1 != 0)
	c.flag(overflow, a&top(size) != 0)
	return a >> n
}

func rightSigned(c *CPU, a uint64, n, size int) uint64 {
	v := int64(extend(a, size))
	c.setResult(uint64(v>>n), size)
	c.flag(carry, v>>(n-1)&1 != 0)
	c.flag(overflow, false)
	return uint64(v >> n)
}

func rotateLeft(c *CPU, a uint64, n, size int) uint64 {
	n %= 8 * size
	r := a<<n | a>>(8*size-n)
	c.flag(carry, r&1 != 0)
	c.flag(overflow, (r&top(size) != 0) != (r&1 != 0))
	return r
}

func rotateRight(c *CPU, a uint64, n, size int) uint64 {
	n %= 8 * size
	r := a>>n | a<<(8*size-n)
	c.flag(carry, r&top(size) != 0)
	c.flag(overflow, (r&top(size) != 0) != (r&(top(size)>>1) != 0))
	return r
}

// double returns the operation of SHLD or SHRD, for operands of 32 and 64 bits. f shifts a, moves
// bits of b into it, and returns the result and the bits that were shifted out. n is the count and
// width the number of bits of an operand.
func double(f func(a, b uint64, n, width int) (r, out uint64)) func(*CPU) {
	return func(c *CPU) {
		size, a, b := c.size(0), c.get(0), c.get(1)
		n := int(c.get(2)) & 31
		if size == 8 {
			n = int(c.get(2)) & 63
		}
		if size < 4 {
			c.fail()
		}
		if n > 0 && !c.failed {
			r, out := f(a, b, n, 8*size)
			c.setResult(r, size)
			c.flag(carry, out&1 != 0)
			c.flag(overflow, (r^a)&top(size) != 0)
			a = r
		}
		c.set(0, a)
	}
}

// multiply executes MUL and IMUL. With one operand, they multiply the accumulator and return both
// halves of the product. IMUL with two or three operands returns the low half.
func (c *CPU) multiply() {
	size, a, b := c.size(0), c.R[0], c.get(0)
	switch {
	case c.in.Args[2] != nil:
		a, b = c.get(1), c.get(2)
	case c.in.Args[1] != nil:
		a, b = b, c.get(1)
	}
	signed := c.in.Op == x86asm.IMUL
	if a &= mask(size); signed {
		a, b = extend(a, size), extend(b, size)
	}
	high, low := bits.Mul64(a, b)
	if signed {
		high -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	}
	if size < 8 {
		high = low >> (8 * size)
	}
	ordinary := uint64(0) // the high half of a product that fits the low one
	if signed {
		ordinary = uint64(int64(extend(low, size)) >> 63)
	}
	c.flag(carry|overflow, (high^ordinary)&mask(size) != 0)
	if c.in.Args[1] == nil {
		c.setPair(low, high, size)
		return
	}
	c.setResult(low, size) // undefined
	c.set(0, low)
}

// setPair sets the two registers in which a multiplication returns its product, or a division its
// quotient and its remainder. size is the size of the operands in bytes.
func (c *CPU) setPair(low, high uint64, size int) {
	if size == 1 {
		c.writeRegister(x86asm.AX, low&0xff|high&0xff<<8)
		return
	}
	c.writeRegister(sized(x86asm.RAX, size), low)
	c.writeRegister(sized(x86asm.RDX, size), high)
}

// sized returns the part of a 64-bit register that has size bytes: 2, 4 or 8.
func sized(r x86asm.Reg, size int) x86asm.Reg {
	switch size {
	case 2:
		return r - x86asm.RAX + x86asm.AX
	case 4:
		return r - x86asm.RAX + x86asm.EAX
	}
	return r
}

func (c *CPU) divide() {
	size, by := c.size(0), c.get(0)
	low, high := c.R[0]&mask(size), c.R[2]&mask(size)
	if size == 1 {
		low, high = c.R[0]&0xff, c.R[0]>>8&0xff
	}
	negative, negativeBy := false, false
	if c.in.Op == x86asm.IDIV {
		if negativeBy = by&top(size) != 0; negativeBy {
			by = -by & mask(size)
		}
		if negative = high&top(size) != 0; negative {
			var borrow uint64
			low, borrow = bits.Sub64(0, low, 0)
			if low &= mask(size); low != 0 {
				borrow = 1
			}
			high = (-high - borrow) & mask(size)
		}
	}
	if by == 0 || high >= by {
		c.fail() // the program gets a signal
		return
	}
	if size < 8 {
		low, high = high<<(8*size)|low, 0
	}
	quotient, rest := bits.Div64(high, low, by)
	if negative != negativeBy {
		quotient = -quotient
	}
	if negative {
		rest = -rest
	}
	c.setPair(quotient, rest, size)
}

// bit returns the operation of BT, BTS, BTR or BTC. change computes the new value of an operand a
// from a and the mask b of the selected bit; it is nil for BT.
func bit(change func(a, b uint64) uint64) func(*CPU) {
	return func(c *CPU) {
		size, n := c.size(0), c.get(1)
		if m, ok := c.in.Args[0].(x86asm.Mem); ok { // a register selects any bit of memory
			a := c.address(m)
			if r, ok := c.in.Args[1].(x86asm.Reg); ok {
				_, width, _ := register(r)
				a += uint64(int64(extend(n, width))>>3) &^ uint64(size-1)
			}
			v, b := c.load(a, size), uint64(1)<<(n%uint64(8*size))
			c.flag(carry, v&b != 0)
			if change != nil {
				c.store(a, size, change(v, b))
			}
			return
		}
		v, b := c.get(0), uint64(1)<<(n%uint64(8*size))
		c.flag(carry, v&b != 0)
		if change != nil {
			c.set(0, change(v, b))
		}
	}
}

// scan returns an operation that sets the first operand to f of the second one: the number of
// trailing or leading zero bits, or the index of the highest bit that is set. With keep, as for BSF
// and BSR, it does not change the first operand if the second is 0.
func scan(keep bool, f func(v uint64, size int) int) func(*CPU) {
	return func(c *CPU) {
		v, size := c.get(1), c.size(0)
		c.flag(carry, v == 0)
		n := f(v, size)
		c.flag(zero, v == 0 || !keep && n == 0)
		if !keep && v == 0 {
			c.flag(zero, false)
		}
		if v != 0 || !keep {
			c.set(0, uint64(n))
		}
	}
}

func trailing(v uint64, size int) int { return min(bits.TrailingZeros64(v), 8*size) }
func leading(v uint64, size int) int  { return bits.LeadingZeros64(v) - 64 + 8*size }
func highest(v uint64, _ int) int     { return bits.Len64(v) - 1 }

func (c *CPU) exchange() {
	a, b := c.get(0), c.get(1)
	c.set(0, b)
	c.set(1, a)
}

func (c *CPU) exchangeAdd() {
	a := c.get(0)
	sum := c.add(a, c.get(1), 0, c.size(0))
	c.set(1, a)
	c.set(0, sum)
}

func (c *CPU) compareExchange() {
	size := c.size(0)
	a, old := c.R[0]&mask(size), c.get(0)
	c.subtract(a, old, 0, size)
	if a == old {
		c.set(0, c.get(1))
		return
	}
	accumulator := sized(x86asm.RAX, size)
	if size == 1 {
		accumulator = x86asm.AL
	}
	c.writeRegister(accumulator, old)
}

// signExtend returns the operation of CBW, CWD and their relatives. The register to gets the value
// of the register from, extended with its sign. With signOnly, all bits of to become the sign of
// from.
func signExtend(from, to x86asm.Reg, signOnly bool) func(*CPU) {
	return func(c *CPU) {
		_, size, _ := register(from)
		v := extend(c.readRegister(from), size)
		if signOnly {
			v = uint64(int64(v) >> 63)
		}
		c.writeRegister(to, v)
	}
}

// lea executes LEA: it sets a register to the address of an operand in memory.
func (c *CPU) lea() {
	m, ok := c.in.Args[1].(x86asm.Mem)
	if !ok {
		c.fail()
		return
	}
	m.Segment = 0
	c.set(0, c.address(m))
}

func nothing(*CPU) {}
