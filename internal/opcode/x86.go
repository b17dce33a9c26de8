package opcode

import "encoding/binary"

// The length of an x86 instruction depends on its opcode, on the prefixes and on the byte after the
// opcode. The maps below have a letter for each opcode. The letter says what follows the opcode:
//
//	.  nothing             ?  unknown: there is no such instruction
//	m  operands            B Z d  operands, then a number of 8, 16 or 32, 32 bits
//	b w e  8, 16, 24 bits  z  16 or 32 bits
//	v  as z, or 64 bits    o  an address
//	r  as z, but always 32 bits in 64-bit mode
//	f  as z, and 16 bits   t T  operands, then for a test a number as in b, z
//	c  registers           p  this is a prefix
//
// They are the opcode maps of Intel's Software Developer's Manual, volume 2, appendix A, with the
// instructions of AMD and VIA where Intel has none.
const (
	x86Map0 = "mmmmbz.." + "mmmmbz.." +
		"mmmmbz.." + "mmmmbz.." +
		"mmmmbzp." + "mmmmbzp." +
		"mmmmbzp." + "mmmmbzp." +
		"........" + "........" +
		"........" + "........" +
		"..mmpppp" + "zZbB...." +
		"bbbbbbbb" + "bbbbbbbb" +
		"BZBBmmmm" + "mmmmmmmm" +
		"........" + "..f....." +
		"oooo...." + "bz......" +
		"bbbbbbbb" + "vvvvvvvv" +
		"BBw.mmBZ" + "e.w..b.." +
		"mmmmbb.." + "mmmmmmmm" +
		"bbbbbbbb" + "rrfb...." +
		"p.pp..tT" + "......mm"
	x86Map1 = "mmmm?..." + "..?.?m.B" +
		"mmmmmmmm" + "mmmmmmmm" +
		"ccccc?c?" + "mmmmmmmm" +
		"......?." + "????????" +
		"mmmmmmmm" + "mmmmmmmm" +
		"mmmmmmmm" + "mmmmmmmm" +
		"mmmmmmmm" + "mmmmmmmm" +
		"BBBBmmm." + "mm??mmmm" +
		"rrrrrrrr" + "rrrrrrrr" +
		"mmmmmmmm" + "mmmmmmmm" +
		"...mBmmm" + "...mBmmm" +
		"mmmmmmmm" + "mmBmmmmm" +
		"mmBmBBBm" + "........" +
		"mmmmmmmm" + "mmmmmmmm" +
		"mmmmmmmm" + "mmmmmmmm" +
		"mmmmmmmm" + "mmmmmmmm"
)

// notLong lists the opcodes of the first opcode map that are invalid in 64-bit mode.
const notLong = "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x82\x9a\xce\xd4\xd6\xea"

// longestX86 is the maximum length of an x86 instruction in bytes.
const longestX86 = 15

// An x86 is the state of decoding one x86 instruction.
type x86 struct {
	code    [2 * longestX86]byte // zeros follow the instruction, so that each part can be read unchecked
	at      int                  // offset of the next byte to read
	long    bool                 // 64-bit mode
	data16  bool                 // prefix 66
	address bool                 // prefix 67
	repne   bool                 // prefix f2
	repe    bool                 // prefix f3, also called rep
	wide    bool                 // operands have 64 bits

	space  int  // number of the opcode map
	opcode byte // index in the opcode map
	coded  bool // the opcode follows a VEX, EVEX or XOP prefix
	modrm  byte // byte that describes the operands
}

// X86 decodes an x86 instruction. mode is 32 or 64, the number of bits of an address. Package
// golang.org/x/arch/x86/x86asm is not used because it returns wrong lengths for endbr64, adcx and
// many instructions with a VEX or EVEX prefix.
func X86(code []byte, mode int) Instruction {
	x := x86{long: mode == 64}
	room := copy(x.code[:longestX86], code)
	x.prefixes()
	shape := x.begin()
	if shape == '?' {
		return Instruction{}
	}
	if shape != 'c' {
		x.operands(shape)
	} else {
		x.at++
	}
	number := x.number(shape)
	if x.at += number; x.at > room {
		return Instruction{}
	}
	i := x.controlFlow()
	i.Size = uint64(x.at)
	if (i.Jumps || i.Calls) && shape != 'f' && number > 0 {
		i.By = signed(x.code[x.at-number : x.at])
	}
	return i
}

// signed decodes a signed little-endian number of one, two or four bytes.
func signed(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	default:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
}

// take returns the next byte of the x86 instruction that is being decoded.
func (x *x86) take() byte {
	b := x.code[x.at]
	x.at++
	return b
}

// prefixes reads the prefixes of the instruction. A REX prefix has an effect only if it is the last
// one.
func (x *x86) prefixes() {
	for x.at < longestX86 {
		b := x.code[x.at]
		switch {
		case x.long && b&0xf0 == 0x40:
			x.wide = b&8 != 0
		case x86Map0[b] != 'p':
			return
		default:
			x.wide = false
			x.data16 = x.data16 || b == 0x66
			x.address = x.address || b == 0x67
			x.repne = x.repne || b == 0xf2
			x.repe = x.repe || b == 0xf3
		}
		x.at++
	}
}

// begin reads the opcode. It returns the letter that the opcode maps have for the opcode, which
// says what follows it.
func (x *x86) begin() byte {
	b := x.take()
	next := x.code[x.at]
	switch isCoded := x.long || next >= 0xc0; {
	case b == 0x0f:
		return x.escaped(x.take())
	case b == 0xc5 && isCoded:
		x.take()
		return x.vex(1)
	case b == 0xc4 && isCoded, b == 0x8f && next&0x18 != 0:
		x.at += 2
		return x.vex(int(next & 0x1f))
	case b == 0x62 && isCoded:
		x.at += 3
		return x.evex(int(next&7), x.code[x.at-2]&3 == 1)
	case b == 0xd5 && x.long: // REX2
		x.take()
		if x.wide = next&8 != 0; next&0x80 != 0 {
			return x.escaped(x.take())
		}
		b = x.take()
	}
	x.opcode = b
	if x.long {
		for _, none := range []byte(notLong) {
			if b == none {
				return '?'
			}
		}
	}
	return x86Map0[b]
}

// escaped reads the rest of an opcode that begins with the byte 0f. b is the byte after that. It
// returns the letter that the opcode maps have for the opcode.
func (x *x86) escaped(b byte) byte {
	switch b {
	case 0x38:
		x.space, x.opcode = 2, x.take()
		return 'm'
	case 0x3a:
		x.space, x.opcode = 3, x.take()
		return 'B'
	}
	x.space, x.opcode = 1, b
	return x86Map1[b]
}

// vex reads the opcode after a VEX or XOP prefix. space is the number of the opcode map that the
// prefix selects; 8 to 10 are those of XOP. It returns the letter for what follows the opcode.
func (x *x86) vex(space int) byte {
	x.space, x.opcode, x.coded = space, x.take(), true
	switch space {
	case 1:
		if x.opcode == 0x77 { // vzeroupper, vzeroall
			return '.'
		}
		if x86Map1[x.opcode] == 'B' {
			return 'B'
		}
		return 'm'
	case 2, 5, 6, 9:
		return 'm'
	case 3, 8:
		return 'B'
	case 7, 10:
		return 'd'
	}
	return '?'
}

// evex reads the opcode after an EVEX prefix. space is the number of the opcode map that the prefix
// selects; map 4 has instructions of map 0, and some of other maps. It returns the letter for what
// follows the opcode.
func (x *x86) evex(space int, data16 bool) byte {
	if space != 4 {
		if shape := x.vex(space); shape != '.' {
			return shape
		}
		return 'm'
	}
	x.space, x.opcode, x.coded, x.data16 = space, x.take(), true, data16
	switch shape := x86Map0[x.opcode]; {
	case x.opcode == 0x24, x.opcode == 0x2c, x.opcode == 0xd4: // shld, shrd, sha1rnds4
		return 'B'
	case shape == 'B', shape == 'Z', shape == 't', shape == 'T':
		return shape
	}
	return 'm'
}

// operands reads the ModRM byte, which describes the operands, and skips the displacement, if the
// instruction has them. shape is the letter that the opcode maps have for the opcode.
func (x *x86) operands(shape byte) {
	switch shape {
	case 'm', 'B', 'Z', 'd', 't', 'T':
	default:
		return
	}
	x.modrm = x.take()
	mod, rm := x.modrm>>6, x.modrm&7
	if mod == 3 {
		return
	}
	whole, none := 4, byte(5)
	if x.address && !x.long {
		whole, none = 2, 6
	} else if rm == 4 {
		rm = x.take() & 7 // the base, of which rm 5 is no register as without it
	}
	switch {
	case mod == 1:
		x.at++
	case mod == 2, rm == none:
		x.at += whole
	}
}

// number returns the size in bytes of the number at the end of the instruction. shape is the letter
// that the opcode maps have for the opcode.
func (x *x86) number(shape byte) int {
	full := 4
	if x.data16 && !x.wide {
		full = 2
	}
	switch isTest := x.modrm>>3&7 < 2; {
	case shape == 'b', shape == 'B', shape == 't' && isTest:
		return 1
	case shape == 'w':
		return 2
	case shape == 'e':
		return 3
	case shape == 'd', shape == 'r' && x.long:
		return 4
	case shape == 'v' && x.wide, shape == 'o' && x.long && !x.address:
		return 8
	case shape == 'o' && !x.long && x.address:
		return 2
	case shape == 'o':
		return 4
	case shape == 'z', shape == 'Z', shape == 'v', shape == 'r', shape == 'T' && isTest:
		return full
	case shape == 'f':
		return full + 2
	case !x.coded && x.space == 1 && x.opcode == 0x78 && (x.data16 || x.repne): // extrq, insertq
		return 2
	}
	return 0
}

// controlFlow returns where execution continues after the instruction: for most instructions at the
// next one, for a jump at its target. It does not set the size and the target.
func (x *x86) controlFlow() Instruction {
	if x.coded || x.space > 1 {
		return Instruction{}
	}
	register := x.modrm >> 3 & 7
	repeated := x.repe || x.repne
	switch opcode := uint16(x.space)<<8 | uint16(x.opcode); {
	case opcode >= 0x70 && opcode < 0x80, opcode >= 0xe0 && opcode < 0xe4, opcode >= 0x180 && opcode < 0x190:
		return Instruction{Jumps: true}
	case repeated && (opcode >= 0x6c && opcode < 0x70 || opcode >= 0xa4 && opcode < 0xa8 || opcode >= 0xaa && opcode < 0xb0):
		return Instruction{Repeats: true}
	case opcode == 0xe9, opcode == 0xeb, opcode == 0xff && register == 4:
		return Instruction{Leaves: true, Jumps: true}
	case opcode == 0xe8, opcode == 0xff && register == 2, opcode == 0x9a, opcode == 0xff && register == 3: // the last two are far calls
		return Instruction{Calls: true}
	case opcode == 0xc2, opcode == 0xc3, opcode == 0xca, opcode == 0xcb, opcode == 0xcf: // the last three are far returns and iret
		return Instruction{Leaves: true, Returns: true}
	case opcode == 0xea, opcode == 0xff && register == 5, opcode == 0x10b, opcode == 0x1b9, opcode == 0x1ff: // ljmp, ud2, ud1, ud0
		return Instruction{Leaves: true}
	}
	return Instruction{}
}
