package opcode

import "golang.org/x/arch/arm64/arm64asm"

// ARM64 decodes an instruction of AArch64.
func ARM64(code []byte) Instruction {
	in, err := arm64asm.Decode(code)
	if err != nil {
		return Instruction{}
	}
	i := Instruction{Size: 4}
	switch in.Op {
	case arm64asm.RET:
		i.Leaves, i.Returns = true, true
	case arm64asm.ERET:
		i.Leaves, i.Returns, i.Opaque = true, true, true
	case arm64asm.BRK, arm64asm.HLT:
		i.Opaque = true
	case arm64asm.BL, arm64asm.BLR:
		i.Calls = true
		i.By = distance(in)
	case arm64asm.BR:
		i.Leaves, i.Jumps = true, true
	case arm64asm.B:
		_, conditional := in.Args[0].(arm64asm.Cond)
		i.Leaves, i.Jumps, i.By = !conditional, true, distance(in)
	case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		i.Jumps, i.By = true, distance(in)
	}
	return i
}

// distance returns how far a direct branch leads from the next instruction, 0 for any other.
func distance(in arm64asm.Inst) int64 {
	for _, arg := range in.Args {
		if by, ok := arg.(arm64asm.PCRel); ok {
			return int64(by) - 4
		}
	}
	return 0
}
