package opcode

import "encoding/binary"

// ARM64 decodes an instruction of AArch64. All instructions have 4 bytes. ARM64 recognises branches
// by the fields of Arm's encoding tables, including branches that check the signature of an
// address.
func ARM64(code []byte) Instruction {
	const size = 4
	if len(code) < size {
		return Instruction{}
	}
	w := binary.LittleEndian.Uint32(code)
	if w>>16 == 0 { // udf: no instruction
		return Instruction{}
	}
	i := Instruction{Size: size}
	switch {
	case w>>26 == 0b000101: // b
		i.Leaves, i.Jumps, i.By = true, true, armDistance(w, 0, 26)
	case w>>26 == 0b100101: // bl
		i.Calls, i.By = true, armDistance(w, 0, 26)
	case w>>24 == 0b01010100, w>>25&0x3f == 0b011010: // b.cond, cbz, cbnz
		i.Jumps, i.By = true, armDistance(w, 5, 19)
	case w>>25&0x3f == 0b011011: // tbz, tbnz
		i.Jumps, i.By = true, armDistance(w, 5, 14)
	case w>>25 == 0b1101011:
		i.toRegister(w)
	}
	return i
}

// toRegister decodes a branch whose target address is in a register. w is the instruction.
func (i *Instruction) toRegister(w uint32) {
	switch w >> 21 & 7 {
	case 0: // br
		i.Leaves, i.Jumps = true, true
	case 1: // blr
		i.Calls = true
	case 2, 4: // ret, eret
		i.Leaves, i.Returns = true, true
	}
}

// armDistance returns the distance from the next instruction to the target of the branch
// instruction w. The instruction has a field of the given number of bits, from bit low on: the
// distance from the branch itself, in words of 4 bytes.
func armDistance(w uint32, low, bits int) int64 {
	return int64(int32(w<<(32-low-bits))>>(32-bits))*4 - 4
}
