package arm64

import (
	"encoding/binary"
	"math/bits"
)

// vectorPatterns has the encodings of instructions that work on all elements of vectors, and of the
// instructions of the same form that work on the lowest element. In the latter, the second bit is
// 1.
var vectorPatterns = []pattern{
	{text: "0 . . 01110 .. 1 ..... ..... 1 ..... .....", does: (*CPU).threeSame},
	{text: "0 1 . 11110 .. 1 ..... ..... 1 ..... .....", does: (*CPU).threeSame},
	{text: "0 . . 01110 .. 10000 ..... 10 ..... .....", does: (*CPU).twoSame},
	{text: "0 1 . 11110 .. 10000 ..... 10 ..... .....", does: (*CPU).twoSame},
	{text: "0 . . 01110 .. 11000 ..... 10 ..... .....", does: (*CPU).acrossLanes},
	{text: "0 1 . 11110 .. 11000 ..... 10 ..... .....", does: (*CPU).pairwiseLowest},
	{text: "0 . . 01110 .. 1 ..... .... 00 ..... .....", does: (*CPU).threeDifferent},
	{text: "0 . . 01111 .. . ..... .... . 0 ..... .....", does: (*CPU).byElement},
	{text: "0 1 . 11111 .. . ..... .... . 0 ..... .....", does: (*CPU).byElement},
	{text: "0 . . 0111100000 ... .... 01 ..... .....", does: (*CPU).modifiedImmediate},
	{text: "0 . . 011110 .... ... ..... 1 ..... .....", does: (*CPU).shiftImmediate},
	{text: "0 1 . 111110 .... ... ..... 1 ..... .....", does: (*CPU).shiftImmediate},
}

// bytesOf returns the bytes of a vector, the lowest first.
func bytesOf(v Vector) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v[0]), v[1])
}

// isLowest reports whether a vector instruction works with the lowest element of its vectors only.
func (w word) isLowest() bool { return w.bit(28) }

// elementSize returns the size in bytes of a vector's elements, from the field in which most vector
// instructions encode it.
func (w word) elementSize() int { return 1 << w.field(22, 2) }

// lanes returns the number of elements that a vector instruction works on, for elements of size
// bytes. It is 0 if no such instruction exists: a vector of 8 bytes with an element of 8 bytes.
func (w word) lanes(size int) int {
	if w.isLowest() {
		return 1
	}
	if size == 8 && w.vectorBytes() == 8 {
		return 0
	}
	return w.vectorBytes() / size
}

// A lane computes one element of a result from the elements at the same place of one or two
// operands, a and b. The element d is what the result register contained before. The size of an
// element is in bytes.
type lane func(d, a, b uint64, size int) uint64

// ofSigned returns a lane that computes f of two elements as signed numbers. size is their size in
// bytes.
func ofSigned(f func(a, b int64, size int) int64) lane {
	return func(_, a, b uint64, size int) uint64 {
		return uint64(f(int64(extend(a, 8*size)), int64(extend(b, 8*size)), size))
	}
}

func ofUnsigned(f func(a, b uint64) uint64) lane {
	return func(_, a, b uint64, _ int) uint64 { return f(a, b) }
}

// all returns an element whose bits are all 1 if a condition is met, else 0.
func all(holds bool) uint64 {
	if holds {
		return ^uint64(0)
	}
	return 0
}

// saturate limits a number to the range of signed numbers of size bytes.
func saturate(v int64, size int) int64 {
	most := int64(mask(8*size - 1))
	return max(min(v, most), -most-1)
}

// addSaturated returns the sum of two numbers, limited to the range of signed numbers of size
// bytes.
func addSaturated(a, b int64, size int) int64 {
	r := a + b
	return saturateSum(r, a, (a^r)&(b^r) < 0, size)
}

func subtractSaturated(a, b int64, size int) int64 {
	r := a - b
	return saturateSum(r, a, (a^b)&(a^r) < 0, size)
}

// saturateSum limits r, a sum or difference, to the range of signed numbers of size bytes. If r has
// overflowed 64 bits, the sign of the first operand decides at which end of the range the result
// is.
func saturateSum(r, first int64, overflows bool, size int) int64 {
	if overflows {
		r = first>>63 ^ int64(mask(63))
	}
	return saturate(r, size)
}

// halved returns a lane that computes half the sum or difference of two elements. The sum has one
// bit more than the elements. It still fits into 64 bits, because the processor has no such
// instruction for elements of 8 bytes.
func halved(signed bool, minus, round int64) lane {
	return func(_, a, b uint64, size int) uint64 {
		if signed {
			a, b = extend(a, 8*size), extend(b, 8*size)
		}
		return uint64((int64(a) + minus*int64(b) + round) >> 1)
	}
}

// shiftBy returns a lane that shifts an element of the first operand by the count in the second
// operand: to the left, or to the right if the count is negative.
func shiftBy(isSigned bool) lane {
	return func(_, a, b uint64, size int) uint64 {
		n := int(int8(b))
		if isSigned {
			a = extend(a, 8*size)
		}
		switch {
		case n >= 0:
			return a << n
		case isSigned:
			return uint64(int64(a) >> -n)
		}
		return a >> -n
	}
}

func absolute(a, b int64) int64 { return max(a, b) - min(a, b) }

// byBits has the bitwise operations: AND, BIC, ORR, ORN, EOR, BSL, BIT and BIF.
var byBits = [8]lane{
	func(_, a, b uint64, _ int) uint64 { return a & b },
	func(_, a, b uint64, _ int) uint64 { return a &^ b },
	func(_, a, b uint64, _ int) uint64 { return a | b },
	func(_, a, b uint64, _ int) uint64 { return a | ^b },
	func(_, a, b uint64, _ int) uint64 { return a ^ b },
	func(d, a, b uint64, _ int) uint64 { return d&a | ^d&b },
	func(d, a, b uint64, _ int) uint64 { return d&^b | a&b },
	func(d, a, b uint64, _ int) uint64 { return d&b | a&^b },
}

// threeSameLanes has the operations on two vectors, by opcode: first those on signed numbers, then
// those on unsigned ones.
var threeSameLanes = [2][32]lane{
	{
		0: halved(true, 1, 0), 2: halved(true, 1, 1), 4: halved(true, -1, 0), 1: ofSigned(addSaturated), 5: ofSigned(subtractSaturated),
		6:  func(_, a, b uint64, n int) uint64 { return all(int64(extend(a, 8*n)) > int64(extend(b, 8*n))) },
		7:  func(_, a, b uint64, n int) uint64 { return all(int64(extend(a, 8*n)) >= int64(extend(b, 8*n))) },
		8:  shiftBy(true),
		12: ofSigned(func(a, b int64, _ int) int64 { return max(a, b) }),
		13: ofSigned(func(a, b int64, _ int) int64 { return min(a, b) }),
		14: ofSigned(func(a, b int64, _ int) int64 { return absolute(a, b) }),
		15: func(d, a, b uint64, n int) uint64 {
			return d + uint64(absolute(int64(extend(a, 8*n)), int64(extend(b, 8*n))))
		},
		16: ofUnsigned(func(a, b uint64) uint64 { return a + b }),
		17: ofUnsigned(func(a, b uint64) uint64 { return all(a&b != 0) }),
		18: func(d, a, b uint64, _ int) uint64 { return d + a*b },
		19: ofUnsigned(func(a, b uint64) uint64 { return a * b }),
		20: ofSigned(func(a, b int64, _ int) int64 { return max(a, b) }),
		21: ofSigned(func(a, b int64, _ int) int64 { return min(a, b) }),
		23: ofUnsigned(func(a, b uint64) uint64 { return a + b }),
	},
	{
		0: halved(false, 1, 0), 2: halved(false, 1, 1), 4: halved(false, -1, 0),
		1: func(_, a, b uint64, n int) uint64 {
			if sum, over := bits.Add64(a, b, 0); over == 0 {
				return min(sum, mask(8*n))
			}
			return ^uint64(0)
		},
		5:  ofUnsigned(func(a, b uint64) uint64 { return a - min(a, b) }),
		6:  ofUnsigned(func(a, b uint64) uint64 { return all(a > b) }),
		7:  ofUnsigned(func(a, b uint64) uint64 { return all(a >= b) }),
		8:  shiftBy(false),
		12: ofUnsigned(func(a, b uint64) uint64 { return max(a, b) }),
		13: ofUnsigned(func(a, b uint64) uint64 { return min(a, b) }),
		14: ofUnsigned(func(a, b uint64) uint64 { return max(a, b) - min(a, b) }),
		15: func(d, a, b uint64, _ int) uint64 { return d + max(a, b) - min(a, b) },
		16: ofUnsigned(func(a, b uint64) uint64 { return a - b }),
		17: ofUnsigned(func(a, b uint64) uint64 { return all(a == b) }),
		18: func(d, a, b uint64, _ int) uint64 { return d - a*b },
		20: ofUnsigned(func(a, b uint64) uint64 { return max(a, b) }),
		21: ofUnsigned(func(a, b uint64) uint64 { return min(a, b) }),
	},
}

// Sets of opcodes of threeSame, with a bit for each opcode.
const (
	lowestHas8 = 1<<6 | 1<<7 | 1<<8 | 1<<16 | 1<<17 // for a lowest element alone, the size is 8 bytes
	lowestAny  = 1<<1 | 1<<5                        // for a lowest element alone, there are all sizes
	never8     = 1<<0 | 1<<2 | 1<<4 | 1<<12 | 1<<13 | 1<<14 | 1<<15 | 1<<18 | 1<<19 | 1<<20 | 1<<21
	usesResult = 1<<15 | 1<<18
)

// hasThreeSame reports whether Arm's class "three same", which threeSame executes, has an
// instruction with this opcode for elements of size bytes.
func (w word) hasThreeSame(opcode uint64, size int) bool {
	is := func(set uint64) bool { return set>>opcode&1 != 0 }
	if w.isLowest() {
		return is(lowestAny) || size == 8 && is(lowestHas8)
	}
	return w.lanes(size) != 0 && (size < 8 || !is(never8))
}

// threeSame executes the instructions of Arm's class "three same": they have two vectors as
// operands, and all elements have the same size.
func (c *CPU) threeSame(w word) {
	const logical, numbers = 3, 24
	opcode, size := w.field(11, 5), w.elementSize()
	of := threeSameLanes[w.field(29, 1)][opcode]
	switch {
	case opcode >= numbers:
		c.threeNumbersSame(w)
		return
	case opcode == logical && !w.isLowest():
		c.logicalVector(w)
		return
	case of == nil || !w.hasThreeSame(opcode, size):
		c.forget(w)
		return
	}
	if isPairwise := opcode >= 20; isPairwise {
		c.pairwise(w, size, of)
	} else {
		c.eachLane(w, size, of, usesResult>>opcode&1 != 0)
	}
}

// logicalVector executes AND, BIC, ORR, ORN, EOR, BSL, BIT and BIF.
func (c *CPU) logicalVector(w word) {
	kind := w.field(29, 1)<<2 | w.field(22, 2)
	if exclusive := kind == 4; exclusive && w.rn() == w.rm() {
		c.setVector(w.rd(), Vector{})
		return
	}
	c.eachLane(w, 4, byBits[kind], kind > 4)
}

// eachLane computes each element of the result register by the function of, from the elements at
// the same place of two vector registers. size is the size of an element in bytes. With
// accumulates, the function also gets the old element of the result register.
func (c *CPU) eachLane(w word, size int, of lane, accumulates bool) {
	c.lanesWith(w, c.vector(w.rm()), size, of, accumulates)
}

// lanesWith computes each element of the result register by the function of, from the elements at
// the same place of a vector register and of the vector b. size is the size of an element in bytes.
// With accumulates, the function also gets the old element of the result register.
func (c *CPU) lanesWith(w word, b Vector, size int, of lane, accumulates bool) {
	a, d, r := c.vector(w.rn()), c.V[w.rd()], Vector{}
	if accumulates {
		d = c.vector(w.rd())
	}
	for i := range w.lanes(size) {
		r.Put(size, i, of(d.Get(size, i), a.Get(size, i), b.Get(size, i), size))
	}
	c.setVector(w.rd(), r)
}

// pairwise computes each element of the result by the function of, from two adjacent elements of an
// operand. The pairs of the first operand give the first half of the result, and those of the
// second operand give the second half.
func (c *CPU) pairwise(w word, size int, of lane) {
	both := [2]Vector{c.vector(w.rn()), c.vector(w.rm())}
	n := w.lanes(size)
	var r Vector
	for i := range n {
		from, at := &both[2*i/n], 2*i%n
		r.Put(size, i, of(0, from.Get(size, at), from.Get(size, at+1), size))
	}
	c.setVector(w.rd(), r)
}
