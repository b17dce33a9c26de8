package x86

import (
	"math"

	"golang.org/x/arch/x86/x86asm"
)

// xmm returns the number of the XMM register that is the operand a, -1 if a is no XMM register.
func xmm(a x86asm.Arg) int {
	if r, ok := a.(x86asm.Reg); ok && r >= x86asm.X0 && r <= x86asm.X15 {
		return int(r - x86asm.X0)
	}
	return -1
}

// vector returns the value of operand i as a vector. An operand in memory with fewer than 16 bytes
// gives the low bytes of the vector.
func (c *CPU) vector(i int) Vector {
	if n := xmm(c.in.Args[i]); n >= 0 {
		if c.wide != nil {
			return c.wide.register(c, i)
		}
		c.uses(n)
		return c.X[n][0]
	}
	switch a := c.vectorAddress(i); c.in.MemBytes {
	case 16:
		return Vector{c.load(a, 8), c.load(a+8, 8)}
	case 1, 2, 4, 8:
		return Vector{c.load(a, c.in.MemBytes)}
	}
	c.fail()
	return Vector{}
}

// vectorAddress returns the address of operand i, which is a vector in memory.
func (c *CPU) vectorAddress(i int) uint64 {
	m, ok := c.in.Args[i].(x86asm.Mem)
	if !ok {
		c.fail()
		return 0
	}
	a := c.address(m)
	if c.wide != nil {
		a += c.wide.offset(c.lane)
	}
	return a
}

// setVector writes a vector to operand i. If the operand is in memory, it writes only as many low
// bytes of the vector as the instruction stores.
func (c *CPU) setVector(i int, v Vector) {
	if c.failed {
		return
	}
	if n := xmm(c.in.Args[i]); n >= 0 {
		if c.wide != nil {
			c.result[c.lane] = v
			return
		}
		c.X[n][0] = v
		c.know(n)
		return
	}
	switch a := c.vectorAddress(i); c.in.MemBytes {
	case 16:
		c.store(a, 8, v[0])
		c.store(a+8, 8, v[1])
	case 1, 2, 4, 8:
		c.store(a, c.in.MemBytes, v[0])
	default:
		c.fail()
	}
}

// moveVector executes MOVAPS and its relatives, which copy a whole vector.
func (c *CPU) moveVector() { c.setVector(0, c.vector(1)) }

// isMemory reports whether operand i is in memory.
func (c *CPU) isMemory(i int) bool {
	_, ok := c.in.Args[i].(x86asm.Mem)
	return ok
}

// moveScalar returns the operation of MOVSS and MOVSD, which move a number of size bytes. A load
// from memory clears the other bytes of the vector register, a move between registers keeps them.
func moveScalar(size int) func(*CPU) {
	return func(c *CPU) {
		v := c.vector(1)
		if !c.isMemory(0) && !c.isMemory(1) {
			old := c.vector(0)
			v = Vector{old[0]&^mask(size) | v[0]&mask(size), old[1]}
		}
		c.setVector(0, v)
	}
}

// moveInteger executes MOVD and MOVQ, between any kinds of operands.
func (c *CPU) moveInteger() {
	size := 8
	if c.in.Op == x86asm.MOVD {
		size = 4
		for _, a := range c.in.Args[:2] {
			if r, ok := a.(x86asm.Reg); ok {
				if _, n, _ := register(r); n == 8 {
					size = 8
				}
			}
		}
	}
	var v uint64
	if xmm(c.in.Args[1]) >= 0 {
		v = c.vector(1)[0] & mask(size)
	} else {
		v = c.get(1)
	}
	if xmm(c.in.Args[0]) >= 0 {
		c.setVector(0, Vector{v})
	} else {
		c.set(0, v)
	}
}

// moveHalf returns the operation of MOVHPS or MOVLPS. half is the number of the register's half
// that is moved.
func moveHalf(half int) func(*CPU) {
	return func(c *CPU) {
		if c.isMemory(0) {
			v := c.vector(1)
			c.setVector(0, Vector{v[half]})
			return
		}
		v := c.vector(0)
		v[half] = c.vector(1)[0]
		c.setVector(0, v)
	}
}

// pairwise returns the operation of an instruction that sets its first operand to the result of f
// for both vectors.
func pairwise(f func(a, b Vector) Vector) func(*CPU) {
	return func(c *CPU) { c.setVector(0, f(c.vector(0), c.vector(1))) }
}

// lanes returns an operation that computes f of each pair of elements of two vectors.
func lanes(size int, f func(a, b uint64) uint64) func(*CPU) {
	return pairwise(func(a, b Vector) Vector { return eachLane(size, a, b, f) })
}

func eachLane(size int, a, b Vector, f func(a, b uint64) uint64) (v Vector) {
	m := mask(size)
	for half := range v {
		for shift := 0; shift < 64; shift += 8 * size {
			v[half] |= f(a[half]>>shift&m, b[half]>>shift&m) & m << shift
		}
	}
	return v
}

// lowest returns an operation that computes f of the lowest elements of two vectors. The other
// elements of the first vector stay.
func lowest(size int, f func(a, b uint64) uint64) func(*CPU) {
	m := mask(size)
	return pairwise(func(a, b Vector) Vector {
		a[0] = a[0]&^m | f(a[0]&m, b[0]&m)&m
		return a
	})
}

// double64 and single convert a function of floating-point numbers to a function of their bits.
func double64(f func(a, b float64) float64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b)))
	}
}

func single(f func(a, b float32) float32) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return uint64(math.Float32bits(f(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)))))
	}
}

// floats adds the operations for the four forms of an instruction: sd and ss change the lowest
// element, pd and ps all elements. sd and pd work with double precision, ss and ps with single
// precision.
func floats(sd, ss, pd, ps x86asm.Op, f64 func(a, b float64) float64, f32 func(a, b float32) float32) {
	operations[sd], operations[ss] = lowest(8, double64(f64)), lowest(4, single(f32))
	operations[pd], operations[ps] = lanes(8, double64(f64)), lanes(4, single(f32))
}

// compareNumbers sets the flags to the result of comparing two floating-point numbers, as UCOMISD
// does.
func (c *CPU) compareNumbers(a, b float64) {
	c.flag(arithmetic, false)
	switch {
	case a != a || b != b:
		c.flag(zero|parity|carry, true)
	case a < b:
		c.flag(carry, true)
	case a == b:
		c.flag(zero, true)
	}
}

func float32At(v Vector) float64 { return float64(math.Float32frombits(uint32(v[0]))) }
func float64At(v Vector) float64 { return math.Float64frombits(v[0]) }

// comparison reports whether two numbers satisfy the predicate of CMPSD or a similar instruction,
// for example "less than". predicate is its number in the instruction.
func comparison(predicate uint64, a, b float64) bool {
	unordered := a != a || b != b
	var r bool
	switch predicate & 3 {
	case 0:
		r = a == b
	case 1:
		r = a < b
	case 2:
		r = a <= b
	case 3:
		r = unordered
	}
	return r != (predicate&4 != 0)
}

// compareLanes returns the operation of CMPPD and its relatives, which compare numbers of size
// bytes: all elements of two vectors, or without all only the lowest.
func compareLanes(size int, all bool) func(*CPU) {
	return func(c *CPU) {
		predicate := c.get(2)
		f := func(a, b uint64) uint64 {
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			if size == 4 {
				x, y = float32At(Vector{a}), float32At(Vector{b})
			}
			if comparison(predicate, x, y) {
				return ^uint64(0)
			}
			return 0
		}
		if all {
			lanes(size, f)(c)
		} else {
			lowest(size, f)(c)
		}
	}
}

// toInteger returns the operation of CVTSD2SI and its relatives, which convert a floating-point
// number to an integer in a general register. from reads the number from a vector, and round rounds
// it.
func toInteger(from func(Vector) float64, round func(float64) float64) func(*CPU) {
	return func(c *CPU) {
		size, v := c.size(0), round(from(c.vector(1)))
		limit := math.Ldexp(1, 8*size-1)
		if v != v || v >= limit || v < -limit {
			c.set(0, top(size))
			return
		}
		c.set(0, uint64(int64(v)))
	}
}

// setLowest converts an integer to a floating-point number of size bytes, and sets the lowest
// element of the first operand to it.
func setLowest[T int64 | uint64](c *CPU, size int, from T) {
	v := c.vector(0)
	if size == 8 {
		v[0] = math.Float64bits(float64(from))
	} else {
		v[0] = v[0]&^mask(4) | uint64(math.Float32bits(float32(from)))
	}
	c.setVector(0, v)
}

// fromInteger returns a function that executes CVTSI2SD or CVTSI2SS: it converts an integer to a
// floating-point number of size bytes.
func fromInteger(size int) func(*CPU) {
	return func(c *CPU) {
		setLowest(c, size, int64(extend(c.get(1), c.size(1))))
	}
}

// unpack returns the operation of PUNPCKL or PUNPCKH, which interleaves the elements of one half of
// two vectors.
func unpack(size, half int) func(*CPU) {
	return pairwise(func(a, b Vector) (v Vector) {
		n := 8 / size
		for i := range n {
			v.Put(size, 2*i, a.Get(size, n*half+i))
			v.Put(size, 2*i+1, b.Get(size, n*half+i))
		}
		return v
	})
}

// shuffle returns the operation of PSHUFD, or of SHUFPS if two is set: its first two elements come
// from the first operand.
func shuffle(two bool) func(*CPU) {
	return func(c *CPU) {
		from, high, by, v := c.vector(1), c.vector(1), int(c.get(2)), Vector{}
		if two {
			from = c.vector(0)
		}
		for i := range 4 {
			if i == 2 {
				from = high
			}
			v.Put(4, i, from.Get(4, by>>(2*i)&3))
		}
		c.setVector(0, v)
	}
}

// shuffleWords returns a function that executes PSHUFLW or PSHUFHW: it rearranges the elements of 2
// bytes in one half of a vector. half is the number of this half.
func shuffleWords(half int) func(*CPU) {
	return func(c *CPU) {
		from, by := c.vector(1), int(c.get(2))
		v := from
		for i := range 4 {
			v.Put(2, 4*half+i, from.Get(2, 4*half+by>>(2*i)&3))
		}
		c.setVector(0, v)
	}
}

func (c *CPU) shuffleDoubles() {
	a, b, by := c.vector(0), c.vector(1), c.get(2)
	c.setVector(0, Vector{a[by&1], b[by>>1&1]})
}

// signs returns a function that executes PMOVMSKB or a relative of it: it collects the signs of all
// elements, of size bytes, of a vector in a general register.
func signs(size int) func(*CPU) {
	return func(c *CPU) {
		v, r := c.vector(1), uint64(0)
		for i := range 16 / size {
			r |= v.Get(size, i) >> (8*size - 1) << i
		}
		if c.wide != nil { // later Vectors add theirs
			c.sum |= r << (c.lane * 16 / size)
			r = c.sum
		}
		c.set(0, r)
	}
}

// shiftLanes returns an operation that shifts all elements by an immediate or by a number in a
// vector.
func shiftLanes(size int, f func(v uint64, n int) uint64) func(*CPU) {
	return func(c *CPU) {
		var n uint64
		if i, ok := c.in.Args[1].(x86asm.Imm); ok {
			n = uint64(i) & 0xff
		} else {
			n = c.vector(1)[0]
		}
		a := c.vector(0)
		c.setVector(0, eachLane(size, a, a, func(v, _ uint64) uint64 { return f(v, int(min(n, 64))) }))
	}
}

// shiftBytes returns a function that executes PSLLDQ or PSRLDQ: it shifts a whole vector by some
// bytes, to the left or right.
func shiftBytes(left bool) func(*CPU) {
	return func(c *CPU) {
		v, n := bytesOf(c.vector(0)), int(min(c.get(1)&0xff, 16))
		var r [16]byte
		if left {
			copy(r[n:], v[:16-n])
		} else {
			copy(r[:], v[n:])
		}
		c.setVector(0, vectorOf(r))
	}
}

// align executes PALIGNR, which takes 16 adjacent bytes out of two concatenated vectors.
func (c *CPU) align() {
	a, b, n := bytesOf(c.vector(0)), bytesOf(c.vector(1)), int(c.get(2)&0xff)
	var both [48]byte
	copy(both[:], b[:])
	copy(both[16:], a[:])
	c.setVector(0, vectorOf([16]byte(both[min(n, 32):])))
}

func (c *CPU) shuffleBytes() {
	a, b := bytesOf(c.vector(0)), bytesOf(c.vector(1))
	var r [16]byte
	for i, by := range b {
		if by&0x80 == 0 {
			r[i] = a[by&15]
		}
	}
	c.setVector(0, vectorOf(r))
}

func all(on bool) uint64 {
	if on {
		return ^uint64(0)
	}
	return 0
}

// signed returns an operation that computes f of each pair of elements of two vectors. f gets the
// elements, of size bytes, as signed numbers.
func signed(size int, f func(a, b int64) uint64) func(*CPU) {
	return lanes(size, func(a, b uint64) uint64 { return f(int64(extend(a, size)), int64(extend(b, size))) })
}

// widen returns a function that executes PMOVZX or PMOVSX: it extends the low elements of a vector
// to a larger size, with their signs if signed is set. from and to are the old and the new size in
// bytes.
func widen(from, to int, signed bool) func(*CPU) {
	return func(c *CPU) {
		v, r := c.vector(1), Vector{}
		for i := range 16 / to {
			e := v.Get(from, i)
			if signed {
				e = extend(e, from)
			}
			r.Put(to, i, e)
		}
		c.setVector(0, r)
	}
}

func moveOperations() {
	for _, op := range []x86asm.Op{x86asm.MOVAPS, x86asm.MOVUPS, x86asm.MOVAPD, x86asm.MOVUPD, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.LDDQU, x86asm.MOVNTDQ, x86asm.MOVNTPS, x86asm.MOVNTPD} {
		operations[op] = (*CPU).moveVector
	}
	operations[x86asm.MOVSD_XMM], operations[x86asm.MOVSS] = moveScalar(8), moveScalar(4)
	operations[x86asm.MOVD], operations[x86asm.MOVQ] = (*CPU).moveInteger, (*CPU).moveInteger
	operations[x86asm.MOVHPS], operations[x86asm.MOVHPD] = moveHalf(1), moveHalf(1)
	operations[x86asm.MOVLPS], operations[x86asm.MOVLPD] = moveHalf(0), moveHalf(0)
	operations[x86asm.MOVLHPS] = pairwise(func(a, b Vector) Vector { return Vector{a[0], b[0]} })
	operations[x86asm.MOVHLPS] = pairwise(func(a, b Vector) Vector { return Vector{b[1], a[1]} })
	operations[x86asm.MOVDDUP] = pairwise(func(_, b Vector) Vector { return Vector{b[0], b[0]} })
}

func floatOperations() {
	floats(x86asm.ADDSD, x86asm.ADDSS, x86asm.ADDPD, x86asm.ADDPS, func(a, b float64) float64 { return a + b }, func(a, b float32) float32 { return a + b })
	floats(x86asm.SUBSD, x86asm.SUBSS, x86asm.SUBPD, x86asm.SUBPS, func(a, b float64) float64 { return a - b }, func(a, b float32) float32 { return a - b })
	floats(x86asm.MULSD, x86asm.MULSS, x86asm.MULPD, x86asm.MULPS, func(a, b float64) float64 { return a * b }, func(a, b float32) float32 { return a * b })
	floats(x86asm.DIVSD, x86asm.DIVSS, x86asm.DIVPD, x86asm.DIVPS, func(a, b float64) float64 { return a / b }, func(a, b float32) float32 { return a / b })
	floats(x86asm.SQRTSD, x86asm.SQRTSS, x86asm.SQRTPD, x86asm.SQRTPS, func(_, b float64) float64 { return math.Sqrt(b) },
		func(_, b float32) float32 { return float32(math.Sqrt(float64(b))) })
	floats(x86asm.MINSD, x86asm.MINSS, x86asm.MINPD, x86asm.MINPS, smaller[float64], smaller[float32])
	floats(x86asm.MAXSD, x86asm.MAXSS, x86asm.MAXPD, x86asm.MAXPS, larger[float64], larger[float32])
	for _, op := range []x86asm.Op{x86asm.UCOMISD, x86asm.COMISD} {
		operations[op] = func(c *CPU) { c.compareNumbers(float64At(c.vector(0)), float64At(c.vector(1))) }
	}
	for _, op := range []x86asm.Op{x86asm.UCOMISS, x86asm.COMISS} {
		operations[op] = func(c *CPU) { c.compareNumbers(float32At(c.vector(0)), float32At(c.vector(1))) }
	}
	operations[x86asm.CMPSD_XMM], operations[x86asm.CMPSS] = compareLanes(8, false), compareLanes(4, false)
	operations[x86asm.CMPPD], operations[x86asm.CMPPS] = compareLanes(8, true), compareLanes(4, true)
	operations[x86asm.CVTTSD2SI], operations[x86asm.CVTTSS2SI] = toInteger(float64At, math.Trunc), toInteger(float32At, math.Trunc)
	operations[x86asm.CVTSD2SI], operations[x86asm.CVTSS2SI] = toInteger(float64At, math.RoundToEven), toInteger(float32At, math.RoundToEven)
	operations[x86asm.CVTSI2SD], operations[x86asm.CVTSI2SS] = fromInteger(8), fromInteger(4)
	operations[x86asm.CVTSS2SD] = lowest(8, func(_, b uint64) uint64 { return math.Float64bits(float32At(Vector{b})) })
	operations[x86asm.CVTSD2SS] = pairwise(func(a, b Vector) Vector {
		return Vector{a[0]&^mask(4) | uint64(math.Float32bits(float32(float64At(b)))), a[1]}
	})
	operations[x86asm.CVTPS2PD] = pairwise(func(_, b Vector) Vector {
		return Vector{math.Float64bits(float32At(b)), math.Float64bits(float32At(Vector{b[0] >> 32}))}
	})
	operations[x86asm.CVTDQ2PD] = pairwise(func(_, b Vector) Vector {
		return Vector{math.Float64bits(float64(int32(b[0]))), math.Float64bits(float64(int32(b[0] >> 32)))}
	})
	operations[x86asm.CVTDQ2PS] = lanes(4, func(_, b uint64) uint64 { return uint64(math.Float32bits(float32(int32(b)))) })
}

// smaller and larger return the second number if one of the two is a NaN.
func smaller[T float32 | float64](a, b T) T {
	if a < b {
		return a
	}
	return b
}

func larger[T float32 | float64](a, b T) T {
	if a > b {
		return a
	}
	return b
}

func laneOperations() {
	for _, ops := range [][]x86asm.Op{
		{x86asm.PADDB, x86asm.PSUBB, x86asm.PCMPEQB}, {x86asm.PADDW, x86asm.PSUBW, x86asm.PCMPEQW},
		{x86asm.PADDD, x86asm.PSUBD, x86asm.PCMPEQD}, {x86asm.PADDQ, x86asm.PSUBQ, x86asm.PCMPEQQ},
	} {
		size := map[x86asm.Op]int{x86asm.PADDB: 1, x86asm.PADDW: 2, x86asm.PADDD: 4, x86asm.PADDQ: 8}[ops[0]]
		operations[ops[0]] = lanes(size, func(a, b uint64) uint64 { return a + b })
		operations[ops[1]] = lanes(size, func(a, b uint64) uint64 { return a - b })
		operations[ops[2]] = lanes(size, func(a, b uint64) uint64 { return all(a == b) })
	}
	greater := func(a, b int64) uint64 { return all(a > b) }
	for op, f := range map[x86asm.Op]func(*CPU){
		x86asm.PCMPGTB: signed(1, greater), x86asm.PCMPGTW: signed(2, greater), x86asm.PCMPGTD: signed(4, greater), x86asm.PCMPGTQ: signed(8, greater),
		x86asm.PMINSW: signed(2, smallest), x86asm.PMAXSW: signed(2, greatest), x86asm.PMINSD: signed(4, smallest), x86asm.PMAXSD: signed(4, greatest),
		x86asm.PMINUB: lanes(1, least), x86asm.PMAXUB: lanes(1, most),
		x86asm.PMINUD: lanes(4, least), x86asm.PMAXUD: lanes(4, most),
		x86asm.PSUBUSB: lanes(1, func(a, b uint64) uint64 { return a - min(a, b) }), x86asm.PADDUSB: lanes(1, func(a, b uint64) uint64 { return min(a+b, 255) }),
		x86asm.PAVGB: lanes(1, func(a, b uint64) uint64 { return (a + b + 1) >> 1 }), x86asm.PAVGW: lanes(2, func(a, b uint64) uint64 { return (a + b + 1) >> 1 }),
		x86asm.PMULLW: lanes(2, func(a, b uint64) uint64 { return a * b }), x86asm.PMULLD: lanes(4, func(a, b uint64) uint64 { return a * b }),
		x86asm.PMULHUW: lanes(2, func(a, b uint64) uint64 { return a * b >> 16 }),
		x86asm.PMULHW:  signed(2, func(a, b int64) uint64 { return uint64(a * b >> 16) }),
		x86asm.PMULUDQ: lanes(8, func(a, b uint64) uint64 { return a & mask(4) * (b & mask(4)) }),
		x86asm.PMADDWD: lanes(4, func(a, b uint64) uint64 {
			return uint64(int64(int16(a))*int64(int16(b)) + int64(int16(a>>16))*int64(int16(b>>16)))
		}),
		x86asm.PSADBW: lanes(8, func(a, b uint64) (sum uint64) {
			for i := 0; i < 64; i += 8 {
				x, y := a>>i&0xff, b>>i&0xff
				sum += max(x, y) - min(x, y)
			}
			return sum
		}),
	} {
		operations[op] = f
	}
}

func vectorOperations() {
	moveOperations()
	floatOperations()
	laneOperations()
	for op, f := range map[x86asm.Op]func(a, b uint64) uint64{
		x86asm.PXOR: xor, x86asm.XORPS: xor, x86asm.XORPD: xor, x86asm.PAND: and, x86asm.ANDPS: and, x86asm.ANDPD: and,
		x86asm.POR: or, x86asm.ORPS: or, x86asm.ORPD: or, x86asm.PANDN: andNot, x86asm.ANDNPS: andNot, x86asm.ANDNPD: andNot,
	} {
		operation, clears := lanes(8, f), f(1, 1) == 0 && f(2, 2) == 0
		operations[op] = func(c *CPU) {
			operation(c)
			if clears && c.sameSources() {
				c.tainted = false // the result is 0
			}
		}
	}
	for op, f := range map[x86asm.Op]func(*CPU){
		x86asm.PUNPCKLBW: unpack(1, 0), x86asm.PUNPCKLWD: unpack(2, 0), x86asm.PUNPCKLDQ: unpack(4, 0), x86asm.PUNPCKLQDQ: unpack(8, 0),
		x86asm.PUNPCKHBW: unpack(1, 1), x86asm.PUNPCKHWD: unpack(2, 1), x86asm.PUNPCKHDQ: unpack(4, 1), x86asm.PUNPCKHQDQ: unpack(8, 1),
		x86asm.UNPCKLPS: unpack(4, 0), x86asm.UNPCKLPD: unpack(8, 0), x86asm.UNPCKHPS: unpack(4, 1), x86asm.UNPCKHPD: unpack(8, 1),
		x86asm.PSHUFD: shuffle(false), x86asm.SHUFPS: shuffle(true), x86asm.SHUFPD: (*CPU).shuffleDoubles,
		x86asm.PSHUFLW: shuffleWords(0), x86asm.PSHUFHW: shuffleWords(1), x86asm.PSHUFB: (*CPU).shuffleBytes, x86asm.PALIGNR: (*CPU).align,
		x86asm.PMOVMSKB: signs(1), x86asm.MOVMSKPS: signs(4), x86asm.MOVMSKPD: signs(8),
		x86asm.PSLLDQ: shiftBytes(true), x86asm.PSRLDQ: shiftBytes(false),
		x86asm.PMOVZXBW: widen(1, 2, false), x86asm.PMOVZXBD: widen(1, 4, false), x86asm.PMOVZXWD: widen(2, 4, false), x86asm.PMOVZXDQ: widen(4, 8, false),
		x86asm.PMOVSXBW: widen(1, 2, true), x86asm.PMOVSXBD: widen(1, 4, true), x86asm.PMOVSXWD: widen(2, 4, true), x86asm.PMOVSXDQ: widen(4, 8, true),
		x86asm.PSLLW: shiftLanes(2, shiftLeft), x86asm.PSLLD: shiftLanes(4, shiftLeft), x86asm.PSLLQ: shiftLanes(8, shiftLeft),
		x86asm.PSRLW: shiftLanes(2, shiftRight), x86asm.PSRLD: shiftLanes(4, shiftRight), x86asm.PSRLQ: shiftLanes(8, shiftRight),
		x86asm.PSRAW: shiftLanes(2, func(v uint64, n int) uint64 { return uint64(int64(extend(v, 2)) >> n) }),
		x86asm.PSRAD: shiftLanes(4, func(v uint64, n int) uint64 { return uint64(int64(extend(v, 4)) >> n) }),
		x86asm.PTEST: func(c *CPU) {
			a, b, before := c.vector(0), c.vector(1), uint64(zero|carry)
			if c.lane > 0 {
				before = c.Flags
			}
			c.flag(arithmetic, false)
			c.flag(zero, a[0]&b[0] == 0 && a[1]&b[1] == 0 && before&zero != 0)
			c.flag(carry, ^a[0]&b[0] == 0 && ^a[1]&b[1] == 0 && before&carry != 0)
		},
		x86asm.PACKUSWB: pack(2, 0, 255), x86asm.PACKSSWB: pack(2, -128, 127), x86asm.PACKSSDW: pack(4, -32768, 32767), x86asm.PACKUSDW: pack(4, 0, 65535),
		x86asm.PINSRB: insertElement(1), x86asm.PINSRW: insertElement(2), x86asm.PINSRD: insertElement(4), x86asm.PINSRQ: insertElement(8),
		x86asm.PEXTRB: extractElement(1), x86asm.PEXTRW: extractElement(2), x86asm.PEXTRD: extractElement(4), x86asm.PEXTRQ: extractElement(8),
	} {
		operations[op] = f
	}
}

// sameSources reports whether both source operands of an instruction are the same register.
func (c *CPU) sameSources() bool {
	if c.wide != nil {
		return c.wide.source == c.wide.rm && !c.isMemory(1)
	}
	return c.in.Args[0] == c.in.Args[1]
}

func xor(a, b uint64) uint64            { return a ^ b }
func and(a, b uint64) uint64            { return a & b }
func or(a, b uint64) uint64             { return a | b }
func andNot(a, b uint64) uint64         { return ^a & b }
func least(a, b uint64) uint64          { return min(a, b) }
func most(a, b uint64) uint64           { return max(a, b) }
func smallest(a, b int64) uint64        { return uint64(min(a, b)) }
func greatest(a, b int64) uint64        { return uint64(max(a, b)) }
func shiftLeft(v uint64, n int) uint64  { return v << n }
func shiftRight(v uint64, n int) uint64 { return v >> n }
