package arm64

import "math"

// numberFormat returns the format of the numbers in an instruction's vectors.
func (w word) numberFormat() format {
	if w.bit(22) {
		return double
	}
	return single
}

// comparison returns an ofTwo that compares two numbers by the function holds. The bits of its
// result are all 1 if holds returns true, else 0.
func comparison(holds func(a, b float64) bool) ofTwo {
	return func(f format, a, b uint64) uint64 { return all(holds(f.number(a), f.number(b))) }
}

// fusedWith returns the bits of d plus the product of a and b, or with minus of d minus this
// product, rounded once. The operands are given as bits of the format f.
func fusedWith(f format, d, a, b uint64, minus bool) uint64 {
	if minus {
		a = f.negate(a)
	}
	return f.fused(d, a, b)
}

var (
	equal   = comparison(func(a, b float64) bool { return a == b })
	atLeast = comparison(func(a, b float64) bool { return a >= b })
	greater = comparison(func(a, b float64) bool { return a > b })
)

// threeSameNumbers contains the operations on two vectors of floating-point numbers, except FMLA
// and FMLS. The index consists of bits 29 and 23 of the instruction, and then of the low bits of
// the opcode.
var threeSameNumbers = [4][8]ofTwo{
	{0: preferring(greatest), 2: sum, 4: equal, 6: greatest},
	{0: preferring(least), 2: difference, 6: least},
	{0: preferring(greatest), 2: sum, 3: product, 4: atLeast, 5: ofAbsolutes(atLeast), 6: greatest, 7: quotient},
	{0: preferring(least), 2: absoluteDifference, 4: greater, 5: ofAbsolutes(greater), 6: least},
}

func absoluteDifference(f format, a, b uint64) uint64 { return difference(f, a, b) &^ f.top() }

// ofAbsolutes returns an ofTwo that clears the signs of both operands and then computes the
// operation of.
func ofAbsolutes(of ofTwo) ofTwo {
	return func(f format, a, b uint64) uint64 { return of(f, a&^f.top(), b&^f.top()) }
}

// threeNumbersSame executes the floating-point instructions of Arm's class "three same", which have
// two vectors as operands.
func (c *CPU) threeNumbersSame(w word) {
	f, kind, opcode := w.numberFormat(), w.field(29, 1)<<1|w.field(23, 1), w.field(11, 3)
	of, fused := threeSameNumbers[kind][opcode], kind < 2 && opcode == 1
	isPairwise := kind&2 != 0 && (opcode == 0 || opcode == 6 || opcode == 2 && kind == 2)
	compares := opcode == 4 || opcode == 5 || kind == 3 && opcode == 2 // lowest elements also have these
	if of == nil && !fused || w.lanes(int(f)) == 0 || w.isLowest() && !compares {
		c.forget(w)
		return
	}
	c.checkMode()
	operation := func(d, a, b uint64, _ int) uint64 {
		if fused {
			return fusedWith(f, d, a, b, kind == 1)
		}
		return of(f, a, b)
	}
	if isPairwise {
		c.pairwise(w, int(f), operation)
	} else {
		c.eachLane(w, int(f), operation, fused)
	}
}

// An ofOne computes an operation on one number of a format. The number and the result are given as
// bits.
type ofOne func(f format, v uint64) uint64

func rounds(how func(float64) float64) ofOne {
	return func(f format, v uint64) uint64 { return f.round(v, how) }
}

// toIntegers returns an ofOne that converts a number to an integer of the same size, rounded with
// the function how.
func toIntegers(how func(float64) float64, isUnsigned bool) ofOne {
	return func(f format, v uint64) uint64 { return integer(how(f.number(v)), 8*int(f), isUnsigned) }
}

func fromIntegers(isUnsigned bool) ofOne {
	return func(f format, v uint64) uint64 { return f.ofInteger(v, 8*int(f), 0, isUnsigned) }
}

func withZero(of func(a, b float64) bool) ofOne {
	return func(f format, v uint64) uint64 { return all(of(f.number(v), 0)) }
}

// oneSameNumbers has the operations on one vector of floating-point numbers, by bits 29 and 23 and
// the opcode, which begins at bit 12.
var oneSameNumbers = [4][20]ofOne{
	{
		12: rounds(math.RoundToEven), 13: rounds(math.Floor),
		14: toIntegers(math.RoundToEven, false), 15: toIntegers(math.Floor, false), 16: toIntegers(math.Round, false), 17: fromIntegers(false),
	},
	{
		0: withZero(func(a, b float64) bool { return a > b }), 1: withZero(func(a, b float64) bool { return a == b }),
		2:  withZero(func(a, b float64) bool { return a < b }),
		3:  func(f format, v uint64) uint64 { return v &^ f.top() },
		12: rounds(math.Ceil), 13: rounds(math.Trunc), 14: toIntegers(math.Ceil, false), 15: toIntegers(math.Trunc, false),
	},
	{
		12: rounds(math.Round), 13: rounds(math.RoundToEven),
		14: toIntegers(math.RoundToEven, true), 15: toIntegers(math.Floor, true), 16: toIntegers(math.Round, true), 17: fromIntegers(true),
	},
	{
		0: withZero(func(a, b float64) bool { return a >= b }), 1: withZero(func(a, b float64) bool { return a <= b }),
		3: format.negate, 13: rounds(math.RoundToEven), 14: toIntegers(math.Ceil, true), 15: toIntegers(math.Trunc, true),
		19: format.root,
	},
}

// oneNumberSame executes the floating-point instructions of Arm's class "two-register
// miscellaneous", which have one vector as operand.
func (c *CPU) oneNumberSame(w word) {
	const first, narrow, lengthen = 12, 22, 23
	f, kind, opcode := w.numberFormat(), w.field(29, 1)<<1|w.field(23, 1), w.field(12, 5)
	c.checkMode()
	switch of := oneSameNumbers[kind][opcode-first]; {
	case kind == 0 && opcode == narrow && f == double && !w.isLowest():
		v := c.vector(w.rn())
		c.setHalf(w, f.convert(v[0], single)|f.convert(v[1], single)<<32)
	case kind == 0 && opcode == lengthen && f == double && !w.isLowest():
		v := c.vector(w.rn())[w.field(30, 1)]
		c.setVector(w.rd(), Vector{single.convert(v&mask(32), double), single.convert(v>>32, double)})
	case of == nil || w.lanes(int(f)) == 0:
		c.forget(w)
	default:
		c.oneLane(w, int(f), func(v uint64, _ int) uint64 { return of(f, v) })
	}
}

// pairs has the operations on the two lowest elements of a vector, by bit 23 and the opcode.
var pairs = [2]map[uint64]ofTwo{
	{12: preferring(greatest), 13: sum, 15: greatest},
	{12: preferring(least), 15: least},
}

// pairwiseLowest executes ADDP, FADDP, FMAXP and similar instructions that combine the two lowest
// elements of a vector.
func (c *CPU) pairwiseLowest(w word) {
	f, v := w.numberFormat(), c.vector(w.rn())
	of := pairs[w.field(23, 1)][w.field(12, 5)]
	const add = 27
	switch {
	case !w.bit(29) && w.field(12, 5) == add && w.field(22, 2) == 3:
		c.setVector(w.rd(), Vector{v[0] + v[1]})
	case w.bit(29) && of != nil:
		c.checkMode()
		c.setVector(w.rd(), Vector{of(f, v.Get(int(f), 0), v.Get(int(f), 1))})
	default:
		c.forget(w)
	}
}
