package arm64

import "math/bits"

// otherVectorPatterns has the encodings of vector instructions with a form of their own. The last
// patterns match all other vector instructions, which change one vector register and nothing else.
var otherVectorPatterns = []pattern{
	{text: "0 . 101110 00 0 ..... 0 .... 0 ..... .....", does: (*CPU).extractBytes},
	{text: "0 . 001110 00 0 ..... 0 .. . 00 ..... .....", does: (*CPU).lookUp},
	{text: "0 . 001110 .. 0 ..... 0 . 01 10 ..... .....", does: (*CPU).permute}, // UZP1, UZP2
	{text: "0 . 001110 .. 0 ..... 0 . 1. 10 ..... .....", does: (*CPU).permute}, // TRN1, TRN2, ZIP1, ZIP2
	{text: "0 . 0 01110000 ..... 0 0000 1 ..... .....", does: (*CPU).duplicateElement},
	{text: "0 1 0 11110000 ..... 0 0000 1 ..... .....", does: (*CPU).duplicateElement},
	{text: "0 . 0 01110000 ..... 0 0001 1 ..... .....", does: (*CPU).duplicate},
	{text: "0 1 0 01110000 ..... 0 0011 1 ..... .....", does: (*CPU).insert},
	{text: "0 1 1 01110000 ..... 0 .... 1 ..... .....", does: (*CPU).insertElement},
	{text: "0 . 0 01110000 ..... 0 01.1 1 ..... .....", does: (*CPU).moveElement},
	{text: "0 . . 01110000 ..... 0 .... 1 ..... .....", does: func(c *CPU, _ word) { c.fail() }},
	{text: "0 . . 0111 .........................", does: (*CPU).forget},
	{text: "0 1 . 1111 .........................", does: (*CPU).forget},
	{text: "11001110 ........................", does: (*CPU).forget}, // SHA-3, SHA-512, SM3, SM4
}

// longKinds has the opcode of threeDifferent for each opcode of byElement with the same operation.
var longKinds = [16]uint64{2: 8, 6: 10, 10: 12}

// byElement executes the instructions whose operands are all elements of one vector and a single
// element of another.
func (c *CPU) byElement(w word) {
	size, opcode := w.elementSize(), w.field(12, 4)
	m, index := w.rm(), int(w.field(11, 1)<<2|w.field(21, 1)<<1|w.field(20, 1))
	switch size {
	case 2:
		m &= 15
	case 4:
		index >>= 1
	case 8:
		index >>= 2
	}
	v, half := c.vector(m), w.field(30, 1)
	isInteger := (size == 2 || size == 4) && !w.isLowest()
	switch key := w.field(29, 1)<<4 | opcode; {
	case isInteger && longKinds[opcode] != 0:
		a := w.lengthened(Vector{c.vector(w.rn())[half]}, size)
		c.longOperation(w, longKinds[opcode], size, a, w.lengthened(duplicated(v.Get(size, index), size, 8), size))
	case isInteger && (key == 8 || key == 16 || key == 20): // MUL, MLA, MLS
		of := [...]lane{8: threeSameLanes[0][19], 16: threeSameLanes[0][18], 20: threeSameLanes[1][18]}[key]
		c.lanesWith(w, duplicated(v.Get(size, index), size, 16), size, of, key != 8)
	case size >= 4 && key&^12 == 1 && key != 13 && w.lanes(size) != 0 && (size == 4 || !w.bit(21)): // FMLA, FMLS, FMUL
		c.checkMode()
		c.lanesWith(w, duplicated(v.Get(size, index), size, 16), size, func(d, a, b uint64, _ int) uint64 {
			if key == 9 {
				return product(format(size), a, b)
			}
			return fusedWith(format(size), d, a, b, key == 5)
		}, key != 9)
	default:
		c.forget(w)
	}
}

// immediate expands the 8 bits of an immediate to 64, as AdvSIMDExpandImm of Arm's pseudocode does.
func (w word) immediate() uint64 {
	v, mode := w.field(16, 3)<<5|w.field(5, 5), w.field(12, 4)
	switch mode >> 1 {
	case 0, 1, 2, 3:
		return v << (8 * (mode >> 1)) * 0x1_0000_0001
	case 4, 5:
		return v << (8 * (mode >> 1 & 1)) * 0x1_0001_0001_0001
	case 6:
		by := 8 << (mode & 1)
		return (v<<by | mask(by)) * 0x1_0000_0001
	}
	switch mode&1<<1 | w.field(29, 1) {
	case 0:
		return v * 0x0101_0101_0101_0101
	case 2:
		return single.expanded(v) * 0x1_0000_0001
	case 3:
		return double.expanded(v)
	}
	var r Vector
	for i := range 8 {
		r.Put(1, i, all(v>>i&1 != 0))
	}
	return r[0]
}

// modifiedImmediate executes MOVI, MVNI, ORR, BIC and FMOV of vectors.
func (c *CPU) modifiedImmediate(w word) {
	v, mode, inverts := w.immediate(), w.field(12, 4), w.bit(29)
	if isDouble := mode == 15 && inverts; isDouble && !w.bit(30) {
		c.forget(w)
		return
	}
	combines := mode&1 != 0 && mode < 12
	if inverts && mode < 14 && !combines {
		v = ^v
	}
	r := Vector{v, v}
	if combines {
		d := c.vector(w.rd())
		for i := range r {
			if r[i] = d[i] | v; inverts {
				r[i] = d[i] &^ v
			}
		}
	}
	if w.vectorBytes() == 8 {
		r[1] = 0
	}
	c.setVector(w.rd(), r)
}

// shiftImmediate executes the shifts by a fixed number of bits.
func (c *CPU) shiftImmediate(w word) {
	high := bits.Len64(w.field(19, 4)) // of the bits that are set in immh
	if high == 0 {
		c.forget(w)
		return
	}
	size := 1 << (high - 1)
	code, opcode := int(w.field(16, 7)), w.field(11, 5)
	left, right := code-8*size, 16*size-code
	const insertRight, shiftLeft, narrow, narrowRound, long = 8, 10, 16, 17, 20
	switch {
	case opcode <= 6 && opcode&1 == 0 && c.shiftsLanes(w, size):
		c.shiftRight(w, size, right)
	case (opcode == insertRight && w.bit(29) || opcode == shiftLeft) && c.shiftsLanes(w, size):
		c.shiftInsert(w, size, left, right)
	case (opcode == narrow || opcode == narrowRound) && !w.bit(29) && size < 8 && !w.isLowest():
		v, half := c.vector(w.rn()), Vector{}
		for i := range 8 / size {
			e := v.Get(2*size, i)
			half.Put(size, i, e>>right+(e>>(right-1)&w.field(11, 1)))
		}
		c.setHalf(w, half[0])
	case opcode == long && size < 8 && !w.isLowest():
		c.lengthen(w, size, left)
	default:
		c.forget(w)
	}
}

// shiftsLanes reports whether a shift instruction with this encoding exists for elements of size
// bytes. A shift of only the lowest element exists for elements of 8 bytes.
func (c *CPU) shiftsLanes(w word, size int) bool {
	return w.lanes(size) != 0 && (size == 8 || !w.isLowest())
}

// shiftRight executes SSHR and USHR, which shift each element of size bytes to the right by by
// bits. It also executes their variants that round the result, or add it to the old content of the
// result register.
func (c *CPU) shiftRight(w word, size, by int) {
	v, r := c.vector(w.rn()), Vector{}
	rounds, adds := w.field(13, 1), w.bit(12)
	if adds {
		r = c.vector(w.rd())
	}
	for i := range w.lanes(size) {
		e := w.long(&v, size, i)
		shifted := e >> by
		if isSigned := !w.bit(29); isSigned {
			shifted = uint64(int64(e) >> by)
		}
		shifted += uint64(int64(e)>>(by-1)) & rounds
		r.Put(size, i, r.Get(size, i)+shifted)
	}
	c.setVector(w.rd(), w.lowLanes(r, size))
}

// lowLanes clears the upper half of a vector if the instruction uses vectors of 8 bytes.
func (w word) lowLanes(v Vector, size int) Vector {
	if w.lanes(size)*size == 8 {
		v[1] = 0
	}
	return v
}

// shiftInsert executes SHL, SLI and SRI: it shifts each element of size bytes by left or right
// bits. SLI and SRI keep those bits of the result register into which no bit is shifted; SHL clears
// them.
func (c *CPU) shiftInsert(w word, size, left, right int) {
	v, r := c.vector(w.rn()), Vector{}
	keeps, m := w.bit(29), mask(8*size)
	if keeps {
		r = c.vector(w.rd())
	}
	toLeft := w.bit(12)
	for i := range w.lanes(size) {
		e, changed := v.Get(size, i)>>right, m>>right
		if toLeft {
			e, changed = v.Get(size, i)<<left, m<<left&m
		}
		r.Put(size, i, r.Get(size, i)&^changed|e)
	}
	c.setVector(w.rd(), w.lowLanes(r, size))
}

// extractBytes executes EXT.
func (c *CPU) extractBytes(w word) {
	n, at := w.vectorBytes(), int(w.field(11, 4))
	if at >= n {
		c.forget(w)
		return
	}
	both := append(bytesOf(c.vector(w.rn()))[:n:n], bytesOf(c.vector(w.rm()))[:n]...)
	c.setVector(w.rd(), vectorOf(both[at:at+n]))
}

// vectorOf returns the vector with the given 8 or 16 bytes.
func vectorOf(b []byte) (v Vector) {
	for i, x := range b {
		v.Put(1, i, uint64(x))
	}
	return v
}

// lookUp executes TBL and TBX.
func (c *CPU) lookUp(w word) {
	var table []byte
	for i := range w.field(13, 2) + 1 {
		table = append(table, bytesOf(c.vector((w.rn()+i)%32))...)
	}
	index, r := bytesOf(c.vector(w.rm()))[:w.vectorBytes()], make([]byte, w.vectorBytes())
	if keeps := w.bit(12); keeps {
		copy(r, bytesOf(c.vector(w.rd())))
	}
	for i, x := range index {
		if int(x) < len(table) {
			r[i] = table[x]
		}
	}
	c.setVector(w.rd(), vectorOf(r))
}

// permute executes UZP1, TRN1, ZIP1 and their second forms.
func (c *CPU) permute(w word) {
	const unzip, transpose = 1, 2
	size, second := w.elementSize(), int(w.field(14, 1))
	n := w.lanes(size)
	if n == 0 {
		c.forget(w)
		return
	}
	both, r := [2]Vector{c.vector(w.rn()), c.vector(w.rm())}, Vector{}
	for i := range n {
		of, at := i&1, i/2+second*n/2 // ZIP
		switch w.field(12, 2) {
		case unzip:
			of, at = 2*i/n, 2*i%n+second
		case transpose:
			at = i&^1 + second
		}
		r.Put(size, i, both[of].Get(size, at))
	}
	c.setVector(w.rd(), r)
}

// position returns the size and the number of the element that the instruction's field imm5
// selects. The size is 0 if it selects none.
func (w word) position() (size, element int) {
	code := w.field(16, 5)
	if size = int(code & -code); size > 8 {
		return 0, 0
	}
	return size, int(code) / max(1, 2*size)
}

// duplicateElement executes DUP of an element.
func (c *CPU) duplicateElement(w word) {
	size, element := w.position()
	v := c.vector(w.rn())
	switch {
	case size == 0 || w.lanes(size) == 0:
		c.fail()
	case w.isLowest():
		c.setVector(w.rd(), Vector{v.Get(size, element)})
	default:
		c.setVector(w.rd(), duplicated(v.Get(size, element), size, w.vectorBytes()))
	}
}

// duplicate executes DUP of a general register.
func (c *CPU) duplicate(w word) {
	size, _ := w.position()
	if size == 0 || w.lanes(size) == 0 {
		c.fail()
		return
	}
	c.setVector(w.rd(), duplicated(c.X[w.rn()], size, w.vectorBytes()))
}

// insert executes INS of a general register.
func (c *CPU) insert(w word) { c.insertValue(w, c.X[w.rn()]) }

func (c *CPU) insertValue(w word, value uint64) {
	size, element := w.position()
	if size == 0 {
		c.fail()
		return
	}
	v := c.vector(w.rd())
	v.Put(size, element, value)
	c.setVector(w.rd(), v)
}

// insertElement executes INS of an element.
func (c *CPU) insertElement(w word) {
	size, _ := w.position()
	if size == 0 {
		c.fail()
		return
	}
	v := c.vector(w.rn())
	c.insertValue(w, v.Get(size, int(w.field(11, 4))/size))
}

// moveElement executes UMOV and SMOV.
func (c *CPU) moveElement(w word) {
	size, element := w.position()
	v, isSigned, isWide := c.vector(w.rn()), !w.bit(12), w.bit(30)
	switch {
	case size == 0, isSigned && size >= 4<<w.field(30, 1), !isSigned && isWide != (size == 8):
		c.fail()
	case isSigned && isWide:
		c.set(w.rd(), uint64(v.Signed(size, element)))
	case isSigned:
		c.set(w.rd(), uint64(v.Signed(size, element))&mask(32))
	default:
		c.set(w.rd(), v.Get(size, element))
	}
}
