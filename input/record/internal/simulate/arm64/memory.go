package arm64

// memoryPatterns lists the encodings of instructions that load or store registers, with the methods
// that execute them.
var memoryPatterns = []pattern{
	{text: ".. 111 . 01 .. ............ ..... .....", does: (*CPU).transfer},            // unsigned offset
	{text: ".. 111 . 00 .. 0 ......... 00 ..... .....", does: (*CPU).transfer},          // signed offset
	{text: ".. 111 0 00 .. 0 ......... 10 ..... .....", does: (*CPU).transferAsUser},    // LDTR, STTR
	{text: ".. 111 . 00 .. 0 ......... .1 ..... .....", does: (*CPU).transferAndIndex},  // writes the address back
	{text: ".. 111 . 00 .. 1 ..... .1. . 10 ..... .....", does: (*CPU).transfer},        // register offset
	{text: ".. 101 . 0 .. . ....... ..... ..... .....", does: (*CPU).transferPair},      // LDP, STP, LDPSW
	{text: ".. 011 . 00 ................... .....", does: (*CPU).loadLiteral},           // PC-relative
	{text: ".. 011001 .. 0 ......... 00 ..... .....", does: (*CPU).transfer},            // LDAPUR, STLUR
	{text: ".. 001000 0 . 0 ..... . ..... ..... .....", does: (*CPU).exclusive},         // LDXR, STXR
	{text: "1. 001000 0 . 1 ..... . ..... ..... .....", does: (*CPU).exclusivePair},     // LDXP, STXP
	{text: ".. 001000 1 . 0 ..... . ..... ..... .....", does: (*CPU).ordered},           // LDAR, STLR
	{text: ".. 001000 1 . 1 ..... . 11111 ..... .....", does: (*CPU).compareSwap},       // CAS
	{text: "0. 001000 0 . 1 ..... . 11111 ..... .....", does: (*CPU).compareSwapPair},   // CASP
	{text: ".. 111000 1 0 1 11111 1 100 00 ..... .....", does: (*CPU).ordered},          // LDAPR
	{text: ".. 111000 . . 1 ..... 0 ... 00 ..... .....", does: (*CPU).atomic},           // LDADD and its relatives
	{text: ".. 111000 . . 1 ..... 1 000 00 ..... .....", does: (*CPU).atomic},           // SWP
	{text: "11 111000 . . 1 ......... . 1 ..... .....", does: (*CPU).loadAuthenticated}, // LDRAA
}

// size returns the size in bytes of the register that an instruction loads or stores.
func (w word) size() int {
	if isVector := w.bit(26); isVector && w.bit(23) {
		return 16
	}
	return 1 << w.field(30, 2)
}

// These methods distinguish the addressing modes of loads and stores, by fields that memoryPatterns
// also have.
func (w word) isLiteral() bool    { return w.field(27, 3) == 3 && w.field(24, 2) == 0 }
func (w word) isPair() bool       { return w.field(27, 3) == 5 && !w.bit(25) }
func (w word) isSingle() bool     { return w.field(27, 3) == 7 && !w.bit(25) }
func (w word) isOrdered() bool    { return w.field(24, 6) == 0x19 && w.field(10, 2) == 0 && !w.bit(21) }
func (w word) hasImmediate() bool { return w.bit(24) }
func (w word) hasRegister() bool  { return w.bit(21) && w.field(10, 2) == 2 }
func (w word) hasSigned() bool    { return !w.bit(21) }
func (w word) usesMemory() bool   { return w.bit(27) && !w.bit(25) && !w.isPrefetch() }
func (w word) isPrefetch() bool {
	return w.isSingle() && w.field(22, 10)&^0x4 == 0x3e2 && !w.isAtomic()
}
func (w word) isAtomic() bool { return !w.bit(24) && w.bit(21) && w.field(10, 2) == 0 }
func (w word) indexesAfter() bool {
	return w.isSingle() && !w.hasImmediate() && w.hasSigned() && w.field(10, 2) == 1
}
func (w word) isPairAfter() bool { return w.isPair() && w.field(23, 2) == 1 }
func (w word) pairSize() int {
	if isVector := w.bit(26); isVector {
		return 4 << w.field(30, 2)
	}
	return 4 << w.field(31, 1)
}

// offset returns the number that is added to the base register to get the address that an
// instruction uses. Instructions with post-indexing use the base register as the address, and add
// the number to it afterwards.
func (c *CPU) offset(w word) uint64 {
	switch {
	case w.isPair():
		return w.signed(15, 7) * uint64(w.pairSize())
	case w.isOrdered():
		return w.signed(12, 9)
	case !w.isSingle():
		return 0
	case w.hasImmediate():
		return w.field(10, 12) * uint64(w.size())
	case w.hasRegister():
		by := w.extended(c.X[w.rm()])
		if w.bit(12) {
			by *= uint64(w.size())
		}
		return by
	case w.hasSigned():
		return w.signed(12, 9)
	}
	return 0
}

// address returns the address of the memory that an instruction uses.
func (c *CPU) address(w word) uint64 {
	switch {
	case w.isLiteral():
		return c.IP + w.signed(5, 19)*instructionSize
	case w.indexesAfter(), w.isPairAfter():
		return c.base(w.rn())
	}
	return c.base(w.rn()) + c.offset(w)
}

// transfer loads or stores one register.
func (c *CPU) transfer(w word) { c.transferAt(w, c.address(w)) }

func (c *CPU) transferAt(w word, address uint64) {
	if isVector := w.bit(26); isVector {
		c.transferVector(w, address)
		return
	}
	size, kind := w.size(), w.field(22, 2)
	switch {
	case kind == 0:
		c.store(address, size, c.X[w.rd()])
	case kind == 1:
		c.set(w.rd(), c.load(address, size))
	case kind == 2 && size == 8 && !w.isOrdered(): // PRFM
	case kind == 2 && size < 8:
		c.set(w.rd(), extend(c.load(address, size), 8*size))
	case kind == 3 && size < 4:
		c.set(w.rd(), extend(c.load(address, size), 8*size)&mask(32))
	default:
		c.fail()
	}
}

func (c *CPU) transferVector(w word, address uint64) {
	size := w.size()
	switch {
	case size == 16 && w.field(30, 2) != 0 || w.isOrdered():
		c.fail()
	case w.bit(22):
		c.setVector(w.rd(), c.loadVector(address, size))
	default:
		c.storeVector(address, size, c.vector(w.rd()))
	}
}

// transferAsUser executes LDTR and STTR, which have the same effect as LDR and STR in a program.
func (c *CPU) transferAsUser(w word) {
	if w.isPrefetch() {
		c.fail()
		return
	}
	c.transfer(w)
}

// transferAndIndex executes loads and stores that add the offset to the base register, before or
// after the transfer.
func (c *CPU) transferAndIndex(w word) {
	if w.isPrefetch() {
		c.fail()
		return
	}
	to := c.base(w.rn()) + c.offset(w)
	c.transfer(w)
	c.setBase(w.rn(), to)
}

// transferPair executes LDP, STP and LDPSW.
func (c *CPU) transferPair(w word) {
	const streams, after, before = 0, 1, 3 // kinds of addresses
	isVector, loads, kind := w.bit(26), w.bit(22), w.field(30, 2)
	signed := !isVector && kind == 1
	if kind == 3 || signed && (!loads || w.field(23, 2) == streams) {
		c.fail()
		return
	}
	address, size := c.address(w), w.pairSize()
	base, mode := c.base(w.rn())+c.offset(w), w.field(23, 2)
	for i, n := range [2]uint64{w.rd(), w.ra()} {
		at := address + uint64(i*size)
		switch {
		case isVector && loads:
			c.setVector(n, c.loadVector(at, size))
		case isVector:
			c.storeVector(at, size, c.vector(n))
		case signed:
			c.set(n, extend(c.load(at, size), 32))
		case loads:
			c.set(n, c.load(at, size))
		default:
			c.store(at, size, c.X[n])
		}
	}
	if mode == after || mode == before {
		c.setBase(w.rn(), base)
	}
}

func (c *CPU) loadLiteral(w word) {
	address, kind, isVector := c.address(w), w.field(30, 2), w.bit(26)
	switch {
	case isVector && kind == 3:
		c.fail()
	case isVector:
		c.setVector(w.rd(), c.loadVector(address, 4<<kind))
	case kind == 2:
		c.set(w.rd(), extend(c.load(address, 4), 32))
	case kind < 2:
		c.set(w.rd(), c.load(address, 4<<kind))
	}
}

// exclusive executes LDXR and STXR. The store always succeeds.
func (c *CPU) exclusive(w word) {
	address, size := c.base(w.rn()), w.size()
	if w.bit(22) {
		c.set(w.rd(), c.load(address, size))
		return
	}
	c.store(address, size, c.X[w.rd()])
	c.set(w.rm(), 0)
}

func (c *CPU) exclusivePair(w word) {
	address, size := c.base(w.rn()), w.size()
	if w.bit(22) {
		c.set(w.rd(), c.load(address, size))
		c.set(w.ra(), c.load(address+uint64(size), size))
		return
	}
	c.store(address, size, c.X[w.rd()])
	c.store(address+uint64(size), size, c.X[w.ra()])
	c.set(w.rm(), 0)
}

// ordered executes LDAR, STLR and LDAPR.
func (c *CPU) ordered(w word) {
	address, size := c.base(w.rn()), w.size()
	if w.bit(22) || w.field(27, 3) == 7 {
		c.set(w.rd(), c.load(address, size))
	} else {
		c.store(address, size, c.X[w.rd()])
	}
}

// compareSwap executes CAS.
func (c *CPU) compareSwap(w word) {
	address, size := c.base(w.rn()), w.size()
	old := c.load(address, size)
	if old == c.X[w.rm()]&mask(8*size) {
		c.store(address, size, c.X[w.rd()])
	}
	c.set(w.rm(), old)
}

// compareSwapPair executes CASP.
func (c *CPU) compareSwapPair(w word) {
	if w.rm()&1 != 0 || w.rd()&1 != 0 {
		c.fail()
		return
	}
	size := 4 << w.field(30, 1)
	low := c.base(w.rn())
	high := low + uint64(size)
	a, b, m := c.load(low, size), c.load(high, size), mask(8*size)
	if a == c.X[w.rm()]&m && b == c.X[w.rm()+1]&m {
		c.store(low, size, c.X[w.rd()])
		c.store(high, size, c.X[w.rd()+1])
	}
	c.set(w.rm(), a)
	c.set(w.rm()+1, b)
}

// atomic executes SWP, LDADD, and the other instructions that load a number, combine it with a
// register and store the result.
func (c *CPU) atomic(w word) {
	address, size := c.base(w.rn()), w.size()
	old, by := c.load(address, size), c.X[w.rm()]&mask(8*size)
	a, b := int64(extend(old, 8*size)), int64(extend(by, 8*size))
	v := by
	if swaps := w.bit(15); !swaps {
		v = [...]uint64{
			old + by, old &^ by, old ^ by, old | by, uint64(max(a, b)), uint64(min(a, b)), max(old, by), min(old, by),
		}[w.field(12, 3)]
	}
	c.store(address, size, v)
	c.set(w.rd(), old)
}

// loadAuthenticated executes LDRAA and LDRAB.
func (c *CPU) loadAuthenticated(w word) {
	address := c.unsigned(c.base(w.rn())) + extend(w.field(22, 1)<<9|w.field(12, 9), 10)*8
	c.set(w.rd(), c.load(address, 8))
	if w.bit(11) {
		c.setBase(w.rn(), address)
	}
}
