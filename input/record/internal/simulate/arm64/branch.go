package arm64

// branchPatterns lists the encodings of branch instructions, with the methods that execute them.
var branchPatterns = []pattern{
	{text: ". 00101 ..........................", does: (*CPU).branch},
	{text: "01010100 ................... . ....", does: (*CPU).branchIf},
	{text: ". 011010 . ................... .....", does: (*CPU).compareBranch},
	{text: ". 011011 . ..... .............. .....", does: (*CPU).testBranch},
	{text: "1101011 0000 11111 000000 ..... 00000", does: (*CPU).branchRegister},   // BR
	{text: "1101011 0001 11111 000000 ..... 00000", does: (*CPU).branchRegister},   // BLR
	{text: "1101011 0010 11111 000000 ..... 00000", does: (*CPU).branchRegister},   // RET
	{text: "1101011 000 . 11111 00001 . ..... 11111", does: (*CPU).branchRegister}, // BRAAZ, BLRAAZ
	{text: "1101011 100 . 11111 00001 . ..... .....", does: (*CPU).branchRegister}, // BRAA, BLRAA
	{text: "1101011 0010 11111 00001 . 11111 11111", does: (*CPU).branchRegister},  // RETAA
}

// systemPatterns has the encodings of hints, barriers, and accesses to the system registers that
// are simulated.
var systemPatterns = []pattern{
	{text: "11010101000000110010 0000 000 11111", does: nothing},             // NOP
	{text: "11010101000000110010 0000 001 11111", does: nothing},             // YIELD
	{text: "11010101000000110010 0000 10 . 11111", does: nothing},            // SEV, SEVL
	{text: "11010101000000110010 0000 110 11111", does: nothing},             // DGH
	{text: "11010101000000110010 0000 111 11111", does: (*CPU).stripLink},    // XPACLRI
	{text: "11010101000000110010 0001 1 . 0 11111", does: (*CPU).strip17},    // AUTIA1716, AUTIB1716
	{text: "11010101000000110010 0001 0 . 0 11111", does: nothing},           // PACIA1716, PACIB1716
	{text: "11010101000000110010 0010 ... 11111", does: nothing},             // barriers
	{text: "11010101000000110010 0011 0 .. 11111", does: nothing},            // PACIAZ, PACIASP, PACIBZ, PACIBSP
	{text: "11010101000000110010 0011 1 .. 11111", does: (*CPU).stripLink},   // AUTIAZ, AUTIASP, AUTIBZ, AUTIBSP
	{text: "11010101000000110010 0100 .. 0 11111", does: nothing},            // BTI
	{text: "11010101000000110011 .... 010 11111", does: nothing},             // CLREX
	{text: "11010101000000110011 .... 1 .. 11111", does: nothing},            // DSB, DMB, ISB, SB
	{text: "110101010000 1011 0111 0101 001 .....", does: nothing},           // IC IVAU
	{text: "110101010000 1011 0111 1010 001 .....", does: nothing},           // DC CVAC
	{text: "110101010000 1011 0111 1011 001 .....", does: nothing},           // DC CVAU
	{text: "110101010000 1011 0111 1110 001 .....", does: nothing},           // DC CIVAC
	{text: "110101010000 1011 0111 0100 001 .....", does: (*CPU).clearBlock}, // DC ZVA
	{text: "110101010011 1011 1101 0000 010 .....", does: func(c *CPU, w word) { c.set(w.rd(), c.TLS) }},
	{text: "110101010011 1011 0100 0010 000 .....", does: func(c *CPU, w word) { c.set(w.rd(), c.Flags) }},
	{text: "110101010001 1011 0100 0010 000 .....", does: func(c *CPU, w word) { c.setFlags(c.X[w.rd()]) }},
	{text: "110101010011 1011 0100 0100 000 .....", does: func(c *CPU, w word) { c.set(w.rd(), c.Mode) }},
	{text: "110101010001 1011 0100 0100 000 .....", does: func(c *CPU, w word) { c.Mode = c.X[w.rd()] & mask(32) }},
	{text: "110101010001 1011 0100 0100 001 .....", does: nothing}, // MSR FPSR, which is never read
	{text: "110101010011 1011 0000 0000 111 .....", does: (*CPU).readZeroBlock},
}

func nothing(*CPU, word) {}

// link sets the register with the return address.
func (c *CPU) link() { c.X[linkRegister] = c.IP + instructionSize }

// branch executes B and BL.
func (c *CPU) branch(w word) {
	if w.bit(31) {
		c.link()
	}
	c.next = c.IP + w.signed(0, 26)*instructionSize
}

func (c *CPU) branchIf(w word) {
	if c.holds(w.field(0, 4)) {
		c.next = c.IP + w.signed(5, 19)*instructionSize
	}
}

// compareBranch executes CBZ and CBNZ.
func (c *CPU) compareBranch(w word) {
	if (w.cut(c.X[w.rd()]) != 0) == w.bit(24) {
		c.next = c.IP + w.signed(5, 19)*instructionSize
	}
}

// testBranch executes TBZ and TBNZ.
func (c *CPU) testBranch(w word) {
	n := w.field(31, 1)<<5 | w.field(19, 5)
	if (c.X[w.rd()]>>n&1 != 0) == w.bit(24) {
		c.next = c.IP + w.signed(5, 14)*instructionSize
	}
}

// branchRegister executes BR, BLR and RET, and their variants that check the signature of the
// address.
func (c *CPU) branchRegister(w word) {
	to, checks := c.X[w.rn()], w.bit(11)
	if checks && w.field(21, 2) == 2 { // RETAA
		to = c.X[linkRegister]
	}
	if checks {
		to = c.unsigned(to)
	}
	if w.bit(21) {
		c.link()
	}
	if tag := to >> 56; tag != 0 { // some systems ignore it
		c.fail()
	}
	c.next = to
}

// unsigned returns an address of code without its signature bits.
func (c *CPU) unsigned(address uint64) uint64 {
	const half = 1 << 55 // the bit that is set in addresses of the kernel
	if address&half != 0 {
		return address | c.Signature
	}
	return address &^ c.Signature
}

func (c *CPU) stripLink(word) { c.X[linkRegister] = c.unsigned(c.X[linkRegister]) }
func (c *CPU) strip17(word)   { c.X[17] = c.unsigned(c.X[17]) }

// sign executes the instructions that sign an address, which do nothing, and those that check or
// remove the signature of an address.
func (c *CPU) sign(w word) {
	if checks, removes := w.bit(12), w.bit(14); checks || removes {
		c.set(w.rd(), c.unsigned(c.X[w.rd()]))
	}
}

// readZeroBlock executes a read of the register DCZID_EL0.
func (c *CPU) readZeroBlock(w word) {
	if c.ZeroBlock == 0 {
		c.fail()
	}
	c.set(w.rd(), c.ZeroBlock)
}

// clearBlock executes DC ZVA.
func (c *CPU) clearBlock(w word) {
	const forbidden = 1 << 4
	if c.ZeroBlock == 0 || c.ZeroBlock&forbidden != 0 {
		c.fail()
		return
	}
	size := uint64(4) << (c.ZeroBlock & 15)
	for start, at := c.X[w.rd()]&^(size-1), uint64(0); at < size; at += 4 {
		c.store(start+at, 4, 0)
	}
}
