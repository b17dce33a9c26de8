package arm64

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// The address and the size of the memory for tests. Code and data are in the middle of this memory,
// so that all distances of loads and stores stay within it.
const (
	memoryStart = 0x10_000_000
	memorySize  = 1 << 20
	codeAddress = memoryStart + memorySize/2
	dataAddress = codeAddress + 0x4000
)

// A state is everything that an instruction can change: the registers, and the words of 8 bytes in
// the memory for tests.
type state struct {
	x          [32]uint64
	sp, pc     uint64
	flags      uint64
	v          [32]Vector
	memory     map[uint64]uint64 // words that differ from content
	unknownV   uint32
	unknownMem bool
}

// content returns the initial value of the word at an address, which is a multiple of 8, in the
// memory for tests.
func content(address uint64) uint64 {
	v := (address + 1) * 0x9e3779b97f4a7c15
	return v ^ v>>29
}

// values lists numbers at which the behaviour of instructions changes, such as the smallest and the
// largest ones.
var values = []uint64{
	0, 1, ^uint64(0), 1 << 63, 1<<63 - 1, 1 << 31, 1<<31 - 1, 0xffffffff, 0x80, 0x7f, 31, 32, 63, 64,
	math.Float64bits(1.5), math.Float64bits(-2.5), math.Float64bits(math.Inf(1)), math.Float64bits(math.NaN()), 0x7ff0000000000001,
	math.Float64bits(1e300), math.Float64bits(5e-324), math.Float64bits(1e10 / 3), math.Float64bits(-0.75), 1 << 63,
	0x3f800000_c0200000, 0x7f800000_ff800000, 0x7fc00000_7f800001, 0x00000001_80000000, 0x4b3ebc20_3e99999a, 0x42f6e979_c2f6e979,
}

// value returns a random number for a register. It is often one of values.
func value(random *rand.Rand) uint64 {
	switch random.IntN(4) {
	case 0:
		return values[random.IntN(len(values))]
	case 1:
		return uint64(random.IntN(70))
	case 2:
		return math.Float64bits(float64(random.Int32()) / 64)
	}
	return random.Uint64()
}

// newState returns random registers for an instruction. Registers that the instruction uses as
// addresses point into the memory for tests.
func newState(w word, seed uint64) *state {
	random := rand.New(rand.NewPCG(seed, 0))
	s := &state{pc: codeAddress, sp: dataAddress, flags: uint64(random.Uint32()) & arithmetic}
	for n := range zeroOrStack {
		s.x[n] = value(random)
	}
	for n := range s.v {
		s.v[n] = Vector{value(random), value(random)}
	}
	address := uint64(dataAddress + 16*random.IntN(16))
	isSystem := w>>22 == 0x354
	switch {
	case isSystem && w.rd() != zeroOrStack:
		s.x[w.rd()] = address
	case w.usesMemory():
		if w.isSingle() || w.field(24, 6) == 0xd {
			s.x[w.rm()] = uint64(random.IntN(64)) * 16
		}
		if w.rn() != zeroOrStack {
			s.x[w.rn()] = address
		}
	}
	s.x[zeroOrStack] = 0
	return s
}

// randomWord returns a random instruction that matches the pattern.
func (p *pattern) randomWord(random *rand.Rand) word {
	w := word(random.Uint32())&^p.mask | p.value
	if random.IntN(2) == 0 { // 64 bits, or 128 of a vector
		w |= ^p.mask & (1<<31 | 1<<30)
	}
	if w.isLiteral() && w.usesMemory() {
		w = w&^(0x7fff<<9) | p.value
	}
	return w
}

// allPatterns returns all patterns, each once.
func allPatterns() (list []pattern) {
	known := make(map[string]bool)
	for _, class := range classes() {
		for _, p := range class {
			if !known[p.text] {
				known[p.text] = true
				list = append(list, p)
			}
		}
	}
	return list
}

// cpu returns a CPU in this state, whose next instruction is w.
func (s *state) cpu(w word) *CPU {
	c := &CPU{ZeroBlock: 4}
	c.X, c.SP, c.IP, c.Flags, c.V = s.x, s.sp, s.pc, s.flags, s.v
	c.Memory.Constant = func(uint64) *simulate.Page { return nil }
	c.Memory.Read = func(a uint64, to []byte) int {
		if a < memoryStart || a >= memoryStart+memorySize {
			return 0
		}
		for at := 0; at < len(to); at += 8 {
			binary.LittleEndian.PutUint64(to[at:], content(a+uint64(at)))
		}
		if in := s.pc - a; in < simulate.PageSize {
			binary.LittleEndian.PutUint32(to[in:], uint32(w))
		}
		return len(to)
	}
	c.Memory.Reset()
	return c
}

// simulated returns the state after the simulation of an instruction, and whether it could be
// simulated.
func (s *state) simulated(w word) (*state, bool) {
	c := s.cpu(w)
	in := c.Decode()
	if in == nil || !c.Execute(in) {
		return nil, false
	}
	after := &state{x: c.X, sp: c.SP, pc: c.IP, flags: c.Flags, v: c.V, unknownV: c.unknown}
	after.memory = make(map[uint64]uint64)
	for _, page := range c.Memory.Used(nil) {
		var now [simulate.PageSize]byte
		c.Memory.Bytes(page, now[:])
		after.setPage(page, now[:])
		after.unknownMem = after.unknownMem || c.Memory.IsUnknown(page, simulate.PageSize)
	}
	return after, true
}

// setPage stores the words of a page that differ from what the function content returns. now has
// the bytes of the page.
func (s *state) setPage(page uint64, now []byte) {
	for at := 0; at < len(now); at += 8 {
		address := page + uint64(at)
		if v := binary.LittleEndian.Uint64(now[at:]); v != content(address) && address != codeAddress {
			s.memory[address] = v
		}
	}
}

// changes returns the differences between this state and the state after an instruction, as text.
// It omits registers and words that are unknown in the simulation.
func (s *state) changes(after, simulation *state) string {
	var b strings.Builder
	for n := range s.x {
		if after.x[n] != s.x[n] {
			fmt.Fprintf(&b, " x%d=%x", n, after.x[n])
		}
	}
	if after.sp != s.sp {
		fmt.Fprintf(&b, " sp=%x", after.sp)
	}
	if after.pc != s.pc+4 {
		fmt.Fprintf(&b, " pc=%x", after.pc)
	}
	if after.flags != s.flags {
		fmt.Fprintf(&b, " flags=%x", after.flags>>28)
	}
	for n := range s.v {
		if simulation.unknownV>>n&1 != 0 {
			fmt.Fprintf(&b, " v%d=?", n)
		} else if after.v[n] != s.v[n] {
			fmt.Fprintf(&b, " v%d=%x,%x", n, after.v[n][0], after.v[n][1])
		}
	}
	for _, address := range slices.Sorted(mapKeys(after.memory)) {
		if !simulation.unknownMem {
			fmt.Fprintf(&b, " [%x]=%x", address, after.memory[address])
		}
	}
	return strings.TrimSpace(b.String())
}

func mapKeys(m map[uint64]uint64) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// wordsFile is a file with instructions, and the changes that an Arm processor makes when it
// executes them. TestWordsOnProcessor writes the file with the flag -update, on such a processor.
const wordsFile = "testdata/words.txt"

// Simulating the instructions in wordsFile gives the changes that the file contains.
func TestWords(t *testing.T) {
	file, err := os.Open(wordsFile)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		var w, seed uint64
		text, want, _ := strings.Cut(lines.Text(), ":")
		_, err := fmt.Sscanf(text, "%x %d", &w, &seed)
		require.NoError(t, err, lines.Text())
		before := newState(word(w), seed)
		after, ok := before.simulated(word(w))
		if assert.True(t, ok, "%08x", w) {
			assert.Equal(t, strings.TrimSpace(want), before.changes(after, after), "%08x with %d", w, seed)
		}
	}
	require.NoError(t, lines.Err())
	assert.Greater(t, n, 500)
}

// The text of each pattern describes 32 bits.
func TestPatterns(t *testing.T) {
	for _, p := range allPatterns() {
		assert.Len(t, strings.ReplaceAll(p.text, " ", ""), 32, p.text)
		assert.Subset(t, []rune("01. "), []rune(p.text))
	}
}

// FuzzWord simulates random instructions, which must not panic.
func FuzzWord(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, p := range allPatterns() {
		f.Add(uint32(p.randomWord(random)), uint64(1))
	}
	f.Fuzz(func(_ *testing.T, code uint32, seed uint64) {
		newState(word(code), seed).simulated(word(code))
	})
}

func TestNoPanic(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 30_000 {
		w := word(random.Uint32())
		newState(w, random.Uint64()).simulated(w)
	}
	for _, p := range allPatterns() {
		for range 100 {
			w := p.randomWord(random)
			newState(w, random.Uint64()).simulated(w)
		}
	}
}
