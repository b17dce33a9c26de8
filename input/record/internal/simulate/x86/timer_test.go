package x86

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// timeOf returns the estimated cycles for each round of a loop. The loop has 10 bytes of code
// before its end: dec %ecx; jnz.
func timeOf(t *testing.T, body ...byte) float64 {
	t.Helper()
	const rounds, code, data = 2000, 0x1000, 0x100000
	body = slices.Concat(body, slices.Repeat([]byte{0x90}, 10-len(body)), []byte{0xff, 0xc9, 0x75, 0xf2})
	c := CPU{Mode: 64}
	page := simulate.NewPage(slices.Concat(body, make([]byte, simulate.PageSize-len(body))))
	c.Memory.Constant = func(address uint64) *simulate.Page {
		if address == code {
			return page
		}
		return nil
	}
	seed := uint32(1)
	c.Memory.Read = func(_ uint64, to []byte) int {
		for i := 0; i < len(to); i += 4 {
			seed = seed*1664525 + 1013904223
			binary.LittleEndian.PutUint32(to[i:], seed>>16)
		}
		return len(to)
	}
	c.Memory.Reset()
	c.IP, c.R[0], c.R[1], c.R[3], c.R[6] = code, 1, rounds, 3, data
	c.Restart()
	for c.IP < code+uint64(len(body)) {
		require.True(t, c.Execute(c.Decode()))
	}
	return float64(c.Elapsed()) / 2 / rounds
}

// The timer knows what makes code slow: divisions, instructions that wait for each other, wrongly
// predicted jumps, and memory that is not in the cache.
func TestTimer(t *testing.T) {
	require.InDelta(t, 3.75, timeOf(t), 1, "nop")
	require.InDelta(t, 18, timeOf(t, 0x31, 0xd2, 0xf7, 0xf3, 0x83, 0xc0, 0x09), 4, "xor %edx, %edx; div %ebx; add $9, %eax")
	require.InDelta(t, 8, timeOf(t, 0xf2, 0x0f, 0x58, 0xc1, 0xf2, 0x0f, 0x58, 0xc1), 2, "addsd %xmm1, %xmm0, twice")
	require.InDelta(t, 7, timeOf(t, 0x8b, 0x16, 0x83, 0xe2, 0x00, 0x01, 0xd6), 2, "mov (%rsi), %edx; and $0, %edx; add %edx, %esi")
	require.InDelta(t, 3, timeOf(t, 0xf6, 0x06, 0x00, 0x75, 0x01, 0x90, 0x83, 0xc6, 0x04), 1, "testb $0, (%rsi); jnz; nop; add $4, %esi")
	require.InDelta(t, 10, timeOf(t, 0xf6, 0x06, 0x01, 0x75, 0x01, 0x90, 0x83, 0xc6, 0x04), 4, "testb $1, (%rsi); jnz; nop; add $4, %esi")
	require.InDelta(t, 27, timeOf(t, 0x8b, 0x16, 0x21, 0xca, 0x01, 0xd6, 0x83, 0xc6, 0x78), 4, "mov (%rsi), %edx; and %ecx, %edx; add %edx, %esi; add $120, %esi")
}
