package steps

import "github.com/go-afdo/afdo/internal/opcode"

const (
	codePage       = 4096
	codePages      = 16 // pages of a burst: a burst of some hundred instructions seldom needs more
	maxInstruction = 15 // bytes of the longest instruction of x86
)

// A codeCache holds pages of code of the process of the current burst. It is emptied between
// bursts, because a program may change its code.
type codeCache struct {
	pid   int
	mode  int // 32 or 64 bits
	pages [codePages]struct {
		address uint64
		size    int
		bytes   [codePage]byte
	}
	next int
	both [2 * maxInstruction]byte // of an instruction on two pages
}

// reset empties the cache for another process.
func (c *codeCache) reset(pid, mode int) {
	c.pid, c.mode = pid, mode
	for i := range c.pages {
		c.pages[i].size = 0
	}
}

// at returns the code from an address to the end of its page.
func (c *codeCache) at(address uint64) []byte {
	page, offset := address&^(codePage-1), int(address&(codePage-1))
	for i := range c.pages {
		if p := &c.pages[i]; p.size > 0 && p.address == page {
			return p.bytes[min(offset, p.size):p.size]
		}
	}
	p := &c.pages[c.next]
	c.next = (c.next + 1) % codePages
	p.address, p.size = page, readMemory(c.pid, page, p.bytes[:])
	return p.bytes[min(offset, p.size):p.size]
}

// instruction decodes the instruction at an address. The result is zero if it cannot be read.
func (c *codeCache) instruction(address uint64) (opcode.Instruction, []byte) {
	code := c.at(address)
	if len(code) < maxInstruction {
		n := copy(c.both[:], code)
		n += copy(c.both[n:], c.at(address + uint64(n))[:min(maxInstruction, len(c.at(address+uint64(n))))])
		code = c.both[:n]
	}
	return opcode.X86(code, c.mode), code
}
