package x86

import (
	"hash/crc32"
	"math"

	"golang.org/x/arch/x86/x86asm"
)

// roundings has the functions by which ROUNDSD rounds, by the lowest bits of its immediate: to the
// nearest, down, up, towards 0.
var roundings = [4]func(float64) float64{math.RoundToEven, math.Floor, math.Ceil, math.Trunc}

// round returns the operation of ROUNDPD and its relatives, which round numbers of size bytes to
// integers: all elements of a vector, or without all only the lowest.
func round(size int, all bool) func(*CPU) {
	return func(c *CPU) {
		by := c.get(2)
		if by>>4 != 0 { // of AVX-512: it keeps digits after the point
			c.fail()
			return
		}
		f := roundings[by&3]
		if by&4 != 0 {
			f = math.RoundToEven // the mode in MXCSR, which hardly any program changes
		}
		bits := double64(func(_, b float64) float64 { return f(b) })
		if size == 4 {
			bits = single(func(_, b float32) float32 { return float32(f(float64(b))) })
		}
		if all {
			lanes(size, bits)(c)
		} else {
			lowest(size, bits)(c)
		}
	}
}

// neighbours returns a function that executes PHADDW or a relative of it. Each element of the
// result, of size bytes, is f of two adjacent elements of an operand.
func neighbours(size int, f func(a, b uint64) uint64) func(*CPU) {
	return pairwise(func(a, b Vector) (v Vector) {
		n := 8 / size // elements of a result that come from each operand
		for i := range n {
			v.Put(size, i, f(a.Get(size, 2*i), a.Get(size, 2*i+1)))
			v.Put(size, n+i, f(b.Get(size, 2*i), b.Get(size, 2*i+1)))
		}
		return v
	})
}

// alternate returns the operation of ADDSUBPD and ADDSUBPS, which subtract elements with an even
// number and add the others.
func alternate(size int, add, subtract func(a, b uint64) uint64) func(*CPU) {
	return pairwise(func(a, b Vector) (v Vector) {
		for i := range 16 / size {
			f := add
			if i%2 == 0 {
				f = subtract
			}
			v.Put(size, i, f(a.Get(size, i), b.Get(size, i)))
		}
		return v
	})
}

// clamp returns an operation that computes f of each pair of elements of two vectors. It limits
// each result to the range of signed numbers of size bytes.
func clamp(size int, f func(a, b int64) int64) func(*CPU) {
	limit := int64(top(size))
	return signed(size, func(a, b int64) uint64 { return uint64(max(-limit, min(limit-1, f(a, b)))) })
}

// insertElement returns a function that executes PINSRB or a relative of it: it replaces one
// element, of size bytes, of a vector by a number.
func insertElement(size int) func(*CPU) {
	return func(c *CPU) {
		v := c.vector(0)
		v.Put(size, int(c.get(2))&(16/size-1), c.get(1))
		c.setVector(0, v)
	}
}

func extractElement(size int) func(*CPU) {
	return func(c *CPU) {
		v := c.vector(1)
		c.set(0, v.Get(size, int(c.get(2))&(16/size-1)))
	}
}

// insertNumber executes INSERTPS, which copies a number of single precision into a vector and can
// clear other elements.
func (c *CPU) insertNumber() {
	v, from, by, element := c.vector(0), c.vector(1), int(c.get(2)), 0
	if !c.isMemory(1) {
		element = by >> 6 & 3
	}
	v.Put(4, by>>4&3, from.Get(4, element))
	for i := range 4 {
		if by>>i&1 != 0 {
			v.Put(4, i, 0)
		}
	}
	c.setVector(0, v)
}

// toInts returns a function that executes CVTPD2DQ or CVTTPD2DQ: it converts the numbers of double
// precision in a vector to integers of 32 bits. round rounds a number.
func toInts(round func(float64) float64) func(*CPU) {
	return pairwise(func(_, b Vector) (v Vector) {
		for i, e := range b {
			v.Put(4, i, toInt(round(math.Float64frombits(e))))
		}
		return v
	})
}

// toInt converts a number to a signed integer of 32 bits.
func toInt(v float64) uint64 {
	if v != v || v >= 1<<31 || v < -1<<31 {
		return top(4)
	}
	return uint64(int64(v)) & mask(4)
}

func (c *CPU) checksum() {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // computes the table once
	size, sum := c.size(1), ^uint32(c.get(0))
	v := c.get(1)
	for range size {
		sum = crc32.Update(sum, castagnoli, []byte{byte(v)})
		v >>= 8
	}
	c.set(0, uint64(^sum))
}

// rotateCarry returns a function that computes the result of RCL, or of RCR if left is false: the
// operand a of size bytes and the carry flag, rotated by n bits.
func rotateCarry(left bool) func(c *CPU, a uint64, n, size int) uint64 {
	return func(c *CPU, a uint64, n, size int) uint64 {
		for range n % (8*size + 1) {
			in, out := c.Flags&carry, a>>(8*size-1)&1
			if left {
				a = a<<1 | in
			} else {
				out = a & 1
				a = a>>1 | in<<(8*size-1)
			}
			c.flag(carry, out != 0)
		}
		return a
	}
}

// comparePair returns the operation of CMPXCHG8B or CMPXCHG16B. size is the size of one register of
// a pair in bytes.
func comparePair(size int) func(*CPU) {
	return func(c *CPU) {
		m, ok := c.in.Args[0].(x86asm.Mem)
		if !ok {
			c.fail()
			return
		}
		a := c.address(m)
		low, high := c.load(a, size), c.load(a+uint64(size), size)
		same := low == c.R[0]&mask(size) && high == c.R[2]&mask(size)
		if c.flag(zero, same); same {
			c.store(a, size, c.R[3]&mask(size))
			c.store(a+uint64(size), size, c.R[1]&mask(size))
		} else {
			c.setPair(low, high, size)
		}
	}
}

// pack returns a function that executes PACKUSWB or a relative of it, which halves the size of the
// elements of two vectors and limits them to the range from least to most.
func pack(size int, least, most int64) func(*CPU) {
	return pairwise(func(a, b Vector) (v Vector) {
		for half, from := range []Vector{a, b} {
			for i := range 16 / size {
				v.Put(size/2, half*16/size+i, uint64(max(least, min(most, from.Signed(size, i)))))
			}
		}
		return v
	})
}

func sse4Operations() {
	absolute := func(size int) func(*CPU) {
		return lanes(size, func(_, b uint64) uint64 {
			if b&top(size) != 0 {
				b = -b
			}
			return b
		})
	}
	signBy := func(size int) func(*CPU) {
		return signed(size, func(a, b int64) uint64 {
			switch {
			case b < 0:
				return uint64(-a)
			case b == 0:
				return 0
			}
			return uint64(a)
		})
	}
	add, subtract := func(a, b uint64) uint64 { return a + b }, func(a, b uint64) uint64 { return a - b }
	add64, subtract64 := double64(func(a, b float64) float64 { return a + b }), double64(func(a, b float64) float64 { return a - b })
	add32, subtract32 := single(func(a, b float32) float32 { return a + b }), single(func(a, b float32) float32 { return a - b })
	for op, f := range map[x86asm.Op]func(*CPU){
		x86asm.ROUNDPD: round(8, true), x86asm.ROUNDPS: round(4, true), x86asm.ROUNDSD: round(8, false), x86asm.ROUNDSS: round(4, false),
		x86asm.BLENDPD: blend(8), x86asm.BLENDPS: blend(4), x86asm.PBLENDW: blend(2),
		x86asm.BLENDVPD: blendBySigns(8), x86asm.BLENDVPS: blendBySigns(4), x86asm.PBLENDVB: blendBySigns(1),
		x86asm.PABSB: absolute(1), x86asm.PABSW: absolute(2), x86asm.PABSD: absolute(4),
		x86asm.PSIGNB: signBy(1), x86asm.PSIGNW: signBy(2), x86asm.PSIGND: signBy(4),
		x86asm.PHADDW: neighbours(2, add), x86asm.PHADDD: neighbours(4, add), x86asm.PHSUBW: neighbours(2, subtract), x86asm.PHSUBD: neighbours(4, subtract),
		x86asm.HADDPD: neighbours(8, add64), x86asm.HADDPS: neighbours(4, add32), x86asm.HSUBPD: neighbours(8, subtract64), x86asm.HSUBPS: neighbours(4, subtract32),
		x86asm.ADDSUBPD: alternate(8, add64, subtract64), x86asm.ADDSUBPS: alternate(4, add32, subtract32),
		x86asm.PADDSB: clamp(1, func(a, b int64) int64 { return a + b }), x86asm.PADDSW: clamp(2, func(a, b int64) int64 { return a + b }),
		x86asm.PSUBSB: clamp(1, func(a, b int64) int64 { return a - b }), x86asm.PSUBSW: clamp(2, func(a, b int64) int64 { return a - b }),
		x86asm.PADDUSW: lanes(2, func(a, b uint64) uint64 { return min(a+b, 0xffff) }), x86asm.PSUBUSW: lanes(2, func(a, b uint64) uint64 { return a - min(a, b) }),
		x86asm.PMINSB: signed(1, smallest), x86asm.PMAXSB: signed(1, greatest),
		x86asm.PMINUW:   lanes(2, least),
		x86asm.PMAXUW:   lanes(2, most),
		x86asm.PMULHRSW: signed(2, func(a, b int64) uint64 { return uint64((a*b>>14 + 1) >> 1) }),
		x86asm.PMULDQ:   lanes(8, func(a, b uint64) uint64 { return extend(a, 4) * extend(b, 4) }),
		x86asm.PMADDUBSW: lanes(2, func(a, b uint64) uint64 {
			sum := int64(a&0xff)*int64(int8(b)) + int64(a>>8)*int64(int8(b>>8))
			return uint64(max(-32768, min(32767, sum)))
		}),
		x86asm.CVTPS2DQ:  lanes(4, func(_, b uint64) uint64 { return toInt(math.RoundToEven(float32At(Vector{b}))) }),
		x86asm.CVTTPS2DQ: lanes(4, func(_, b uint64) uint64 { return toInt(math.Trunc(float32At(Vector{b}))) }),
		x86asm.CVTPD2DQ:  toInts(math.RoundToEven), x86asm.CVTTPD2DQ: toInts(math.Trunc),
		x86asm.CVTPD2PS: pairwise(func(_, b Vector) (v Vector) {
			for i, e := range b {
				v.Put(4, i, uint64(math.Float32bits(float32(math.Float64frombits(e)))))
			}
			return v
		}),
		x86asm.MOVSHDUP: pairwise(func(_, b Vector) Vector { return Vector{b[0]>>32 | b[0]&^mask(4), b[1]>>32 | b[1]&^mask(4)} }),
		x86asm.MOVSLDUP: pairwise(func(_, b Vector) Vector { return Vector{b[0]<<32 | b[0]&mask(4), b[1]<<32 | b[1]&mask(4)} }),
		x86asm.MOVNTDQA: (*CPU).moveVector, x86asm.INSERTPS: (*CPU).insertNumber, x86asm.EXTRACTPS: extractElement(4),
		x86asm.CRC32: (*CPU).checksum, x86asm.RCL: shift(rotateCarry(true)), x86asm.RCR: shift(rotateCarry(false)),
		x86asm.CMPXCHG8B: comparePair(4), x86asm.CMPXCHG16B: comparePair(8),
		x86asm.LDMXCSR: nothing, x86asm.STMXCSR: func(c *CPU) { c.set(0, 0x1f80) }, // the mode after a start
		x86asm.FLDCW: nothing, x86asm.FNSTCW: func(c *CPU) { c.set(0, 0x37f) }, // strtod and printf ask for this mode
		x86asm.LAHF: func(c *CPU) { c.R[0] = c.R[0]&^0xff00 | (c.Flags&0xd5|2)<<8 },
		x86asm.SAHF: func(c *CPU) { c.Flags = c.Flags&^0xd5 | c.R[0]>>8&0xd5 },
		x86asm.XLATB: func(c *CPU) {
			c.writeRegister(x86asm.AL, c.load(c.R[3]+c.R[0]&0xff, 1))
		},
	} {
		operations[op] = f
	}
}
