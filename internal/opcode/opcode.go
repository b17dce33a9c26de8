// Package opcode decodes machine code as far as control flow goes: how long an instruction is, and
// where code goes on after it. It knows x86 and AArch64.
package opcode

// An Instruction describes the control flow of one instruction. The zero value means that no
// instruction could be decoded.
type Instruction struct {
	Size    uint64 // in bytes; 0 if the bytes are no instruction, or not a whole one
	Leaves  bool   // code does not go on at the next instruction
	Jumps   bool   // it is a jump, not a call or a return; without Leaves, a conditional one
	Calls   bool
	Returns bool
	Repeats bool  // it is a string instruction of x86 with a prefix that repeats it
	By      int64 // distance from the next instruction to the target of a direct jump or call; else 0

	// Opaque: stepping over the instruction needs more than breakpoints at its successors. It
	// raises an exception, changes the flags that debuggers use, or loads a segment.
	Opaque bool
}
