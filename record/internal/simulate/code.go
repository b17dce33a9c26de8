package simulate

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/go-afdo/afdo/internal/opcode"
)

// An Instruction is a decoded instruction.
type Instruction struct {
	Flow opcode.Instruction
	Slot int64 // of a jump or call through a table, jmp *Slot(%rip): the table's distance from the next instruction; else 0

	in   x86asm.Inst
	does func(*CPU) // nil if the instruction cannot be simulated
	wide *wide      // nil if the instruction has no VEX or EVEX prefix
}

// maxInstruction is the length of the longest instruction of x86.
const maxInstruction = 15

// Decode decodes the next instruction. It returns nil if there is none, or none that can be
// decoded. The result is valid until the next call. Instructions of a [Page] are decoded once.
func (c *CPU) Decode() *Instruction {
	p := c.Memory.page(c.IP)
	if p == nil {
		return nil
	}
	offset := c.IP & (pageSize - 1)
	shared := p.constant != nil && p.constant.size-int(offset) >= maxInstruction
	if shared {
		if i := p.constant.decoded(offset, c.Mode); i != nil {
			return i
		}
	}
	var code [maxInstruction]byte
	if !decode(&c.scratch, code[:c.Memory.Bytes(c.IP, code[:])], c.Mode) {
		return nil
	}
	if !shared {
		return &c.scratch
	}
	c.Kept++
	return p.constant.add(offset, &c.scratch)
}

// decode decodes an instruction, and reports whether its length is known.
func decode(to *Instruction, code []byte, mode int) bool {
	*to = Instruction{Flow: opcode.X86(code, mode)}
	size := to.Flow.Size
	if size == 0 {
		return false
	}
	code = code[:size]
	if mode == 64 {
		to.Slot = slot(code)
	}
	to.in.Mode = mode
	if size == 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3]&0xfe == 0xfa { // endbr64, endbr32
		to.does = nothing
		return true
	}
	fillOperations()
	if mode == 64 && decodeWide(to, code) {
		return true
	}
	in, err := x86asm.Decode(code, mode)
	if err == nil && uint64(in.Len) == size && int(in.Op) < len(operations) {
		to.in, to.does = in, operations[in.Op]
		to.in.Mode = mode
		if to.does == nil && xmm(in.Args[0]) >= 0 {
			to.does = (*CPU).forget
		}
	}
	return true
}

// slot returns the distance of the table of a jump or call.
func slot(code []byte) int64 {
	for len(code) > 0 && (code[0] == 0xf2 || code[0] == 0x3e) { // bnd, notrack
		code = code[1:]
	}
	if len(code) != 6 || code[0] != 0xff || code[1] != 0x25 && code[1] != 0x15 {
		return 0
	}
	return int64(int32(binary.LittleEndian.Uint32(code[2:])))
}

// Execute executes an instruction that Decode has returned. It returns false if it cannot simulate
// the instruction: the instruction is unknown, enters the kernel, or its memory cannot be read. The
// simulation is over then.
func (c *CPU) Execute(i *Instruction) bool {
	if i.does == nil {
		return false
	}
	c.in, c.failed, c.tainted, c.next = &i.in, false, false, c.IP+i.Flow.Size
	after := c.next
	if i.wide == nil {
		i.does(c)
	} else {
		i.wide.execute(c, i.does)
	}
	if c.failed || c.tainted && c.next != after {
		return false
	}
	c.IP = c.next
	if c.Mode == 32 {
		c.IP = uint64(uint32(c.IP))
	}
	return true
}

// TouchesZeros reports whether the next instruction uses a page of memory that has zeros only, as
// it has when the kernel has just made it.
func (c *CPU) TouchesZeros() bool {
	i := c.Decode()
	if i == nil {
		return false
	}
	c.in, c.next = &i.in, c.IP+i.Flow.Size
	for _, a := range i.in.Args {
		m, ok := a.(x86asm.Mem)
		if !ok || i.in.Op == x86asm.LEA || i.in.Op == x86asm.NOP {
			continue
		}
		if p := c.Memory.page(c.address(m)); p != nil && bytes.Equal(p.bytes, zeros[:len(p.bytes)]) {
			return true
		}
	}
	return false
}

var zeros [pageSize]byte

// A Page is a page of memory that does not change, such as code and constants. Several simulations
// can use it, one after another.
type Page struct {
	size  int
	bytes [pageSize]byte
	index *[pageSize]uint16 // of the instruction at an offset in list, plus 1; nil if the page has no instructions
	list  []*Instruction
}

// NewPage returns a page. Short pages end at the end of readable memory.
func NewPage(content []byte) *Page {
	p := new(Page)
	p.size = copy(p.bytes[:], content)
	return p
}

// Holds reports whether a page has a content.
func (p *Page) Holds(content []byte) bool { return string(p.bytes[:p.size]) == string(content) }

func (p *Page) decoded(offset uint64, mode int) *Instruction {
	if p.index == nil || p.index[offset] == 0 {
		return nil
	}
	if i := p.list[p.index[offset]-1]; i.in.Mode == mode {
		return i
	}
	return nil
}

// add keeps a copy of an instruction.
func (p *Page) add(offset uint64, i *Instruction) *Instruction {
	kept := *i
	if p.index == nil {
		p.index = new([pageSize]uint16)
	}
	p.list = append(p.list, &kept)
	p.index[offset] = uint16(len(p.list))
	return &kept
}
