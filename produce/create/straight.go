package create

import (
	"bytes"
	"debug/elf"
	"iter"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/opcode"
)

// A decoder decodes instructions of a binary, to find where execution can branch. It supports x86
// and AArch64.
type decoder struct {
	file *elf.File
	next func(code []byte) opcode.Instruction

	base uint64 // address of code, the part of the binary read last
	code []byte
}

// newDecoder returns a decoder for the code in a file, or nil if the machine is not supported.
func newDecoder(f *elf.File) *decoder {
	d := &decoder{file: f, code: make([]byte, 0, window)}
	switch f.Machine {
	case elf.EM_X86_64:
		d.next = func(code []byte) opcode.Instruction { return opcode.X86(code, 64) }
	case elf.EM_386:
		d.next = func(code []byte) opcode.Instruction { return opcode.X86(code, 32) }
	case elf.EM_AARCH64:
		d.next = opcode.ARM64
	default:
		return nil
	}
	return d
}

// window is the number of bytes of code that are read from the file at a time. maxInstruction is
// the length of the longest instruction.
const (
	window         = 4 << 10
	maxInstruction = 16
)

// at returns the code of the binary from an address on, at least one instruction. It returns nil if
// there is no code at the address.
func (d *decoder) at(addr uint64) []byte {
	if skip := addr - d.base; addr >= d.base && skip+maxInstruction <= uint64(len(d.code)) {
		return d.code[skip:]
	}
	for _, p := range d.file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz {
			continue
		}
		d.code = d.code[:window]
		n, _ := p.ReadAt(d.code, int64(addr-p.Vaddr)) // code that cannot be read is not decoded
		d.base, d.code = addr, d.code[:n]
		return d.code
	}
	return nil
}

// decode decodes the instruction at an address. The Size of the result is 0 if there is no
// instruction or the decoder is nil.
func (d *decoder) decode(addr uint64) opcode.Instruction {
	if d == nil {
		return opcode.Instruction{}
	}
	return d.next(d.at(addr))
}

// instructions iterates over the instructions from low to high and their addresses, up to the first
// one that cannot be decoded.
func (d *decoder) instructions(low, high uint64) iter.Seq2[uint64, opcode.Instruction] {
	return func(yield func(uint64, opcode.Instruction) bool) {
		for at := low; at < high; {
			in := d.decode(at)
			if in.Size == 0 || !yield(at, in) {
				return
			}
			at += in.Size
		}
	}
}

// isPadding reports whether the instruction at an address does nothing and only fills space between
// blocks or functions.
func (d *decoder) isPadding(addr uint64) bool {
	code := d.at(addr)
	if d.file.Machine == elf.EM_AARCH64 {
		return bytes.HasPrefix(code, []byte{0x1f, 0x20, 0x03, 0xd5})
	}
	for len(code) > 0 && (code[0] == 0x66 || code[0] == 0x2e) {
		code = code[1:]
	}
	return bytes.HasPrefix(code, []byte{0x90}) || bytes.HasPrefix(code, []byte{0xcc}) || bytes.HasPrefix(code, []byte{0x0f, 0x1f})
}

// crosses reports whether the code from begin to end contains an instruction after which execution
// never continues with the next one, such as a return or an unconditional jump. Then execution
// cannot have gone straight from begin to end. Such ranges occur because some processors record a
// branch twice. crosses returns false if it cannot decode the code.
func (d *decoder) crosses(begin, end uint64) bool {
	for _, in := range d.instructions(begin, end) {
		if in.Leaves {
			return true
		}
	}
	return false
}

// transfer returns the address of the first instruction, from address at on, that may branch. If
// there is none, it returns the address of the last instruction before end or before code that
// cannot be decoded.
func (d *decoder) transfer(at, end uint64) uint64 {
	last := at
	for d != nil && at < end {
		last = at
		in := d.next(d.at(at))
		if in.Size == 0 || in.Leaves || in.Jumps || in.Calls {
			break
		}
		at += in.Size
	}
	return last
}

// EndRanges completes the ranges in set.Landings. For these, the recording has only the beginning:
// the target of a branch. EndRanges moves them to set.Ranges, with an end at the first instruction
// that may branch, or at the end of the function. [Profile] calls EndRanges itself.
func EndRanges(f *symbolize.File, set *samples.Set) error {
	code, l, landings := newDecoder(f.ELF()), locator{file: f}, set.Landings
	set.Landings = samples.Sums[uint64]{}
	for offset, n := range landings.All() {
		s, addr, ok := l.at(offset)
		end := addr
		if ok {
			end = code.transfer(addr, s.High)
		}
		set.Ranges.Add(samples.Range{Begin: offset, End: offset + end - addr}, n)
	}
	return l.err
}
