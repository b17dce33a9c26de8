package x86

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"golang.org/x/arch/x86/x86asm"
)

// holds reports whether the flags meet the condition of an instruction such as JE or SETNE.
// condition is the number that opcodes have for it. An odd number is the opposite of the number
// before it.
func holds(condition int, flags uint64) bool {
	c, z, s, o := flags&carry != 0, flags&zero != 0, flags&sign != 0, flags&overflow != 0
	r := [...]bool{o, c, z, c || z, s, flags&parity != 0, s != o, z || s != o}[condition>>1]
	return r != (condition&1 != 0)
}

// conditional lists the instructions that depend on a condition, by the number of the condition.
var conditional = [16]struct{ jump, set, move x86asm.Op }{
	{x86asm.JO, x86asm.SETO, x86asm.CMOVO}, {x86asm.JNO, x86asm.SETNO, x86asm.CMOVNO},
	{x86asm.JB, x86asm.SETB, x86asm.CMOVB}, {x86asm.JAE, x86asm.SETAE, x86asm.CMOVAE},
	{x86asm.JE, x86asm.SETE, x86asm.CMOVE}, {x86asm.JNE, x86asm.SETNE, x86asm.CMOVNE},
	{x86asm.JBE, x86asm.SETBE, x86asm.CMOVBE}, {x86asm.JA, x86asm.SETA, x86asm.CMOVA},
	{x86asm.JS, x86asm.SETS, x86asm.CMOVS}, {x86asm.JNS, x86asm.SETNS, x86asm.CMOVNS},
	{x86asm.JP, x86asm.SETP, x86asm.CMOVP}, {x86asm.JNP, x86asm.SETNP, x86asm.CMOVNP},
	{x86asm.JL, x86asm.SETL, x86asm.CMOVL}, {x86asm.JGE, x86asm.SETGE, x86asm.CMOVGE},
	{x86asm.JLE, x86asm.SETLE, x86asm.CMOVLE}, {x86asm.JG, x86asm.SETG, x86asm.CMOVG},
}

// jumpTo executes a taken jump: the simulation continues at the target, which is operand i.
func (c *CPU) jumpTo(i int) {
	if by, ok := c.in.Args[i].(x86asm.Rel); ok {
		c.next += uint64(int64(by))
		return
	}
	c.next = c.get(i)
}

func (c *CPU) word() int { return c.Mode / 8 }

func (c *CPU) push(v uint64, size int) {
	sp := c.R[4] - uint64(size)
	if c.Mode == 32 {
		sp = uint64(uint32(sp))
	}
	c.store(sp, size, v)
	c.R[4] = sp
}

func (c *CPU) pop(size int) uint64 {
	v := c.load(c.R[4], size)
	if c.R[4] += uint64(size); c.Mode == 32 {
		c.R[4] = uint64(uint32(c.R[4]))
	}
	return v
}

func (c *CPU) call() {
	back := c.next
	c.jumpTo(0)
	c.push(back, c.word())
}

func (c *CPU) ret() {
	c.next = c.pop(c.word())
	if n, ok := c.in.Args[0].(x86asm.Imm); ok {
		c.R[4] += uint64(n)
	}
}

// pushed returns the size in bytes of the number that the current push or pop instruction moves.
func (c *CPU) pushed() int {
	if c.in.DataSize == 16 {
		return 2
	}
	return c.word()
}

func (c *CPU) leave() {
	c.R[4] = c.R[5]
	c.R[5] = c.pop(c.word())
}

// loop returns the operation of LOOP, LOOPE or LOOPNE. The instruction jumps if the counter
// register is not 0 after it was decremented, and holds returns true for the flags.
func loop(holds func(f uint64) bool) func(*CPU) {
	return func(c *CPU) {
		n := sized(x86asm.RCX, c.in.AddrSize/8)
		c.writeRegister(n, c.readRegister(n)-1)
		if c.readRegister(n) != 0 && holds(c.Flags) {
			c.jumpTo(0)
		}
	}
}

// jumpIfZero returns a function that executes JRCXZ or JECXZ: it jumps if register r is 0.
func jumpIfZero(r x86asm.Reg) func(*CPU) {
	return func(c *CPU) {
		if c.readRegister(r) == 0 {
			c.jumpTo(0)
		}
	}
}

// maxRepeat limits the rounds of a repeated string instruction, each of which takes some 50 ns to
// simulate.
const maxRepeat = 1 << 14

// repeated returns the operation of a string instruction, such as MOVSB or REP MOVSB. f handles one
// element of size bytes. step is the distance in bytes to the next element, negative if the
// direction flag is set. A prefix such as REP repeats f.
func repeated(size int, f func(c *CPU, step uint64)) func(*CPU) {
	return func(c *CPU) {
		step := uint64(size)
		if c.Flags&direction != 0 {
			step = -step
		}
		rep, repn := c.has(x86asm.PrefixREP), c.has(x86asm.PrefixREPN)
		if c.Mode != 64 || c.in.AddrSize != 64 {
			c.fail()
			return
		}
		if !rep && !repn {
			f(c, step)
			return
		}
		if c.R[1] > maxRepeat {
			c.fail()
			return
		}
		for c.R[1] != 0 && !c.failed {
			f(c, step)
			c.R[1]--
			c.Work++
			if compares := c.in.Op >= x86asm.CMPSB && c.in.Op <= x86asm.CMPSW || isScan(c.in.Op); compares && (c.Flags&zero != 0) != rep {
				break
			}
		}
	}
}

func isScan(op x86asm.Op) bool {
	return op == x86asm.SCASB || op == x86asm.SCASW || op == x86asm.SCASD || op == x86asm.SCASQ
}

// stringOperations adds the operations of the string instructions for elements of size bytes to the
// table operations.
func stringOperations(size int, move, store, load, compare, scan x86asm.Op) {
	m := mask(size)
	operations[move] = repeated(size, func(c *CPU, step uint64) {
		c.store(c.R[7], size, c.load(c.R[6], size))
		c.R[6], c.R[7] = c.R[6]+step, c.R[7]+step
	})
	operations[store] = repeated(size, func(c *CPU, step uint64) {
		c.store(c.R[7], size, c.R[0])
		c.R[7] += step
	})
	operations[load] = repeated(size, func(c *CPU, step uint64) {
		v := c.load(c.R[6], size)
		if c.R[6] += step; size < 4 {
			v |= c.R[0] &^ m
		}
		c.R[0] = v
	})
	operations[compare] = repeated(size, func(c *CPU, step uint64) {
		c.subtract(c.load(c.R[6], size), c.load(c.R[7], size), 0, size)
		c.R[6], c.R[7] = c.R[6]+step, c.R[7]+step
	})
	operations[scan] = repeated(size, func(c *CPU, step uint64) {
		c.subtract(c.R[0]&m, c.load(c.R[7], size), 0, size)
		c.R[7] += step
	})
}

// operations has the operation that simulates each instruction, by x86asm.Op. fillOperations fills
// it.
var operations [2000]func(*CPU)

// fillOperations runs when the first instruction is simulated, because few runs of the command
// simulate.
var fillOperations = sync.OnceFunc(func() {
	scalarOperations()
	shiftOperations()
	flowOperations()
	vectorOperations()
	sse4Operations()
	ownVectorOperations()
	ownBitOperations()
})

func flowOperations() {
	for condition, o := range conditional {
		operations[o.jump] = func(c *CPU) {
			if holds(condition, c.Flags) {
				c.jumpTo(0)
			}
		}
		operations[o.set] = func(c *CPU) {
			v := uint64(0)
			if holds(condition, c.Flags) {
				v = 1
			}
			c.set(0, v)
		}
		operations[o.move] = func(c *CPU) {
			v := c.get(1)
			if !holds(condition, c.Flags) {
				v = c.get(0)
			}
			c.set(0, v) // a register of 32 bits is extended in any case
		}
	}
	operations[x86asm.JMP] = func(c *CPU) { c.jumpTo(0) }
	operations[x86asm.CALL], operations[x86asm.RET], operations[x86asm.LEAVE] = (*CPU).call, (*CPU).ret, (*CPU).leave
	operations[x86asm.LOOP], operations[x86asm.LOOPE], operations[x86asm.LOOPNE] = loop(func(uint64) bool { return true }), loop(func(f uint64) bool { return f&zero != 0 }), loop(func(f uint64) bool { return f&zero == 0 })
	operations[x86asm.JRCXZ], operations[x86asm.JECXZ] = jumpIfZero(x86asm.RCX), jumpIfZero(x86asm.ECX)
	operations[x86asm.PUSH] = func(c *CPU) { c.push(c.get(0), c.pushed()) }
	operations[x86asm.POP] = func(c *CPU) { c.set(0, c.pop(c.pushed())) }
	stringOperations(1, x86asm.MOVSB, x86asm.STOSB, x86asm.LODSB, x86asm.CMPSB, x86asm.SCASB)
	stringOperations(2, x86asm.MOVSW, x86asm.STOSW, x86asm.LODSW, x86asm.CMPSW, x86asm.SCASW)
	stringOperations(4, x86asm.MOVSD, x86asm.STOSD, x86asm.LODSD, x86asm.CMPSD, x86asm.SCASD)
	stringOperations(8, x86asm.MOVSQ, x86asm.STOSQ, x86asm.LODSQ, x86asm.CMPSQ, x86asm.SCASQ)
}

func scalarOperations() {
	for op, f := range map[x86asm.Op]func(*CPU){
		x86asm.ADD:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.add(a, b, 0, size) }),
		x86asm.ADC:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.add(a, b, c.Flags&carry, size) }),
		x86asm.SUB:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.subtract(a, b, 0, size) }),
		x86asm.SBB:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.subtract(a, b, c.Flags&carry, size) }),
		x86asm.AND:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.logic(a&b, size) }),
		x86asm.OR:     two(func(c *CPU, a, b uint64, size int) uint64 { return c.logic(a|b, size) }),
		x86asm.XOR:    two(func(c *CPU, a, b uint64, size int) uint64 { return c.logic(a^b, size) }),
		x86asm.CMP:    compare(func(c *CPU, a, b uint64, size int) uint64 { return c.subtract(a, b, 0, size) }),
		x86asm.TEST:   compare(func(c *CPU, a, b uint64, size int) uint64 { return c.logic(a&b, size) }),
		x86asm.INC:    keepingCarry((*CPU).add),
		x86asm.DEC:    keepingCarry((*CPU).subtract),
		x86asm.NEG:    one(func(c *CPU, a uint64, size int) uint64 { return c.subtract(0, a, 0, size) }),
		x86asm.NOT:    one(func(_ *CPU, a uint64, _ int) uint64 { return ^a }),
		x86asm.MOV:    (*CPU).move,
		x86asm.MOVNTI: (*CPU).move,
		x86asm.MOVZX:  (*CPU).move,
		x86asm.MOVSX:  func(c *CPU) { c.set(0, extend(c.get(1), c.size(1))) },
		x86asm.MOVSXD: func(c *CPU) { c.set(0, extend(c.get(1), c.size(1))) },
		x86asm.MOVBE:  func(c *CPU) { c.set(0, bits.ReverseBytes64(c.get(1))>>(64-8*c.size(0))) },
		x86asm.LEA:    (*CPU).lea,
		x86asm.IMUL:   (*CPU).multiply, x86asm.MUL: (*CPU).multiply, x86asm.DIV: (*CPU).divide, x86asm.IDIV: (*CPU).divide,
		x86asm.XCHG: (*CPU).exchange, x86asm.XADD: (*CPU).exchangeAdd, x86asm.CMPXCHG: (*CPU).compareExchange,
		x86asm.CBW: signExtend(x86asm.AL, x86asm.AX, false), x86asm.CWDE: signExtend(x86asm.AX, x86asm.EAX, false),
		x86asm.CDQE: signExtend(x86asm.EAX, x86asm.RAX, false), x86asm.CWD: signExtend(x86asm.AX, x86asm.DX, true),
		x86asm.CDQ: signExtend(x86asm.EAX, x86asm.EDX, true), x86asm.CQO: signExtend(x86asm.RAX, x86asm.RDX, true),
		x86asm.BT:  bit(nil),
		x86asm.BTS: bit(func(a, b uint64) uint64 { return a | b }),
		x86asm.BTR: bit(func(a, b uint64) uint64 { return a &^ b }),
		x86asm.BTC: bit(func(a, b uint64) uint64 { return a ^ b }),
		x86asm.BSF: scan(true, trailing), x86asm.TZCNT: scan(false, trailing),
		x86asm.BSR: scan(true, highest), x86asm.LZCNT: scan(false, leading),
		x86asm.POPCNT: func(c *CPU) {
			n := bits.OnesCount64(c.get(1))
			c.flag(arithmetic, false)
			c.flag(zero, n == 0)
			c.set(0, uint64(n))
		},
		x86asm.BSWAP: func(c *CPU) { c.set(0, bits.ReverseBytes64(c.get(0))>>(64-8*c.size(0))) },
		x86asm.CLD:   func(c *CPU) { c.flag(direction, false) },
		x86asm.STD:   func(c *CPU) { c.flag(direction, true) },
		x86asm.CLC:   func(c *CPU) { c.flag(carry, false) },
		x86asm.STC:   func(c *CPU) { c.flag(carry, true) },
		x86asm.CMC:   func(c *CPU) { c.Flags ^= carry },
		x86asm.NOP:   nothing, x86asm.PAUSE: nothing, x86asm.MFENCE: nothing, x86asm.LFENCE: nothing, x86asm.SFENCE: nothing,
		x86asm.PREFETCHNTA: nothing, x86asm.PREFETCHT0: nothing, x86asm.PREFETCHT1: nothing, x86asm.PREFETCHT2: nothing, x86asm.PREFETCHW: nothing,
	} {
		operations[op] = f
	}
}

// move executes MOV and MOVZX. It fails for segment registers, whose size is 0.
func (c *CPU) move() { c.set(0, c.get(1)) }

func shiftOperations() {
	operations[x86asm.SHL], operations[x86asm.SHR], operations[x86asm.SAR] = shift(left), shift(right), shift(rightSigned)
	operations[x86asm.ROL], operations[x86asm.ROR] = shift(rotateLeft), shift(rotateRight)
	operations[x86asm.SHLD] = double(func(a, b uint64, n, width int) (r, out uint64) {
		return a<<n | b>>(width-n), a >> (width - n)
	})
	operations[x86asm.SHRD] = double(func(a, b uint64, n, width int) (r, out uint64) {
		return a>>n | b<<(width-n), a >> (n - 1)
	})
}

// bytesOf returns the bytes of a vector in the order in which they are in memory.
func bytesOf(v Vector) (b [16]byte) {
	binary.LittleEndian.PutUint64(b[:], v[0])
	binary.LittleEndian.PutUint64(b[8:], v[1])
	return b
}

// vectorOf returns the vector that consists of 16 bytes.
func vectorOf(b [16]byte) Vector {
	return Vector{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}
