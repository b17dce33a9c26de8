package arm64

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// load returns a CPU whose next instructions are the given code.
func load(t *testing.T, code ...word) *CPU {
	t.Helper()
	s := newState(0, 0)
	s.x, s.v, s.flags = [32]uint64{}, [32]Vector{}, 0
	c := s.cpu(0)
	for i, w := range code {
		require.True(t, c.Memory.Store(c.IP+uint64(4*i), 4, uint64(w)))
	}
	return c
}

// run simulates n instructions, and reports whether all of them could be simulated.
func run(c *CPU, n int) bool {
	for range n {
		if in := c.Decode(); in == nil || !c.Execute(in) {
			return false
		}
	}
	return true
}

func TestInteger(t *testing.T) {
	for _, test := range []struct {
		text        string
		word        word
		x1, x2      uint64
		want, flags uint64
	}{
		{"add x0, x1, x2", 0x8b020020, 1, math.MaxUint64, 0, 0},
		{"adds x0, x1, x2", 0xab020020, 1, math.MaxUint64, 0, zero | carry},
		{"adds w0, w1, w2", 0x2b020020, math.MaxInt32, 1, 1 << 31, negative | overflow},
		{"subs x0, x1, x2", 0xeb020020, 3, 5, ^uint64(1), negative},
		{"sub w0, w1, #0x1000", 0x51400420, 0, 0, 0xfffff000, 0},
		{"and x0, x1, #0xff00", 0x92781c20, 0x12345, 0, 0x2300, 0},
		{"movz x0, #0x1234, lsl #16", 0xd2a24680, 0, 0, 0x12340000, 0},
		{"ubfx x0, x1, #4, #8", 0xd3442c20, 0xabcde, 0, 0xcd, 0},
		{"sxtb w0, w1", 0x13001c20, 0x80, 0, 0xffffff80, 0},
		{"extr x0, x1, x2, #8", 0x93c22020, 0xff, 0x1200, 0xff00000000000012, 0},
		{"sdiv w0, w1, w2", 0x1ac20c20, 1 << 31, 0xffffffff, 1 << 31, 0},
		{"udiv x0, x1, x2", 0x9ac20820, 7, 0, 0, 0},
		{"smulh x0, x1, x2", 0x9b427c20, ^uint64(0), 2, ^uint64(0), 0},
		{"clz w0, w1", 0x5ac01020, 0, 0, 32, 0},
		{"rbit x0, x1", 0xdac00020, 1, 0, 1 << 63, 0},
		{"csinc x0, x1, x2, eq", 0x9a820420, 5, 7, 8, 0},
		{"crc32cb w0, w1, w2", 0x1ac25020, 0xffffffff, 'a', 0x3e2fbccf, 0},
	} {
		c := load(t, test.word)
		c.X[1], c.X[2] = test.x1, test.x2
		require.True(t, run(c, 1), test.text)
		assert.Equal(t, []uint64{test.want, test.flags}, []uint64{c.X[0], c.Flags}, test.text)
	}
}

// In the simulation, an exclusive store always succeeds, so the loop of an atomic operation ends.
func TestExclusive(t *testing.T) {
	c := load(t, 0xc85f7c01, 0x91000421, 0xc8027c01, 0x35ffffa2) // ldxr x1, [x0]; add x1, x1, #1; stxr w2, x1, [x0]; cbnz w2
	start := c.IP
	c.X[0], c.X[2] = dataAddress, 7
	require.True(t, run(c, 4))
	v, _ := c.Memory.Load(dataAddress, 8)
	assert.Equal(t, []uint64{start + 16, 0, content(dataAddress) + 1}, []uint64{c.IP, c.X[2], v})
}

// The simulation may copy unknown data. It ends at an instruction whose address or branch depends
// on unknown data.
func TestUnknown(t *testing.T) {
	c := load(t, 0x4e284820, 0x3c810400, 0x4ea11c22, 0x3cdf0003, 0x9e660060) // aese; str; mov; ldur; fmov x0, d3
	c.X[0] = dataAddress
	require.True(t, run(c, 3))
	assert.Equal(t, uint64(dataAddress+16), c.X[0], "the address is known")
	assert.EqualValues(t, 1, c.unknown)
	require.True(t, run(c, 1))
	assert.EqualValues(t, 1|1<<3, c.unknown)
	assert.False(t, run(c, 1), "from memory into a register")

	c = load(t, 0x1e602020) // fcmp d1, d0
	c.unknown = 1
	assert.False(t, run(c, 1))
	c = load(t, 0x1e622820) // fadd d0, d1, d2
	c.Mode = 1 << 24
	require.True(t, run(c, 1))
	assert.EqualValues(t, 1, c.unknown, "denormal numbers are flushed to zero")
}

// Execute returns false for instructions that cannot be simulated.
func TestEnds(t *testing.T) {
	for text, w := range map[string]word{
		"svc #0": 0xd4000001, "brk #0": 0xd4200000, "wfi": 0xd503207f, "udf": 0, "mrs x0, cntvct_el0": 0xd53be040,
		"ptrue p0.b": 0x2518e3e0, "ldg x0, [x1]": 0xd9600020, "fmov x0, d0 of half precision": 0x9ee60000,
	} {
		assert.False(t, run(load(t, w), 1), text)
	}
}

// Instructions that check the signature of a return address remove it.
func TestSignature(t *testing.T) {
	const signature = 0x7f << 48
	c := load(t, 0xd50323bf, 0xd65f03c0) // autiasp; ret
	c.Signature, c.X[linkRegister] = signature, 0x2a<<48|0x401000
	require.True(t, run(c, 2))
	assert.EqualValues(t, 0x401000, c.IP)

	c = load(t, 0xd65f0bff) // retaa
	c.Signature, c.X[linkRegister] = signature, 0x15<<48|0x401000
	require.True(t, run(c, 1))
	assert.EqualValues(t, 0x401000, c.IP)
}

// A call of a C library function through a procedure linkage table is recognised, simulated, and
// returns to the caller.
func TestCall(t *testing.T) {
	c := load(t, 0xd61f0220) // br x17
	c.X[16] = dataAddress
	require.EqualValues(t, dataAddress, c.Slot(c.Decode()))
	c.X[0], c.X[1], c.X[2], c.X[linkRegister] = dataAddress, dataAddress+64, 32, 0x401000
	require.True(t, c.Call("memcpy"))
	v, _ := c.Memory.Load(dataAddress+8, 8)
	assert.Equal(t, []uint64{dataAddress, 0x401000, content(dataAddress + 72)}, []uint64{c.X[0], c.IP, v})

	c.V[0] = Vector{math.Float64bits(2.5), 9}
	require.True(t, c.Call("floor"))
	assert.Equal(t, Vector{math.Float64bits(2)}, c.V[0])
	assert.False(t, c.Call("malloc"))
	c = load(t, 0xd61f0200) // br x16
	assert.Zero(t, c.Slot(c.Decode()))
}

// TouchesZeros returns true for a next instruction that uses a page of zeros, also if the
// instruction changes its base register.
func TestTouchesZeros(t *testing.T) {
	c := load(t, 0xf8408c20, 0xf8410420, 0xd503201f) // ldr x0, [x1, #8]!; ldr x0, [x1], #16; nop
	read := c.Memory.Read
	c.Memory.Read = func(address uint64, to []byte) int {
		if address == dataAddress {
			return simulate.PageSize
		}
		return read(address, to)
	}
	c.X[1] = dataAddress - 8
	assert.True(t, c.TouchesZeros())
	require.True(t, run(c, 1))
	assert.True(t, c.TouchesZeros())
	require.True(t, run(c, 1))
	assert.False(t, c.TouchesZeros())
}

// Instructions in a page that does not change are decoded once.
func TestKeptInstructions(t *testing.T) {
	code := make([]byte, simulate.PageSize)
	binary.LittleEndian.PutUint32(code, 0x17ffffff) // b .-4
	binary.LittleEndian.PutUint32(code[4:], 0x17ffffff)
	page := simulate.NewPage(code)
	c := load(t)
	c.Memory.Reset()
	c.Memory.Constant = func(uint64) *simulate.Page { return page }
	c.IP += 4
	first := c.Decode()
	assert.Same(t, first, c.Decode())
	require.True(t, run(c, 1))
	assert.NotSame(t, first, c.Decode())
	assert.Equal(t, 2, c.Kept)
}
