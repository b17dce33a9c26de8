package arm64

import (
	"hash/crc32"
	"math/bits"
)

// immediatePatterns has the encodings of integer instructions with an immediate.
var immediatePatterns = []pattern{
	{text: ". .. 10000 ................... .....", does: (*CPU).adr},
	{text: ". . . 100010 . ............ ..... .....", does: (*CPU).addImmediate},
	{text: ". .. 100100 . ...... ...... ..... .....", does: (*CPU).logicalImmediate},
	{text: ". .. 100101 .. ................ .....", does: (*CPU).moveWide},
	{text: ". .. 100110 . ...... ...... ..... .....", does: (*CPU).bitfield},
	{text: ". 00 100111 . 0 ..... ...... ..... .....", does: (*CPU).extract},
}

// registerPatterns has the encodings of integer instructions whose operands are registers.
var registerPatterns = []pattern{
	{text: ". .. 01010 .. . ..... ...... ..... .....", does: (*CPU).logicalShifted},
	{text: ". . . 01011 .. 0 ..... ...... ..... .....", does: (*CPU).addShifted},
	{text: ". . . 01011 00 1 ..... ... ... ..... .....", does: (*CPU).addExtended},
	{text: ". . . 11010000 ..... 000000 ..... .....", does: (*CPU).addCarry},
	{text: ". . 1 11010010 ..... .... . 0 ..... 0 ....", does: (*CPU).conditionalCompare},
	{text: ". . 0 11010100 ..... .... 0 . ..... .....", does: (*CPU).conditionalSelect},
	{text: ". 0 0 11010110 ..... 00001 . ..... .....", does: (*CPU).divide},
	{text: ". 0 0 11010110 ..... 0010 .. ..... .....", does: (*CPU).shiftVariable},
	{text: ". 0 0 11010110 ..... 010 . .. ..... .....", does: (*CPU).checksum},
	{text: ". 1 0 11010110 00000 0000 .. ..... .....", does: (*CPU).reverse},
	{text: ". 1 0 11010110 00000 00010 . ..... .....", does: (*CPU).countLeading},
	{text: "1 1 0 11010110 00001 000 ... ..... .....", does: (*CPU).sign},
	{text: "1 1 0 11010110 00001 001 ... 11111 .....", does: (*CPU).sign},
	{text: "1 1 0 11010110 00001 01000 . 11111 .....", does: (*CPU).sign},
	{text: ". 00 11011 000 ..... . ..... ..... .....", does: (*CPU).multiplyAdd},
	{text: "1 00 11011 . 01 ..... . ..... ..... .....", does: (*CPU).multiplyAddLong},
	{text: "1 00 11011 . 10 ..... 0 ..... ..... .....", does: (*CPU).multiplyHigh},
}

// adr executes ADR and ADRP.
func (c *CPU) adr(w word) {
	by := w.signed(5, 19)<<2 | w.field(29, 2)
	at := c.IP
	if w.bit(31) {
		by, at = by<<12, at&^0xfff
	}
	c.set(w.rd(), at+by)
}

// add returns a + b + in, where in is a carry of 0 or 1, and the flags that an addition of the
// instruction's width sets.
func (w word) add(a, b, in uint64) (sum, flags uint64) {
	width := w.width()
	a, b = w.cut(a), w.cut(b)
	sum, out := bits.Add64(a, b, in)
	if width < 64 {
		out = sum >> width & 1
	}
	flags = w.flagsOf(sum) | out*carry
	if (a^sum)&(b^sum)>>(width-1)&1 != 0 {
		flags |= overflow
	}
	return w.cut(sum), flags
}

// flagsOf returns the flags N (negative) and Z (zero) of the result v of an instruction.
func (w word) flagsOf(v uint64) (flags uint64) {
	if w.cut(v) == 0 {
		flags |= zero
	}
	return flags | v>>(w.width()-1)&1*negative
}

// addOrSubtract executes ADD, ADDS, SUB and SUBS with the operands a and b. If stack is set,
// register 31 of an ADD or SUB is the stack pointer, and otherwise the zero register.
func (c *CPU) addOrSubtract(w word, a, b uint64, stack bool) {
	in := uint64(0)
	if w.bit(30) {
		b, in = ^b, 1
	}
	sum, flags := w.add(a, b, in)
	if w.bit(29) {
		c.setFlags(flags)
		stack = false
	}
	if stack {
		c.setBase(w.rd(), sum)
	} else {
		c.set(w.rd(), sum)
	}
}

func (c *CPU) addImmediate(w word) {
	b := w.field(10, 12)
	if w.bit(22) {
		b <<= 12
	}
	c.addOrSubtract(w, c.base(w.rn()), b, true)
}

func (c *CPU) addShifted(w word) {
	n := int(w.field(10, 6))
	if w.field(22, 2) == 3 || n >= w.width() {
		c.fail()
		return
	}
	c.addOrSubtract(w, c.X[w.rn()], w.shift(w.field(22, 2), c.X[w.rm()], n), false)
}

func (c *CPU) addExtended(w word) {
	n := w.field(10, 3)
	if n > 4 {
		c.fail()
	}
	c.addOrSubtract(w, c.base(w.rn()), w.extended(c.X[w.rm()])<<n, true)
}

// extended returns the value of a register operand whose lowest 8, 16, 32 or 64 bits are extended,
// with or without sign as the instruction says.
func (w word) extended(v uint64) uint64 {
	size := 8 << w.field(13, 2)
	if w.bit(15) {
		return extend(v, size)
	}
	return v & mask(size)
}

// shift shifts v to the left or right by n bits, or rotates it. kind is the number of the operation
// in the instruction's shift field.
func (w word) shift(kind, v uint64, n int) uint64 {
	width := w.width()
	v = w.cut(v)
	switch kind {
	case 0:
		v <<= n
	case 1:
		v >>= n
	case 2:
		v = uint64(int64(extend(v, width)) >> n)
	case 3:
		v = v>>n | v<<(width-n)
	}
	return w.cut(v)
}

func (c *CPU) shiftVariable(w word) {
	n := int(c.X[w.rm()] & uint64(w.width()-1))
	c.set(w.rd(), w.shift(w.field(10, 2), c.X[w.rn()], n))
}

func (c *CPU) addCarry(w word) {
	b := c.X[w.rm()]
	if w.bit(30) {
		b = ^b
	}
	sum, flags := w.add(c.X[w.rn()], b, c.Flags/carry&1)
	if w.bit(29) {
		c.setFlags(flags)
	}
	c.set(w.rd(), sum)
}

// logical executes AND, ORR, EOR and ANDS with the operands a and b. set writes the result of the
// first three to register n.
func (c *CPU) logical(w word, a, b uint64, set func(n, v uint64)) {
	v := [...]uint64{a & b, a | b, a ^ b, a & b}[w.field(29, 2)]
	if v = w.cut(v); w.field(29, 2) == 3 {
		c.setFlags(w.flagsOf(v))
		set = c.set
	}
	set(w.rd(), v)
}

func (c *CPU) logicalShifted(w word) {
	n := int(w.field(10, 6))
	if n >= w.width() {
		c.fail()
		return
	}
	b := w.shift(w.field(22, 2), c.X[w.rm()], n)
	if w.bit(21) {
		b = ^b
	}
	c.logical(w, c.X[w.rn()], b, c.set)
}

func (c *CPU) logicalImmediate(w word) {
	b, _, ok := w.bitMasks()
	if !ok || b == mask(w.width()) {
		c.fail()
		return
	}
	c.logical(w, c.X[w.rn()], b, c.setBase)
}

// bitMasks decodes the fields immr and imms, as DecodeBitMasks of Arm's pseudocode does: a run of
// bits that is repeated, for an immediate, and the bits of the lowest run, for a bit field.
func (w word) bitMasks() (run, top uint64, ok bool) {
	n, r, s := w.field(22, 1), int(w.field(16, 6)), int(w.field(10, 6))
	length := bits.Len64(n<<6|uint64(^s)&0x3f) - 1
	if length < 1 || n == 1 && !w.wide() {
		return 0, 0, false
	}
	size := 1 << length
	levels := size - 1
	difference := (s - r) & levels
	s, r = s&levels, r&levels
	element := mask(s + 1)
	element = (element>>r | element<<(size-r)) & mask(size)
	for at := 0; at < 64; at += size {
		run |= element << at
		top |= mask(difference+1) << at
	}
	return w.cut(run), w.cut(top), true
}

func (c *CPU) moveWide(w word) {
	shift := 16 * w.field(21, 2)
	v := w.field(5, 16) << shift
	switch {
	case int(shift) >= w.width():
		c.fail()
	case w.field(29, 2) == 0: // MOVN
		v = ^v
	case w.field(29, 2) == 1:
		c.fail()
	case w.field(29, 2) == 3: // MOVK
		v |= c.X[w.rd()] &^ (0xffff << shift)
	}
	c.set(w.rd(), w.cut(v))
}

// bitfield executes SBFM, BFM and UBFM.
func (c *CPU) bitfield(w word) {
	run, top, ok := w.bitMasks()
	r, s, kind := int(w.field(16, 6)), int(w.field(10, 6)), w.field(29, 2)
	if !ok || w.bit(22) != w.wide() || max(r, s) >= w.width() || kind == 3 {
		c.fail()
		return
	}
	from, old := w.cut(c.X[w.rn()]), uint64(0)
	bottom := w.shift(3, from, r) & run
	switch kind {
	case 0:
		old = -(from >> s & 1)
	case 1:
		old = c.X[w.rd()]
		bottom |= old &^ run
	}
	c.set(w.rd(), w.cut(old&^top|bottom&top))
}

// extract executes EXTR.
func (c *CPU) extract(w word) {
	n, width := int(w.field(10, 6)), w.width()
	if w.bit(22) != w.wide() || n >= width {
		c.fail()
		return
	}
	c.set(w.rd(), w.cut(w.cut(c.X[w.rm()])>>n|c.X[w.rn()]<<(width-n)))
}

// holds reports whether the condition of a conditional instruction is met.
func (c *CPU) holds(condition uint64) bool {
	n, z, v := c.Flags&negative != 0, c.Flags&zero != 0, c.Flags&overflow != 0
	has := c.Flags&carry != 0
	r := [...]bool{z, has, n, v, has && !z, n == v, n == v && !z, true}[condition>>1]
	return r != (condition&1 != 0 && condition != 15)
}

// conditionalCompare executes CCMP and CCMN.
func (c *CPU) conditionalCompare(w word) {
	flags := w.field(0, 4) * overflow
	if c.holds(w.field(12, 4)) {
		b, in := c.X[w.rm()], uint64(0)
		if w.bit(11) {
			b = w.rm()
		}
		if w.bit(30) {
			b, in = ^b, 1
		}
		_, flags = w.add(c.X[w.rn()], b, in)
	}
	c.setFlags(flags)
}

// conditionalSelect executes CSEL, CSINC, CSINV and CSNEG.
func (c *CPU) conditionalSelect(w word) {
	v := c.X[w.rn()]
	if !c.holds(w.field(12, 4)) {
		v = c.X[w.rm()]
		if w.bit(30) {
			v = ^v
		}
		if w.bit(10) {
			v++
		}
	}
	c.set(w.rd(), w.cut(v))
}

func (c *CPU) divide(w word) {
	a, b, v := w.cut(c.X[w.rn()]), w.cut(c.X[w.rm()]), uint64(0)
	switch {
	case b == 0:
	case !w.bit(10):
		v = a / b
	case extend(b, w.width()) == ^uint64(0): // the smallest number divided by -1 stays
		v = -a
	default:
		v = uint64(int64(extend(a, w.width())) / int64(extend(b, w.width())))
	}
	c.set(w.rd(), w.cut(v))
}

// checksum executes CRC32 and CRC32C. Unlike the functions of Go's package hash/crc32, these
// instructions do not invert the initial value.
func (c *CPU) checksum(w word) {
	size := 1 << w.field(10, 2)
	if w.wide() != (size == 8) {
		c.fail()
		return
	}
	table := crc32.IEEETable
	if w.bit(12) {
		table = crc32.MakeTable(crc32.Castagnoli) // makes it once
	}
	v := Vector{c.X[w.rm()]}
	c.set(w.rd(), uint64(^crc32.Update(^uint32(c.X[w.rn()]), table, bytesOf(v)[:size])))
}

// reverse executes RBIT, REV16, REV32 and REV.
func (c *CPU) reverse(w word) {
	v, low, r := w.cut(c.X[w.rn()]), uint64(0x00ff00ff00ff00ff), uint64(0)
	switch w.field(10, 2) {
	case 0:
		r = bits.Reverse64(v) >> (64 - w.width())
	case 1:
		r = v&low<<8 | v>>8&low
	case 2:
		r = uint64(bits.ReverseBytes32(uint32(v))) | uint64(bits.ReverseBytes32(uint32(v>>32)))<<32
	case 3:
		if r = bits.ReverseBytes64(v); !w.wide() {
			c.fail()
		}
	}
	c.set(w.rd(), r)
}

// countLeading executes CLZ and CLS.
func (c *CPU) countLeading(w word) {
	v, width := w.cut(c.X[w.rn()]), w.width()
	c.set(w.rd(), countLeading(v, width, w.bit(10)))
}

// countLeading returns the number of leading zeros, or of the bits after the sign that equal the
// sign.
func countLeading(v uint64, width int, signs bool) uint64 {
	if !signs {
		return uint64(bits.LeadingZeros64(v) - 64 + width)
	}
	v = extend(v, width)
	return uint64(bits.LeadingZeros64(v^uint64(int64(v)>>63)) - 1 - 64 + width)
}

// multiplyAdd executes MADD and MSUB.
func (c *CPU) multiplyAdd(w word) {
	product := c.X[w.rn()] * c.X[w.rm()]
	c.addProduct(w, product)
}

func (c *CPU) addProduct(w word, product uint64) {
	if w.bit(15) {
		product = -product
	}
	c.set(w.rd(), w.cut(c.X[w.ra()]+product))
}

// multiplyAddLong executes SMADDL, SMSUBL, UMADDL and UMSUBL.
func (c *CPU) multiplyAddLong(w word) {
	a, b := c.X[w.rn()], c.X[w.rm()]
	if w.bit(23) {
		c.addProduct(w, a&mask(32)*(b&mask(32)))
	} else {
		c.addProduct(w, extend(a, 32)*extend(b, 32))
	}
}

// multiplyHigh executes SMULH and UMULH.
func (c *CPU) multiplyHigh(w word) {
	a, b := c.X[w.rn()], c.X[w.rm()]
	high, _ := bits.Mul64(a, b)
	if !w.bit(23) {
		high -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	}
	c.set(w.rd(), high)
}
