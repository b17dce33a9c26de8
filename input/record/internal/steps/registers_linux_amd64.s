#include "textflag.h"

// func saveOffset(component uint32) uint32
TEXT ·saveOffset(SB), NOSPLIT, $0-12
	MOVL $0xd, AX
	MOVL component+0(FP), CX
	CPUID
	MOVL BX, ret+8(FP)
	RET
