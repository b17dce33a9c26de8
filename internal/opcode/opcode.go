// Package opcode decodes the control flow of machine instructions of x86 and AArch64: the length of
// an instruction, and where execution continues after it.
package opcode

// An Instruction describes the control flow of one instruction. The zero value means that no
// instruction could be decoded.
type Instruction struct {
	Size    uint64 // in bytes; 0 if the bytes are not an instruction, or not a whole one
	Leaves  bool   // execution does not continue at the next instruction
	Jumps   bool   // it is a jump, not a call or a return; unless Leaves is set, a conditional one
	Calls   bool
	Returns bool
	Repeats bool  // it is a string instruction of x86 with a repeat prefix
	By      int64 // distance from the next instruction to the target of a direct jump or call; else 0
}
