package arm64

import (
	"math"
	"math/big"
)

// numberPatterns lists the encodings of instructions for single floating-point numbers of 32 or 64
// bits, with the methods that execute them.
var numberPatterns = []pattern{
	{text: "00011110 .. 1 ...... 10000 ..... .....", does: (*CPU).oneNumber},
	{text: "00011110 .. 1 ..... .... 10 ..... .....", does: (*CPU).twoNumbers},
	{text: "00011111 .. . ..... . ..... ..... .....", does: (*CPU).threeNumbers},
	{text: "00011110 0. 1 ..... 00 1000 ..... .. 000", does: (*CPU).compareNumbers},
	{text: "00011110 0. 1 ..... .... 01 ..... . ....", does: (*CPU).compareNumbersIf},
	{text: "00011110 0. 1 ..... .... 11 ..... .....", does: (*CPU).selectNumber},
	{text: "00011110 0. 1 ........ 100 00000 .....", does: (*CPU).numberImmediate},
	{text: ". 0011110 .. 1 .. 11 . 000000 ..... .....", does: (*CPU).moveNumber},
	{text: ". 0011110 0. 1 .. 00 . 000000 ..... .....", does: (*CPU).toInteger},
	{text: ". 0011110 0. 1 00 10 . 000000 ..... .....", does: (*CPU).toInteger}, // FCVTAS, FCVTAU
	{text: ". 0011110 0. 1 00 01 . 000000 ..... .....", does: (*CPU).fromInteger},
	{text: ". 0011110 0. 0 11 00 . ...... ..... .....", does: (*CPU).toInteger},
	{text: ". 0011110 0. 0 00 01 . ...... ..... .....", does: (*CPU).fromInteger},
}

// A format is the size of a floating-point number in bytes: 4 or 8.
type format int

const (
	single format = 4
	double format = 8
)

// format returns the format of an instruction's numbers, 0 if it is not simulated.
func (w word) format() format { return [4]format{single, double, 0, 0}[w.field(22, 2)] }

// bits returns the bits that encode a number in the format.
func (f format) bits(v float64) uint64 {
	if f == single {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

// number returns the number that bits encode in the format.
func (f format) number(bits uint64) float64 {
	if f == single {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// top returns the sign bit of a number, and quiet the bit that makes a NaN a quiet one.
func (f format) top() uint64   { return 1 << (8*f - 1) }
func (f format) quiet() uint64 { return [...]uint64{single: 1 << 22, double: 1 << 51}[f] }

// defaultNaN returns the bits of the NaN that invalid operations have as their result.
func (f format) defaultNaN() uint64 {
	return [...]uint64{single: 0x7fc00000, double: 0x7ff8000000000000}[f]
}

func (f format) isNaN(bits uint64) bool {
	v := f.number(bits)
	return v != v
}

// signals reports whether a number is a signaling NaN.
func (f format) signals(bits uint64) bool { return f.isNaN(bits) && bits&f.quiet() == 0 }

// nan returns the bits of the NaN that an operation has as its result if one of its operands is a
// NaN: the first signaling NaN, or else the first quiet NaN. It returns false if no operand is a
// NaN.
func (f format) nan(operands ...uint64) (uint64, bool) {
	for _, v := range operands {
		if f.signals(v) {
			return v | f.quiet(), true
		}
	}
	for _, v := range operands {
		if f.isNaN(v) {
			return v, true
		}
	}
	return 0, false
}

// An ofTwo computes an operation on two numbers of a format. The numbers and the result are given
// as bits.
type ofTwo func(f format, a, b uint64) uint64

// rounded returns an ofTwo that computes an operation in double precision and rounds its result to
// the format. For these operations, that is also the right result in single precision, since double
// precision has more than twice the digits.
func rounded(of func(a, b float64) float64) ofTwo {
	return func(f format, a, b uint64) uint64 {
		if r, ok := f.nan(a, b); ok {
			return r
		}
		if r := f.bits(of(f.number(a), f.number(b))); !f.isNaN(r) {
			return r
		}
		return f.defaultNaN()
	}
}

func (f format) negate(v uint64) uint64 { return v ^ f.top() }

// preferring returns the variant of an operation that ignores a quiet NaN if the other operand is a
// number, as FMAXNM and FMINNM do.
func preferring(of ofTwo) ofTwo {
	return func(f format, a, b uint64) uint64 {
		aQuiet, bQuiet := f.isNaN(a) && !f.signals(a), f.isNaN(b) && !f.signals(b)
		switch {
		case aQuiet && !f.isNaN(b):
			return b
		case bQuiet && !f.isNaN(a):
			return a
		}
		return of(f, a, b)
	}
}

var (
	sum        = rounded(func(a, b float64) float64 { return a + b })
	difference = rounded(func(a, b float64) float64 { return a - b })
	product    = rounded(func(a, b float64) float64 { return a * b })
	quotient   = rounded(func(a, b float64) float64 { return a / b })
	greatest   = rounded(math.Max)
	least      = rounded(math.Min)
)

// twoOperands contains the floating-point operations with two operands, by the opcode field of the
// instruction.
var twoOperands = [16]ofTwo{
	0: product, 1: quotient, 2: sum, 3: difference, 4: greatest, 5: least, 6: preferring(greatest), 7: preferring(least),
	8: func(f format, a, b uint64) uint64 { return f.negate(product(f, a, b)) },
}

// checkMode marks the result of the current floating-point instruction as unknown if the program
// has changed the rounding mode or another setting in the register FPCR. Only the default settings
// are simulated.
func (c *CPU) checkMode() { c.tainted = c.tainted || c.Mode != 0 }

func (c *CPU) twoNumbers(w word) {
	f, of := w.format(), twoOperands[w.field(12, 4)]
	if f == 0 || of == nil {
		c.forget(w)
		return
	}
	c.checkMode()
	a, b := c.vector(w.rn())[0], c.vector(w.rm())[0]
	c.setVector(w.rd(), Vector{of(f, a&f.mask(), b&f.mask())})
}

func (f format) mask() uint64 { return mask(8 * int(f)) }

// fused returns the bits of a*b + s, rounded once. The operands are given as bits, too.
func (f format) fused(s, a, b uint64) uint64 {
	x, y, z := f.number(a), f.number(b), f.number(s)
	if invalid := math.IsInf(x, 0) && y == 0 || x == 0 && math.IsInf(y, 0); invalid && !f.signals(s) {
		return f.defaultNaN()
	}
	if r, ok := f.nan(s, a, b); ok {
		return r
	}
	r := math.FMA(x, y, z)
	switch {
	case r != r:
		return f.defaultNaN()
	case f == single && !math.IsInf(r, 0) && r != 0:
		return uint64(math.Float32bits(roundedSum(x*y, z)))
	}
	return f.bits(r)
}

// roundedSum returns product + s in single precision, rounded once. product is the exact product of
// two numbers of single precision. A sum in double precision that is then converted would be
// rounded twice.
func roundedSum(product, s float64) float32 {
	const enough = 640 // bits of the exact sum
	exact := new(big.Float).SetPrec(enough).SetFloat64(product)
	exact.Add(exact, new(big.Float).SetFloat64(s))
	r, _ := exact.Float32()
	return r
}

// threeNumbers executes FMADD, FMSUB, FNMADD and FNMSUB.
func (c *CPU) threeNumbers(w word) {
	f := w.format()
	if f == 0 {
		c.forget(w)
		return
	}
	c.checkMode()
	m := f.mask()
	s, a, b := c.vector(w.ra())[0]&m, c.vector(w.rn())[0]&m, c.vector(w.rm())[0]&m
	minusSum, minusProduct := w.bit(21), w.bit(15) != w.bit(21)
	if minusSum {
		s = f.negate(s)
	}
	if minusProduct {
		a = f.negate(a)
	}
	c.setVector(w.rd(), Vector{f.fused(s, a, b)})
}

// roundings has the functions that round to an integer, by the field rmode, and then the one that
// rounds ties away from zero.
var roundings = [5]func(float64) float64{math.RoundToEven, math.Ceil, math.Floor, math.Trunc, math.Round}

// round rounds the number with the bits v to an integer with the function how, such as math.Floor,
// and returns the bits of the result.
func (f format) round(v uint64, how func(float64) float64) uint64 {
	if r, ok := f.nan(v); ok {
		return r
	}
	return f.bits(how(f.number(v)))
}

// root returns the bits of the square root of the number with the bits v, rounded to the format.
func (f format) root(v uint64) uint64 {
	return rounded(func(a, _ float64) float64 { return math.Sqrt(a) })(f, v, 0)
}

// convert converts the number with the bits v from format f to another format, and returns the bits
// of the result.
func (f format) convert(v uint64, to format) uint64 {
	if r, ok := f.nan(v); ok {
		if v = r; to == double {
			return v>>31<<63 | 0x7ff<<52 | v&0x7fffff<<29
		}
		return v>>63<<31 | 0xff<<23 | v>>29&0x7fffff
	}
	return to.bits(f.number(v))
}

// oneNumber executes the floating-point instructions with one operand, such as FABS and FSQRT.
func (c *CPU) oneNumber(w word) {
	f, opcode := w.format(), w.field(15, 6)
	v := c.vector(w.rn())[0] & f.mask()
	if opcode > 2 {
		c.checkMode()
	}
	switch {
	case f == 0:
		c.forget(w)
		return
	case opcode == 0:
	case opcode == 1:
		v &^= f.top()
	case opcode == 2:
		v = f.negate(v)
	case opcode == 3:
		v = f.root(v)
	case opcode == 4 && f == double:
		v = f.convert(v, single)
	case opcode == 5 && f == single:
		v = f.convert(v, double)
	case opcode >= 8 && opcode <= 12:
		v = f.round(v, roundings[opcode-8])
	case opcode == 14 || opcode == 15: // in the mode of the processor, which is the default
		v = f.round(v, math.RoundToEven)
	default:
		c.forget(w)
		return
	}
	c.setVector(w.rd(), Vector{v})
}

// compared returns the flags that a comparison of the numbers with the bits a and b sets.
func (f format) compared(a, b uint64) uint64 {
	x, y := f.number(a), f.number(b)
	switch {
	case x != x || y != y:
		return carry | overflow
	case x == y:
		return zero | carry
	case x < y:
		return negative
	}
	return carry
}

func (c *CPU) compareNumbers(w word) {
	c.checkMode()
	f, b := w.format(), uint64(0)
	a := c.vector(w.rn())[0]
	if withZero := w.bit(3); !withZero {
		b = c.vector(w.rm())[0]
	}
	c.setFlags(f.compared(a, b))
}

func (c *CPU) compareNumbersIf(w word) {
	if !c.holds(w.field(12, 4)) {
		c.setFlags(w.field(0, 4) * overflow)
		return
	}
	c.checkMode()
	a, b := c.vector(w.rn())[0], c.vector(w.rm())[0]
	c.setFlags(w.format().compared(a, b))
}

func (c *CPU) selectNumber(w word) {
	n := w.rn()
	if !c.holds(w.field(12, 4)) {
		n = w.rm()
	}
	c.setVector(w.rd(), Vector{c.vector(n)[0] & w.format().mask()})
}

// expanded returns the bits of the number that an immediate of 8 bits encodes: a sign, 3 bits of
// the exponent and 4 of the fraction.
func (f format) expanded(v uint64) uint64 {
	exponent := [...]int{single: 8, double: 11}[f]
	fraction := 8*int(f) - 1 - exponent
	high, rest := v>>6&1, v&0x3f
	e := (high^1)<<(exponent-1) | -high&mask(exponent-3)<<2 | rest>>4
	return v>>7<<(8*f-1) | e<<fraction | rest&15<<(fraction-4)
}

func (c *CPU) numberImmediate(w word) {
	c.setVector(w.rd(), Vector{w.format().expanded(w.field(13, 8))})
}

// moveNumber executes FMOV between a vector and a general register.
func (c *CPU) moveNumber(w word) {
	from, isTop := w.bit(16), false
	switch w.field(31, 1)<<4 | w.field(22, 2)<<2 | w.field(19, 2) {
	case 0b0_00_00, 0b1_01_00:
	case 0b1_10_01:
		isTop = true
	default:
		c.fail()
		return
	}
	v := w.cut(c.X[w.rn()])
	switch {
	case from && isTop:
		c.setVector(w.rd(), Vector{c.vector(w.rd())[0], v})
	case from:
		c.setVector(w.rd(), Vector{v})
	case isTop:
		c.set(w.rd(), c.vector(w.rn())[1])
	default:
		c.set(w.rd(), w.cut(c.vector(w.rn())[0]))
	}
}

// integer converts a number to an integer with the given number of bits. Numbers that are too large
// become the largest integer, and a NaN becomes 0.
func integer(v float64, bits int, isUnsigned bool) uint64 {
	low, high := -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	most := mask(bits - 1)
	if isUnsigned {
		low, high, most = 0, 2*high, mask(bits)
	}
	switch {
	case v != v:
		return 0
	case v >= high:
		return most
	case v < low && isUnsigned:
		return 0
	case v < low:
		return most + 1
	case isUnsigned:
		return uint64(v)
	}
	return uint64(int64(v)) & mask(bits)
}

// fraction returns the number of bits after the binary point of the fixed-point number that a
// conversion instruction reads or writes.
func (w word) fraction() int {
	if w.bit(21) {
		return 0
	}
	return 64 - int(w.field(10, 6))
}

// toInteger executes FCVTNS and the other conversions of a floating-point number to an integer.
func (c *CPU) toInteger(w word) {
	how := roundings[w.field(19, 2)]
	if away := w.field(17, 2) == 2; away {
		how = math.Round
	}
	if w.fraction() > w.width() {
		c.fail()
		return
	}
	c.checkMode()
	v := math.Ldexp(w.format().number(c.vector(w.rn())[0]), w.fraction())
	c.set(w.rd(), integer(how(v), w.width(), w.bit(16)))
}

// fromInteger executes SCVTF and UCVTF.
func (c *CPU) fromInteger(w word) {
	if w.fraction() > w.width() {
		c.fail()
		return
	}
	c.checkMode()
	c.setVector(w.rd(), Vector{w.format().ofInteger(c.X[w.rn()], w.width(), w.fraction(), w.bit(16))})
}

// ofInteger converts the fixed-point number v to a floating-point number and returns its bits. v
// has the given number of bits, of which fraction are after the binary point.
func (f format) ofInteger(v uint64, bits, fraction int, isUnsigned bool) uint64 {
	scale := math.Ldexp(1, -fraction)
	switch v = extend(v, bits); {
	case isUnsigned && f == single:
		return f.bits(float64(float32(v&mask(bits))) * scale)
	case isUnsigned:
		return f.bits(float64(v&mask(bits)) * scale)
	case f == single:
		return f.bits(float64(float32(int64(v))) * scale)
	}
	return f.bits(float64(int64(v)) * scale)
}
