package arm64

import "math/bits"

// oneLane computes each element of the result by the function of, from the element at the same
// place of one vector register. size is the size of an element in bytes.
func (c *CPU) oneLane(w word, size int, of func(v uint64, size int) uint64) {
	v := c.vector(w.rn())
	var r Vector
	for i := range w.lanes(size) {
		r.Put(size, i, of(v.Get(size, i), size))
	}
	c.setVector(w.rd(), r)
}

// setHalf stores the 64 bits half in the vector register of the result: in the low half, and then
// it clears the high half, or in the high half, and then it keeps the low half. A bit of the
// instruction selects which.
func (c *CPU) setHalf(w word, half uint64) {
	v := Vector{half}
	if w.bit(30) {
		v = Vector{c.vector(w.rd())[0], half}
	}
	c.setVector(w.rd(), v)
}

// signedZero returns a function that compares an element, a signed number, with 0. The bits of the
// function's result are all 1 if holds returns true for the element, else 0.
func signedZero(holds func(v int64) bool) func(v uint64, size int) uint64 {
	return func(v uint64, size int) uint64 { return all(holds(int64(extend(v, 8*size)))) }
}

// oneSameLanes has the operations on one vector, by bit 29 and the opcode.
var oneSameLanes = [2][12]func(v uint64, size int) uint64{
	{
		4:  func(v uint64, size int) uint64 { return countLeading(v, 8*size, true) },
		5:  func(v uint64, _ int) uint64 { return uint64(bits.OnesCount64(v)) },
		8:  signedZero(func(v int64) bool { return v > 0 }),
		9:  signedZero(func(v int64) bool { return v == 0 }),
		10: signedZero(func(v int64) bool { return v < 0 }),
		11: func(v uint64, size int) uint64 { return uint64(absolute(int64(extend(v, 8*size)), 0)) },
	},
	{
		4:  func(v uint64, size int) uint64 { return countLeading(v, 8*size, false) },
		8:  signedZero(func(v int64) bool { return v >= 0 }),
		9:  signedZero(func(v int64) bool { return v <= 0 }),
		11: func(v uint64, _ int) uint64 { return -v },
	},
}

// twoSame executes the instructions of Arm's class "two-register miscellaneous", which have one
// vector as operand.
func (c *CPU) twoSame(w word) {
	const counts, numbers = 5, 12
	opcode, size := w.field(12, 5), w.elementSize()
	switch opcode {
	case 0, 1:
		c.reverseElements(w)
	case 2, 6:
		c.addNeighbours(w, size, opcode == 6)
	case 18, 20:
		c.narrow(w, size)
	case 19:
		c.shiftLong(w, size)
	default:
		if opcode >= numbers {
			c.oneNumberSame(w)
			return
		}
		of := oneSameLanes[w.field(29, 1)][opcode]
		if opcode == counts && w.bit(29) {
			of, size = inverted(size), 1
		}
		bytesOnly := opcode == counts && size != 1
		if of == nil || bytesOnly || w.lanes(size) == 0 || w.isLowest() && (size != 8 || opcode < 8) || opcode == 4 && size == 8 {
			c.forget(w)
			return
		}
		c.oneLane(w, size, of)
	}
}

// inverted returns the operation of NOT for size 1, and of RBIT for size 2. Both work on single
// bytes; the field that usually encodes a size distinguishes them.
func inverted(size int) func(v uint64, size int) uint64 {
	switch size {
	case 1:
		return func(v uint64, _ int) uint64 { return ^v }
	case 2:
		return func(v uint64, _ int) uint64 { return uint64(bits.Reverse8(byte(v))) }
	}
	return nil
}

// reverseElements executes REV16, REV32 and REV64.
func (c *CPU) reverseElements(w word) {
	group, size := 8>>(w.field(12, 1)<<1|w.field(29, 1)), w.elementSize()
	if size >= group || w.isLowest() || w.field(12, 1)<<1|w.field(29, 1) == 3 {
		c.forget(w)
		return
	}
	v, n := c.vector(w.rn()), group/size
	var r Vector
	for i := range w.lanes(size) {
		r.Put(size, i, v.Get(size, i^(n-1)))
	}
	c.setVector(w.rd(), r)
}

// long returns element i of a vector, extended to 64 bits with or without its sign as the
// instruction says. size is the size of an element in bytes.
func (w word) long(v *Vector, size, i int) uint64 {
	if isUnsigned := w.bit(29); isUnsigned {
		return v.Get(size, i)
	}
	return uint64(v.Signed(size, i))
}

// addNeighbours executes SADDLP and UADDLP, which add pairs of adjacent elements to elements of
// twice the size. With adds, it executes SADALP and UADALP, which add these sums to the old result.
func (c *CPU) addNeighbours(w word, size int, adds bool) {
	if size == 8 || w.isLowest() {
		c.forget(w)
		return
	}
	v, r := c.vector(w.rn()), Vector{}
	if adds {
		r = c.vector(w.rd())
	}
	for i := range w.lanes(size) / 2 {
		r.Put(2*size, i, r.Get(2*size, i)+w.long(&v, size, 2*i)+w.long(&v, size, 2*i+1))
	}
	if w.vectorBytes() == 8 {
		r[1] = 0
	}
	c.setVector(w.rd(), r)
}

// narrow executes XTN, SQXTN, SQXTUN and UQXTN.
func (c *CPU) narrow(w word, size int) {
	if size == 8 || w.isLowest() {
		c.forget(w)
		return
	}
	v, half := c.vector(w.rn()), Vector{}
	for i := range 8 / size {
		e := v.Get(2*size, i)
		switch w.field(29, 1)<<5 | w.field(12, 5) {
		case 20: // signed
			e = uint64(saturate(v.Signed(2*size, i), size))
		case 32 + 18: // signed to unsigned
			e = uint64(min(max(v.Signed(2*size, i), 0), int64(mask(8*size))))
		case 32 + 20: // unsigned
			e = min(e, mask(8*size))
		}
		half.Put(size, i, e)
	}
	c.setHalf(w, half[0])
}

// shiftLong executes SHLL.
func (c *CPU) shiftLong(w word, size int) {
	if size == 8 || w.isLowest() || !w.bit(29) {
		c.forget(w)
		return
	}
	c.lengthen(w, size, 8*size)
}

// lengthen extends each element in one half of a vector to twice its size and shifts it to the left
// by the given number of bits. size is the size of the old elements in bytes.
func (c *CPU) lengthen(w word, size, by int) {
	from, r := Vector{c.vector(w.rn())[w.field(30, 1)]}, Vector{}
	for i := range 8 / size {
		r.Put(2*size, i, w.long(&from, size, i)<<by)
	}
	c.setVector(w.rd(), r)
}

// acrossLanes executes ADDV, SADDLV, UADDLV, SMAXV and its relatives.
func (c *CPU) acrossLanes(w word) {
	const addLong, greatest, least, add = 3, 10, 26, 27
	opcode, size := w.field(12, 5), w.elementSize()
	if size == 8 || size == 4 && !w.bit(30) || opcode != addLong && opcode != greatest && opcode != least && (opcode != add || w.bit(29)) {
		c.forget(w)
		return
	}
	v := c.vector(w.rn())
	r := w.long(&v, size, 0)
	for i := 1; i < w.lanes(size); i++ {
		e := w.long(&v, size, i)
		switch opcode {
		case greatest:
			r = uint64(max(int64(r), int64(e)))
		case least:
			r = uint64(min(int64(r), int64(e)))
		default:
			r += e
		}
	}
	if opcode == addLong {
		size *= 2
	}
	c.setVector(w.rd(), Vector{r & mask(8*size)})
}

// threeDifferent executes the instructions of Arm's class "three different": they have two vectors
// as operands, and the elements of the result are larger or smaller.
func (c *CPU) threeDifferent(w word) {
	opcode, size := w.field(12, 4), w.elementSize()
	switch {
	case size == 8 || 1<<opcode&(1<<9|1<<11|1<<13|1<<14|1<<15) != 0:
		c.forget(w)
	case opcode == 4 || opcode == 6:
		c.highHalves(w, size, opcode == 6)
	default:
		half := w.field(30, 1)
		a, b := c.vector(w.rn()), Vector{c.vector(w.rm())[half]}
		if isWide := opcode == 1 || opcode == 3; !isWide {
			a = w.lengthened(Vector{a[half]}, size)
		}
		c.longOperation(w, opcode, size, a, w.lengthened(b, size))
	}
}

// lengthened returns a vector with the low elements of v, extended to twice their size.
func (w word) lengthened(v Vector, size int) (r Vector) {
	for i := range 8 / size {
		r.Put(2*size, i, w.long(&v, size, i))
	}
	return r
}

// longOperation executes the instruction of Arm's class "three different" with this opcode, such as
// SMULL. a and b are its operands, whose elements of size bytes were extended to twice their size.
func (c *CPU) longOperation(w word, opcode uint64, size int, a, b Vector) {
	var d Vector
	if adds := opcode == 5 || opcode == 8 || opcode == 10; adds {
		d = c.vector(w.rd())
	}
	for i := range 8 / size {
		x, y, z := a.Get(2*size, i), b.Get(2*size, i), d.Get(2*size, i)
		switch opcode {
		case 0, 1:
			z = x + y
		case 2, 3:
			z = x - y
		case 5, 7:
			if w.bit(29) {
				z += max(x, y) - min(x, y)
			} else {
				z += uint64(absolute(a.Signed(2*size, i), b.Signed(2*size, i)))
			}
		case 8, 12:
			z += x * y
		case 10:
			z -= x * y
		}
		d.Put(2*size, i, z)
	}
	c.setVector(w.rd(), d)
}

// highHalves executes ADDHN, SUBHN and their variants that round.
func (c *CPU) highHalves(w word, size int, minus bool) {
	a, b, half := c.vector(w.rn()), c.vector(w.rm()), Vector{}
	for i := range 8 / size {
		x, y := a.Get(2*size, i), b.Get(2*size, i)
		if minus {
			y = -y
		}
		if x += y; w.bit(29) {
			x += 1 << (8*size - 1)
		}
		half.Put(size, i, x>>(8*size))
	}
	c.setHalf(w, half[0])
}
