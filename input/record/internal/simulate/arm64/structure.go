package arm64

// structurePatterns lists the encodings of loads and stores of vectors whose elements are
// interleaved in memory, with the methods that execute them.
var structurePatterns = []pattern{
	{text: "0 . 0011000 . 000000 .... .. ..... .....", does: (*CPU).transferMultiple},
	{text: "0 . 0011001 . 0 ..... .... .. ..... .....", does: (*CPU).transferMultiple},
	{text: "0 . 0011010 . . 00000 ... . .. ..... .....", does: (*CPU).transferElement},
	{text: "0 . 0011011 . . ..... ... . .. ..... .....", does: (*CPU).transferElement},
}

// multiples has, for each opcode of LD1 to LD4, the number of groups of registers, and the number
// of registers in a group. The elements of these registers alternate in memory.
var multiples = [16]struct{ groups, registers int }{
	0: {1, 4}, 2: {4, 1}, 4: {1, 3}, 6: {3, 1}, 7: {1, 1}, 8: {1, 2}, 10: {2, 1},
}

// vectorBytes returns the size in bytes of the vectors that an instruction uses, 8 or 16.
func (w word) vectorBytes() int { return 8 << w.field(30, 1) }

// transferMultiple executes LD1 to LD4 and ST1 to ST4 of whole registers.
func (c *CPU) transferMultiple(w word) {
	m, size, loads := multiples[w.field(12, 4)], 1<<w.field(10, 2), w.bit(22)
	if m.groups == 0 || size == 8 && !w.bit(30) && m.registers > 1 {
		c.fail()
		return
	}
	registers := make([]Vector, m.groups*m.registers)
	for i := range registers {
		if !loads {
			registers[i] = c.vector(w.after(i))
		}
	}
	at := c.base(w.rn())
	for group := range m.groups {
		for element := range w.vectorBytes() / size {
			for n := range m.registers {
				c.transferPart(&registers[group+n], at, size, element, loads)
				at += uint64(size)
			}
		}
	}
	for i, v := range registers {
		if loads {
			c.setVector(w.after(i), v)
		}
	}
	c.indexAfter(w, len(registers)*w.vectorBytes())
}

// after returns the number of the nth vector register after the first register of an instruction
// that loads or stores several. Register 0 follows register 31.
func (w word) after(n int) uint64 { return (w.rd() + uint64(n)) % 32 }

// transferPart loads or stores one element of a vector. size is the size of the elements in bytes
// and element the number of the element. loads is set for a load.
func (c *CPU) transferPart(v *Vector, address uint64, size, element int, loads bool) {
	if loads {
		v.Put(size, element, c.load(address, size))
	} else {
		c.store(address, size, v.Get(size, element))
	}
}

// indexAfter executes the post-indexing of a load or store: it adds the number of bytes
// transferred, or the content of a register, to the base register.
func (c *CPU) indexAfter(w word, size int) {
	if !w.bit(23) {
		return
	}
	by := uint64(size)
	if w.rm() != zeroOrStack {
		by = c.X[w.rm()]
	}
	c.setBase(w.rn(), c.base(w.rn())+by)
}

// element returns the size in bytes and the number of the vector element that a load or store of
// one element transfers. It returns a size of 0 if the encoding is not a valid instruction.
func (w word) element() (size, element int) {
	index := int(w.field(30, 1)<<3 | w.field(12, 1)<<2 | w.field(10, 2))
	switch low := w.field(10, 2); w.field(14, 2) {
	case 0:
		return 1, index
	case 1:
		if low&1 == 0 {
			return 2, index >> 1
		}
	case 2:
		if low == 0 {
			return 4, index >> 2
		}
		if low == 1 && !w.bit(12) {
			return 8, index >> 3
		}
	case 3: // to all elements
		if w.bit(22) && !w.bit(12) {
			return 1 << low, -1
		}
	}
	return 0, 0
}

// transferElement executes LD1 to LD4 and ST1 to ST4 of one element of each register, and LD1R to
// LD4R.
func (c *CPU) transferElement(w word) {
	size, element := w.element()
	if size == 0 {
		c.fail()
		return
	}
	registers, at := int(w.field(13, 1)*2+w.field(21, 1)+1), c.base(w.rn())
	for i := range registers {
		n := w.after(i)
		switch {
		case element < 0:
			c.setVector(n, duplicated(c.load(at, size), size, w.vectorBytes()))
		case w.bit(22):
			v := c.vector(n)
			v.Put(size, element, c.load(at, size))
			c.setVector(n, v)
		default:
			v := c.vector(n)
			c.store(at, size, v.Get(size, element))
		}
		at += uint64(size)
	}
	c.indexAfter(w, registers*size)
}

// duplicated returns a vector with the same value in all elements.
func duplicated(value uint64, size, vectorBytes int) (v Vector) {
	for i := range vectorBytes / size {
		v.Put(size, i, value)
	}
	return v
}
