package x86

import (
	"cmp"
	"math"
	"math/bits"

	"golang.org/x/arch/x86/x86asm"
)

// An ownOperation is the operation of an AVX or BMI instruction to which no SSE instruction
// corresponds.
type ownOperation struct {
	does    func(*CPU)
	general bool // its operands are general registers
	bytes   int  // size of an operand in memory that all Vectors use; 0 if each Vector has its own 16 bytes
	lanes   int  // Vectors of the result, if that does not depend on the prefix
	scalar  bool // only the lowest element is used, whose size W selects
	when    func(w *wide) bool
}

// fits reports whether the operation can be simulated for an instruction with the prefix w.
func (o *ownOperation) fits(w *wide) bool {
	return !w.masked && w.lanes <= lanes128 && (o.when == nil || o.when(w))
}

// decode decodes the operands of an AVX or BMI instruction that has this operation. w, older and
// rest are the prefix, the prefixes of the corresponding SSE instruction and the bytes after the
// opcode, as parsePrefix returns them.
func (o *ownOperation) decode(w *wide, older, rest []byte) x86asm.Inst {
	if o.general {
		w.writes, w.lanes = -1, 1
		return surrogate(older, rest, 0x8b) // mov
	}
	in := surrogate(older, rest, 0xf3, 0x0f, 0x6f) // movdqu
	if o.lanes > 0 {
		w.lanes = o.lanes
	}
	if o.scalar {
		w.lanes = 1
		in.MemBytes = w.element()
	}
	if o.bytes > 0 {
		in.MemBytes, w.stride = o.bytes, 0
	}
	return in
}

// element returns the size in bytes of an instruction's elements, which bit W of its prefix
// selects: 4 or 8.
func (w *wide) element() int {
	if w.w {
		return 8
	}
	return 4
}

// ownOperations has all operations of type ownOperation by opcode map, prefix and opcode: see
// wide.key.
var ownOperations = make(map[uint32]*ownOperation)

func addOwn(space int, prefix byte, o ownOperation, opcodes ...byte) {
	for _, op := range opcodes {
		ownOperations[(&wide{space: space, prefix: prefix, opcode: op}).key()] = &o
	}
}

// allLanes returns the value of operand i of an AVX instruction, a register or memory: all of its
// Vectors, of 128 bits each.
func (c *CPU) allLanes(i int) (v [lanes128]Vector) {
	lane := c.lane
	for c.lane = range c.wide.lanes {
		v[c.lane] = c.vector(i)
	}
	c.lane = lane
	return v
}

// repeat returns a Vector whose elements of size bytes all equal v.
func repeat(v uint64, size int) Vector {
	v &= mask(size)
	for shift := 8 * size; shift < 64; shift *= 2 {
		v |= v << shift
	}
	return Vector{v, v}
}

func broadcast(size int) func(*CPU) {
	return func(c *CPU) { c.setVector(0, repeat(c.vector(1)[0], size)) }
}

// broadcastRegister returns a function that executes VPBROADCASTB or a relative of it: it copies a
// general register to all elements, of size bytes, of a vector.
func broadcastRegister(size int) ownOperation {
	return ownOperation{when: func(w *wide) bool { return w.isEVEX }, does: func(c *CPU) {
		n := size
		n = cmp.Or(n, c.wide.element())
		c.setVector(0, repeat(c.R[c.wide.rm&15], n))
	}}
}

// permuteQuads executes VPERMQ and VPERMPD, which rearrange the elements of 8 bytes of a vector.
func (c *CPU) permuteQuads() {
	from, by := c.allLanes(1), c.get(2)>>(4*c.lane)
	c.setVector(0, Vector{from[by>>1&1][by&1], from[by>>3&1][by>>2&1]})
}

// permuteWords executes VPERMD and VPERMPS, which rearrange the elements of 4 bytes of a vector.
func (c *CPU) permuteWords() {
	from, by, r := c.allLanes(1), c.vector(0), Vector{}
	for i := range 4 {
		n := int(by.Get(4, i) & 7)
		r.Put(4, i, from[n>>2].Get(4, n&3))
	}
	c.setVector(0, r)
}

// permuteHalves executes VPERM2F128 and VPERM2I128, which combine two halves of two vectors.
func (c *CPU) permuteHalves() {
	by := c.get(2) >> (4 * c.lane)
	from := c.allLanes(int(by >> 1 & 1))
	if by&8 != 0 {
		from = [lanes128]Vector{}
	}
	c.setVector(0, from[by&1])
}

// permuteDoubles executes VPERMILPD with an immediate, which rearranges elements of 8 bytes.
func (c *CPU) permuteDoubles() {
	from, by := c.vector(1), c.get(2)>>(2*c.lane)
	c.setVector(0, Vector{from[by&1], from[by>>1&1]})
}

// insertHalf executes VINSERTF128 and its relatives, which replace one half of a vector.
func (c *CPU) insertHalf() {
	v := c.vector(0)
	if int(c.get(2)&1) == c.lane {
		v = c.vector(1)
	}
	c.setVector(0, v)
}

// extractHalf executes VEXTRACTF128 and its relatives, which copy one half of a vector to a
// register or to memory.
func (c *CPU) extractHalf() {
	w := c.wide
	c.uses(w.reg)
	v := c.X[w.reg][c.get(2)&1]
	if m, ok := c.in.Args[1].(x86asm.Mem); ok {
		a := c.address(m)
		c.store(a, 8, v[0])
		c.store(a+8, 8, v[1])
	}
	c.setVector(0, v)
}

// blend returns an operation that takes an element from the second operand where the bit in an
// immediate is set, and else from the first.
func blend(size int) func(*CPU) {
	return func(c *CPU) {
		by := c.get(2)
		if n := 16 / size; c.wide != nil && size > 2 { // a Vector after the other
			by >>= n * c.lane
		}
		chooseElements(c, size, func(i int) bool { return by>>i&1 != 0 })
	}
}

// blendBySigns returns a function that executes VBLENDVPS or a relative of it. The sign of each
// element, of size bytes, of a third register decides from which of two operands the element of the
// result is taken.
func blendBySigns(size int) func(*CPU) {
	return func(c *CPU) {
		n := 0 // the older instructions use the first register
		if c.wide != nil {
			n = int(c.get(2) >> 4 & 15)
		}
		c.uses(n)
		by := c.X[n][c.lane]
		chooseElements(c, size, func(i int) bool { return by.Signed(size, i) < 0 })
	}
}

func chooseElements(c *CPU, size int, second func(i int) bool) {
	a, b := c.vector(0), c.vector(1)
	for i := range 16 / size {
		if second(i) {
			a.Put(size, i, b.Get(size, i))
		}
	}
	c.setVector(0, a)
}

// shiftEach returns a function that executes VPSLLVD or a relative of it: each element of one
// operand is shifted by the number in the same element of the other operand. f computes one shift.
func shiftEach(f func(v uint64, n, size int) uint64) func(*CPU) {
	return func(c *CPU) {
		size := c.wide.element()
		lanes(size, func(a, b uint64) uint64 { return f(a, int(min(b, 64)), size) })(c)
	}
}

// ternary executes VPTERNLOGD. For each bit position, the bits of the three operands form a number
// from 0 to 7. The bit of the immediate with this number is the bit of the result.
func (c *CPU) ternary() {
	c.uses(c.wide.reg)
	d, a, b, by := c.X[c.wide.reg][c.lane], c.vector(0), c.vector(1), c.get(2)
	var r Vector
	for half := range r {
		for i := range 8 {
			term := ^uint64(0)
			for n, v := range []uint64{b[half], a[half], d[half]} {
				if i>>n&1 == 0 {
					v = ^v
				}
				term &= v
			}
			if by>>i&1 != 0 {
				r[half] |= term
			}
		}
	}
	c.setVector(0, r)
}

// toUnsigned returns a function that executes VCVTTSD2USI or a relative of it, which converts a
// floating-point number to an unsigned integer. from reads the number from a vector, and round
// rounds it.
func toUnsigned(from func(Vector) float64, round func(float64) float64) func(*CPU) {
	return func(c *CPU) {
		size, v := c.wide.element(), round(from(c.vector(1)))
		n := mask(size) // of numbers out of range
		if v >= 0 && v < math.Ldexp(1, 8*size) {
			n = uint64(v)
		}
		c.wide.writes = -1
		c.writeRegister(sized(x86asm.RAX, size)+x86asm.Reg(c.wide.reg&15), n)
	}
}

// fromUnsigned returns the operation of VCVTUSI2SD and VCVTUSI2SS.
func fromUnsigned(size int) func(*CPU) {
	return func(c *CPU) {
		from := c.R[c.wide.rm&15]
		if m, ok := c.in.Args[1].(x86asm.Mem); ok {
			from = c.load(c.address(m), c.wide.element())
		}
		setLowest(c, size, from&mask(c.wide.element()))
	}
}

func (c *CPU) zeroUpper() {
	for n := range 16 {
		c.X[n][1] = Vector{}
		if c.wide.lanes > 1 { // vzeroall
			c.X[n][0] = Vector{}
			c.unknown &^= 1 << n
		}
	}
	c.wide.writes = -1
}

// fused returns a function that executes VFMADD132PD or a relative of it, which multiplies and adds
// with one rounding. The high digit of the opcode selects the order of the operands, and the low
// digit selects their signs.
func fused(opcode byte) func(*CPU) {
	scalar, kind := opcode&1 != 0 && opcode&15 > 7, opcode&15&^1
	negative := func(i int) (product, sum bool) {
		switch kind {
		case 6: // 6 adds odd elements, 7 even ones
			return false, (i&1 != 0) == (opcode&1 != 0)
		case 10:
			return false, true
		case 12:
			return true, false
		case 14:
			return true, true
		}
		return false, false
	}
	return func(c *CPU) {
		w := c.wide
		size := w.element()
		c.uses(w.reg)
		d, a, b := c.X[w.reg][c.lane], c.vector(0), c.vector(1)
		x, y, z := a, b, d // of 231
		switch opcode >> 4 {
		case 9:
			x, y, z = d, b, a
		case 10:
			x, y, z = a, d, b
		}
		r, n := d, 16/size
		if scalar {
			n = 1
		}
		for i := range n {
			minusProduct, minusSum := negative(i)
			r.Put(size, i, fuse(x.Get(size, i), y.Get(size, i), z.Get(size, i), size, minusProduct, minusSum))
		}
		c.setVector(0, r)
	}
}

// fuse returns the bits of x*y+z, rounded once. The operands are the bits of floating-point numbers
// of size bytes. minusProduct and minusSum change the sign of the product and of z.
func fuse(x, y, z uint64, size int, minusProduct, minusSum bool) uint64 {
	number := func(v uint64) float64 {
		if size == 4 {
			return float32At(Vector{v})
		}
		return math.Float64frombits(v)
	}
	a, b, s := number(x), number(y), number(z)
	if minusProduct {
		a = -a
	}
	if minusSum {
		s = -s
	}
	r := math.FMA(a, b, s)
	if size == 4 {
		return uint64(math.Float32bits(float32(r)))
	}
	return math.Float64bits(r)
}

func ownVectorOperations() {
	const f66 = 0x66
	for op, size := range map[byte]int{0x18: 4, 0x19: 8, 0x58: 4, 0x59: 8, 0x78: 1, 0x79: 2} {
		addOwn(2, f66, ownOperation{does: broadcast(size), bytes: size}, op)
	}
	addOwn(2, f66, ownOperation{does: (*CPU).moveVector, bytes: 16}, 0x1a, 0x5a)
	addOwn(2, f66, broadcastRegister(1), 0x7a)
	addOwn(2, f66, broadcastRegister(2), 0x7b)
	addOwn(2, f66, broadcastRegister(0), 0x7c)
	addOwn(2, f66, ownOperation{does: (*CPU).permuteWords}, 0x16, 0x36)
	addOwn(2, f66, ownOperation{does: shiftEach(func(v uint64, n, _ int) uint64 { return v >> n })}, 0x45)
	addOwn(2, f66, ownOperation{does: shiftEach(func(v uint64, n, size int) uint64 { return uint64(int64(extend(v, size)) >> n) })}, 0x46)
	addOwn(2, f66, ownOperation{does: shiftEach(func(v uint64, n, _ int) uint64 { return v << n })}, 0x47)
	for _, group := range []byte{0x90, 0xa0, 0xb0} {
		for low := byte(6); low < 16; low++ {
			addOwn(2, f66, ownOperation{does: fused(group | low), scalar: low&1 != 0 && low > 7}, group|low)
		}
	}
	addOwn(3, f66, ownOperation{does: (*CPU).permuteQuads}, 0x00, 0x01)
	addOwn(3, f66, ownOperation{does: blend(4), when: func(w *wide) bool { return !w.isEVEX }}, 0x02)
	addOwn(3, f66, ownOperation{does: shuffle(false)}, 0x04)
	addOwn(3, f66, ownOperation{does: (*CPU).permuteDoubles}, 0x05)
	addOwn(3, f66, ownOperation{does: (*CPU).permuteHalves}, 0x06, 0x46)
	addOwn(3, f66, ownOperation{does: (*CPU).insertHalf, bytes: 16}, 0x18, 0x38)
	addOwn(3, f66, ownOperation{does: (*CPU).extractHalf, bytes: 16, lanes: 1}, 0x19, 0x39)
	addOwn(3, f66, ownOperation{does: (*CPU).ternary, when: func(w *wide) bool { return w.isEVEX }}, 0x25)
	addOwn(3, f66, ownOperation{does: blendBySigns(4)}, 0x4a)
	addOwn(3, f66, ownOperation{does: blendBySigns(8)}, 0x4b)
	addOwn(3, f66, ownOperation{does: blendBySigns(1)}, 0x4c)
	addOwn(1, 0, ownOperation{does: (*CPU).zeroUpper}, 0x77)
	for prefix, size := range map[byte]int{0xf2: 8, 0xf3: 4} {
		at := map[int]func(Vector) float64{8: float64At, 4: float32At}[size]
		evex := func(w *wide) bool { return w.isEVEX }
		addOwn(1, prefix, ownOperation{does: toUnsigned(at, math.Trunc), bytes: size, lanes: 1, when: evex}, 0x78)
		addOwn(1, prefix, ownOperation{does: toUnsigned(at, math.RoundToEven), bytes: size, lanes: 1, when: evex}, 0x79)
		addOwn(1, prefix, ownOperation{does: fromUnsigned(size), lanes: 1, when: func(w *wide) bool { return w.isEVEX && !w.hasShortDisplacement }}, 0x7b)
	}
}

// bitOperation returns the operation of a BMI instruction that computes f of its two sources.
func bitOperation(f func(c *CPU, a, b uint64, size int) uint64) func(*CPU) {
	return func(c *CPU) {
		size := c.size(0)
		c.set(0, f(c, c.get(1), c.R[c.wide.first&15]&mask(size), size))
	}
}

// lowestBit executes BLSR, BLSMSK and BLSI, which the instruction's register field distinguishes.
func (c *CPU) lowestBit() {
	size, v := c.size(0), c.get(1)
	var r uint64
	switch c.wide.reg & 7 {
	case 1:
		r = v & (v - 1)
	case 2:
		r = v ^ (v - 1)
	case 3:
		r = v & -v
	default:
		c.fail()
	}
	c.logic(r, size)
	c.flag(carry, (v == 0) != (c.wide.reg&7 == 3))
	c.writeRegister(sized(x86asm.RAX, size)+x86asm.Reg(c.wide.first&15), r)
}

// extractBits returns the result of BEXTR: a range of bits of an operand, moved to the lowest bits.
func extractBits(c *CPU, a, b uint64, size int) uint64 {
	start, length := b&0xff, b>>8&0xff
	r := a >> min(start, 64)
	if length < 64 {
		r &= 1<<length - 1
	}
	return c.logic(r, size)
}

// zeroHighBits returns the result of BZHI: an operand with its high bits cleared.
func zeroHighBits(c *CPU, a, b uint64, size int) uint64 {
	n := b & 0xff
	if n < uint64(8*size) {
		a &= 1<<n - 1
	}
	r := c.logic(a, size)
	c.flag(carry, n >= uint64(8*size))
	return r
}

// scatter computes the result of PDEP, which moves the low bits of from to the positions of the
// bits that are set in to.
func scatter(_ *CPU, to, from uint64, _ int) (r uint64) {
	for ; to != 0; to &= to - 1 {
		if from&1 != 0 {
			r |= to & -to
		}
		from >>= 1
	}
	return r
}

// gather computes the result of PEXT, which moves the bits of from at the positions that are set in
// which to the low bits.
func gather(_ *CPU, which, from uint64, _ int) (r uint64) {
	for i := 0; which != 0; which &= which - 1 {
		if from&(which&-which) != 0 {
			r |= 1 << i
		}
		i++
	}
	return r
}

// multiplyWide executes MULX, which multiplies two numbers and stores both halves of the product.
func (c *CPU) multiplyWide() {
	size := c.size(0)
	high, low := bits.Mul64(c.get(1), c.R[2]&mask(size))
	if size < 8 {
		high = low >> 32
	}
	c.writeRegister(sized(x86asm.RAX, size)+x86asm.Reg(c.wide.first&15), low)
	c.set(0, high)
}

func ownBitOperations() {
	general := func(space int, prefix, opcode byte, f func(*CPU)) {
		addOwn(space, prefix, ownOperation{does: f, general: true}, opcode)
	}
	count := func(b uint64, size int) uint64 { return b & uint64(8*size-1) }
	general(2, 0, 0xf2, bitOperation(func(c *CPU, a, b uint64, size int) uint64 { return c.logic(^b&a, size) }))
	general(2, 0, 0xf3, (*CPU).lowestBit)
	general(2, 0, 0xf5, bitOperation(zeroHighBits))
	general(2, 0xf2, 0xf5, bitOperation(scatter))
	general(2, 0xf3, 0xf5, bitOperation(gather))
	general(2, 0xf2, 0xf6, (*CPU).multiplyWide)
	general(2, 0, 0xf7, bitOperation(extractBits))
	general(2, 0x66, 0xf7, bitOperation(func(_ *CPU, a, b uint64, size int) uint64 { return a << count(b, size) }))
	general(2, 0xf3, 0xf7, bitOperation(func(_ *CPU, a, b uint64, size int) uint64 { return uint64(int64(extend(a, size)) >> count(b, size)) }))
	general(2, 0xf2, 0xf7, bitOperation(func(_ *CPU, a, b uint64, size int) uint64 { return a >> count(b, size) }))
	general(3, 0xf2, 0xf0, func(c *CPU) {
		size, v, n := c.size(0), c.get(1), c.get(2)
		n = count(n, size)
		c.set(0, v>>n|v<<(uint64(8*size)-n))
	})
}
