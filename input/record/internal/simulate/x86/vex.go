package x86

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// A wide is the prefix of an AVX or BMI instruction: VEX, or EVEX of AVX-512.
//
// Most AVX instructions correspond to an SSE instruction. They have one more operand, and registers
// of several times 128 bits. So decodeWide replaces the prefix by the prefixes of the SSE
// instruction, which is then executed for each 128 bits. Vectors of 512 bits, masks and rare
// instructions are not simulated. The simulation marks the result of such an instruction as
// unknown, and continues until a branch or an address depends on an unknown result.
type wide struct {
	space   int  // opcode map
	prefix  byte // prefix of the SSE instruction: 0, 0x66, 0xf3 or 0xf2
	opcode  byte
	w       bool // the bit W, such as for elements of 64 bits
	isEVEX  bool
	masked  bool // it has a mask or a broadcast
	lanes   int  // number of Vectors in a register
	first   int  // number of the register of the additional operand
	reg, rm int  // registers of the other operands

	isStore bool // the first operand is rm
	narrows bool // the result has half the size of the operands
	stride  int  // bytes of the last operand that each Vector uses
	writes  int  // vector register that gets the result, -1 if none does
	source  int  // vector register of operand 0 as a source

	hasShortDisplacement bool // of one byte
}

// decodeWide decodes an instruction with a VEX or EVEX prefix. It returns false if there is none.
func decodeWide(to *Instruction, code []byte) bool {
	start := 0
	for start < len(code) && slices.Contains([]byte{0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67}, code[start]) {
		start++
	}
	w, older, rest := parsePrefix(code[start:])
	if w == nil {
		return false
	}
	older = append(slices.Clone(code[:start]), older...)
	to.wide = w
	w.setOperands(rest)
	if own, ok := ownOperations[w.key()]; ok && own.fits(w) {
		to.in = own.decode(w, older, rest)
		to.does = own.does
	} else if w.hasOlder() {
		escape := [4][]byte{2: {0x38}, 3: {0x3a}}[w.space]
		in, err := x86asm.Decode(slices.Concat(older, escape, []byte{w.opcode}, rest), 64)
		if err == nil {
			to.in, to.does = in, w.adapt(&in)
		}
	}
	to.in.Mode = 64
	if to.does == nil {
		w.setOperands(rest)
		to.in, to.does = surrogate(older, rest, 0xf3, 0x0f, 0x6f), (*CPU).forgetWide // vmovdqu
	} else if w.isEVEX {
		w.scaleDisplacement(&to.in)
	}
	return true
}

// parsePrefix parses a VEX or EVEX prefix and the opcode. It returns as older the prefixes that the
// corresponding SSE instruction has, up to the byte 0f, and as rest the bytes after the opcode.
func parsePrefix(code []byte) (w *wide, older, rest []byte) {
	const payload = 6 // the longest prefix, an opcode and operands
	var b [payload + 1]byte
	copy(b[:], code)
	w = &wide{lanes: 1}
	var rxb, wvvvv byte
	switch {
	case b[0] == 0xc5 && len(code) == 3 && b[2] == 0x77: // vzeroupper, vzeroall
		w.space, rxb, wvvvv, w.opcode, rest = 1, 7, b[1]&0x7f, b[2], []byte{0xc0}
	case b[0] == 0xc5 && len(code) > 3:
		w.space, rxb, wvvvv, w.opcode, rest = 1, b[1]>>5&4|3, b[1]&0x7f, b[2], code[3:]
	case b[0] == 0xc4 && len(code) > 4:
		w.space, rxb, wvvvv, w.opcode, rest = int(b[1]&0x1f), b[1]>>5, b[2], b[3], code[4:]
	case b[0] == 0x62 && len(code) > 5:
		w.space, rxb, wvvvv, w.opcode, rest = int(b[1]&7), b[1]>>5, b[2]&^4, b[4], code[5:]
		w.isEVEX = true
		w.masked = b[3]&0x97 != 0
		w.lanes = 1 << (b[3] >> 5 & 3)
		w.first = int(^b[3]&8) << 1
		w.reg = int(^b[1] & 0x10)
	default:
		return nil, nil, nil
	}
	if !w.isEVEX && wvvvv&4 != 0 {
		w.lanes = 2
	}
	rxb = ^rxb & 7 // they are stored inverted
	w.first |= int(^wvvvv >> 3 & 15)
	w.w = wvvvv&0x80 != 0
	w.prefix = [4]byte{0, 0x66, 0xf3, 0xf2}[wvvvv&3]
	w.reg |= int(rxb&4)<<1 | int(rest[0]>>3&7)
	w.rm = int(rxb&1)<<3 | int(rest[0]&7)
	if w.isEVEX && rest[0] >= 0xc0 {
		w.rm |= int(rxb&2) << 3
	}
	if w.prefix != 0 {
		older = append(older, w.prefix)
	}
	rex := 0x40 | rxb
	if w.w {
		rex |= 8
	}
	return w, append(older, rex, 0x0f), rest
}

// key returns a number that identifies an instruction: its opcode map, prefix and opcode.
func (w *wide) key() uint32 {
	return uint32(w.space)<<16 | uint32(w.prefix)<<8 | uint32(w.opcode)
}

// storing lists, for each of the opcode maps 1 to 3, the opcodes whose result is the operand rm
// instead of reg, as for stores.
var storing = [4]string{1: "\x11\x13\x17\x29\x2b\x7e\x7f\xd6\xe7", 3: "\x14\x15\x16\x17\x19\x1b\x1d\x39\x3b"}

// setOperands sets which registers an instruction reads and writes.
func (w *wide) setOperands(rest []byte) {
	inMemory := rest[0] < 0xc0
	w.hasShortDisplacement = rest[0]>>6 == 1
	w.isStore = w.space < len(storing) && containsByte(storing[w.space], w.opcode)
	if w.space == 1 && w.opcode == 0x7e && w.prefix == 0xf3 {
		w.isStore = false
	}
	w.stride, w.writes, w.source = 16, w.reg, w.first
	switch {
	case w.isStore:
		if w.writes = w.rm; inMemory {
			w.writes = -1
		}
	case w.space == 1 && w.opcode >= 0x71 && w.opcode <= 0x73: // shifts by a number
		w.writes, w.source = w.first, w.rm
	}
}

func containsByte(list string, b byte) bool { return slices.Contains([]byte(list), b) }

// hasOlder reports whether the SSE instruction with the same opcode has the same effect as this AVX
// instruction.
func (w *wide) hasOlder() bool {
	if w.lanes > lanes128 || w.masked {
		return false
	}
	switch {
	case w.space == 1 && w.isEVEX:
		isOther := w.w && w.prefix != 0xf2 && containsByte("\x5b", w.opcode) || w.w && w.prefix == 0xf3 && w.opcode == 0xe6 ||
			w.w && containsByte("\x72\xe2", w.opcode)
		return !isOther && !containsByte("\x64\x65\x66\x74\x75\x76\x78\x79\x7a\x7b\xc2", w.opcode)
	case w.space == 1:
		return !(w.opcode >= 0x41 && w.opcode <= 0x4b || w.opcode >= 0x90 && w.opcode <= 0x99)
	case w.space == 2 && w.isEVEX:
		return w.prefix == 0x66 && containsByte("\x00\x04\x0b\x1c\x1d\x1e\x20\x21\x22\x23\x24\x25\x28\x2b\x30\x31\x32\x33\x34\x35\x38\x39\x3a\x3b\x3c\x3d\x3e\x3f\x40\xdc\xdd\xde\xdf", w.opcode) && !(w.w && w.opcode == 0x40)
	case w.space == 2:
		return w.opcode < 0x10 || w.opcode == 0x17 || w.opcode >= 0x1c && w.opcode <= 0x2b || w.opcode >= 0x30 && w.opcode <= 0x41 || w.opcode >= 0xdb && w.opcode <= 0xdf
	case w.space == 3 && w.isEVEX:
		return w.prefix == 0x66 && containsByte("\x0f\x14\x15\x16\x17\x20\x21\x22", w.opcode)
	}
	return w.space == 3 && !containsByte("\x00\x01\x02\x04\x05\x06\x18\x19\x1d\x38\x39\x46\x4a\x4b\x4c\x60\x61\x62\x63\xf0", w.opcode)
}

// strides has the number of bytes that each Vector of a result takes from the last operand, for
// instructions that take fewer than 16.
var strides = map[x86asm.Op]int{
	x86asm.CVTPS2PD: 8, x86asm.CVTDQ2PD: 8,
	x86asm.PMOVZXBW: 8, x86asm.PMOVZXWD: 8, x86asm.PMOVZXDQ: 8, x86asm.PMOVZXBD: 4, x86asm.PMOVZXWQ: 4, x86asm.PMOVZXBQ: 2,
	x86asm.PMOVSXBW: 8, x86asm.PMOVSXWD: 8, x86asm.PMOVSXDQ: 8, x86asm.PMOVSXBD: 4, x86asm.PMOVSXWQ: 4, x86asm.PMOVSXBQ: 2,
}

// adapt prepares an AVX instruction to be executed as the SSE instruction in, which corresponds to
// it. It returns the operation of the SSE instruction, or nil if that is not simulated.
func (w *wide) adapt(in *x86asm.Inst) func(*CPU) {
	if int(in.Op) >= len(operations) || operations[in.Op] == nil {
		return nil
	}
	if s := strides[in.Op]; s != 0 {
		w.stride = s
	}
	switch in.Op {
	case x86asm.PSLLW, x86asm.PSLLD, x86asm.PSLLQ, x86asm.PSRLW, x86asm.PSRLD, x86asm.PSRLQ, x86asm.PSRAW, x86asm.PSRAD:
		if in.Args[1] != nil && xmm(in.Args[1]) >= 0 || in.MemBytes > 0 {
			w.stride = 0 // one number for all
		}
	case x86asm.CVTPD2PS, x86asm.CVTPD2DQ, x86asm.CVTTPD2DQ:
		w.narrows = true
	case x86asm.ADDSS, x86asm.ADDSD, x86asm.SUBSS, x86asm.SUBSD, x86asm.MULSS, x86asm.MULSD, x86asm.DIVSS, x86asm.DIVSD,
		x86asm.SQRTSS, x86asm.SQRTSD, x86asm.MINSS, x86asm.MINSD, x86asm.MAXSS, x86asm.MAXSD, x86asm.CMPSS, x86asm.CMPSD_XMM,
		x86asm.CVTSS2SD, x86asm.CVTSD2SS, x86asm.CVTSI2SD, x86asm.CVTSI2SS, x86asm.CVTSD2SI, x86asm.CVTSS2SI, x86asm.CVTTSD2SI, x86asm.CVTTSS2SI,
		x86asm.ROUNDSS, x86asm.ROUNDSD, x86asm.RCPSS, x86asm.RSQRTSS, x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVD, x86asm.MOVQ:
		w.lanes = 1 // the length is ignored
	case x86asm.COMISS, x86asm.COMISD, x86asm.UCOMISS, x86asm.UCOMISD:
		w.lanes, w.source, w.writes = 1, w.reg, -1
	case x86asm.PTEST:
		w.source, w.writes = w.reg, -1
	}
	if xmm(in.Args[0]) < 0 { // memory or a general register
		w.writes = -1
	}
	if in.Op == x86asm.CMPPD || in.Op == x86asm.CMPPS || in.Op == x86asm.CMPSD_XMM || in.Op == x86asm.CMPSS {
		if n, ok := in.Args[2].(x86asm.Imm); ok && n&^7 != 0 { // more predicates
			return nil
		}
	}
	return operations[in.Op]
}

// scaleDisplacement multiplies a displacement of one byte by the size of the instruction's operand
// in memory. Instructions with an EVEX prefix encode displacements in this unit.
func (w *wide) scaleDisplacement(in *x86asm.Inst) {
	if !w.hasShortDisplacement {
		return
	}
	unit := in.MemBytes
	switch {
	case unit == 16 && w.stride == 16:
		unit *= w.lanes
	case w.stride > 0 && w.stride < 16 && unit == w.stride && w.lanes > 1:
		unit *= w.lanes
	}
	for i, a := range in.Args {
		if m, ok := a.(x86asm.Mem); ok {
			m.Disp = int64(int8(m.Disp)) * int64(unit)
			in.Args[i] = m
		}
	}
}

// register returns the value of a source operand in a register, for the 128 bits that are being
// computed. i is the number of the operand.
func (w *wide) register(c *CPU, i int) Vector {
	n := w.source
	if i > 0 {
		if n = w.rm; w.isStore {
			n = w.reg
		}
	}
	c.uses(n)
	if i == 0 || w.stride == 16 {
		return c.X[n][c.lane]
	}
	low, high := bytesOf(c.X[n][0]), bytesOf(c.X[n][1])
	var part [16]byte
	copy(part[:], append(low[:], high[:]...)[c.lane*w.stride:])
	return vectorOf(part)
}

// offset returns the distance in bytes from the beginning of an operand in memory to the bytes that
// belong to a lane, which is the number of a Vector in the result.
func (w *wide) offset(lane int) uint64 { return uint64(lane * w.stride) }

// execute executes the operation f of the corresponding SSE instruction once for each Vector of the
// registers.
func (w *wide) execute(c *CPU, f func(*CPU)) {
	c.wide, c.sum, c.result = w, 0, [lanes128]Vector{}
	for c.lane = range min(w.lanes, lanes128) {
		f(c)
	}
	c.wide, c.lane = nil, 0
	if c.failed || w.writes < 0 {
		return
	}
	if w.narrows {
		c.result = [lanes128]Vector{{c.result[0][0], c.result[1][0]}}
	}
	c.X[w.writes] = c.result
	c.know(w.writes)
}

// forget marks the vector register that an instruction changes as unknown.
func (c *CPU) forget() {
	c.tainted = true
	c.know(xmm(c.in.Args[0]))
}

// surrogate decodes an instruction that the decoder does not know. It replaces the opcode by
// instead, an opcode with operands of the same form. The last byte of the instruction becomes the
// third operand.
func surrogate(older, rest []byte, instead ...byte) x86asm.Inst {
	var code []byte
	if instead[0] == 0xf3 {
		code, instead = append(code, 0xf3), instead[1:]
	}
	for _, b := range older[:len(older)-1] {
		if b != 0x66 && b != 0xf2 && b != 0xf3 {
			code = append(code, b)
		}
	}
	in, err := x86asm.Decode(slices.Concat(code, instead, rest), 64)
	if err != nil {
		return x86asm.Inst{}
	}
	in.Args[2] = x86asm.Imm(rest[len(rest)-1])
	return in
}

// notVectors has the opcodes, by opcode map, that do not write to one vector register, but to a
// general register, to flags or to several places in memory.
var notVectors = [4]string{
	1: "\x2c\x2d\x2e\x2f\x50\x7e\x93\x98\x99\xae\xc5\xd7\xf7",
	2: "\x0e\x0f\x17\x2e\x2f\x63\x8a\x8e\xa0\xa1\xa2\xa3\xf2\xf3\xf5\xf6\xf7",
	3: "\x14\x15\x16\x17\x60\x61\x62\x63\xf0",
}

// Opcodes of AVX-512 that write to a mask register: maskMoves with a VEX prefix, maskCompares with
// an EVEX prefix.
var (
	maskMoves    = [4]string{1: "\x41\x42\x44\x45\x46\x47\x4a\x4b\x90\x92", 3: "\x30\x31\x32\x33"}
	maskCompares = [4]string{1: "\x64\x65\x66\x74\x75\x76\xc2", 2: "\x26\x27\x29\x37\x39", 3: "\x1e\x1f\x3e\x3f\x66\x67"}
)

// setsMask reports whether the result of an instruction is a mask. Masks are not simulated, so such
// an instruction is skipped.
func (w *wide) setsMask() bool {
	if !w.isEVEX {
		return containsByte(maskMoves[w.space], w.opcode)
	}
	isVector := w.space == 2 && w.prefix == 0x66 && w.opcode == 0x39 // vpminsd; with the prefix f3, it is vpmovd2m
	return containsByte(maskCompares[w.space], w.opcode) && !isVector
}

// forgetWide handles an instruction that is not simulated: it marks the result as unknown. It fails
// if the result is a general register or flags, on which the next branch may depend.
func (c *CPU) forgetWide() {
	w := c.wide
	if w.space < 1 || w.space > 3 {
		c.fail()
		return
	}
	isScalar := w.space == 1 && (w.prefix == 0xf3 || w.prefix == 0xf2) // may convert to a general register
	narrows := w.isEVEX && w.space == 2 && w.prefix == 0xf3 && w.opcode < 0x36
	c.tainted = true
	switch m, inMemory := c.in.Args[1].(x86asm.Mem); {
	case w.setsMask():
		w.writes = -1
	case containsByte(notVectors[w.space], w.opcode), isScalar && (w.opcode == 0x78 || w.opcode == 0x79):
		c.fail()
	case narrows:
		if w.writes = w.rm; inMemory {
			c.fail()
		}
	case w.isStore && inMemory:
		if w.isEVEX {
			m.Disp *= w.unit(isScalar)
		}
		c.Memory.SetUnknown(c.address(m), 16*w.lanes, true)
	}
}

// unit returns the factor by which the displacement of a store has to be multiplied, because EVEX
// prefixes scale displacements of one byte. isScalar is set if the instruction stores one number.
func (w *wide) unit(isScalar bool) int64 {
	switch {
	case !w.hasShortDisplacement:
		return 1
	case isScalar && w.prefix == 0xf2:
		return 8
	case isScalar:
		return 4
	}
	return int64(16 * w.lanes)
}
