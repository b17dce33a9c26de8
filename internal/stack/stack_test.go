package stack

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Stack returns the same values as a slice, in any sequence of pushes and pops.
func TestStack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Stack[int]
	var want []int
	for run := range 40 {
		for range rng.IntN(3 * pageLen) {
			v := rng.Int()
			s.Push(v)
			want = append(want, v)
		}
		for range rng.IntN(len(want) + 1) {
			require.Equal(t, want[len(want)-1], *s.Top())
			require.Equal(t, want[len(want)-1], s.Pop())
			want = want[:len(want)-1]
		}
		require.Equal(t, len(want) == 0, s.Empty())
		if run%10 == 9 {
			s.Clear()
			want = want[:0]
			require.True(t, s.Empty())
		}
	}
	for len(want) > 0 {
		require.Equal(t, want[len(want)-1], s.Pop())
		want = want[:len(want)-1]
	}
	assert.True(t, s.Empty())
	assert.Panics(t, func() { s.Pop() })
}

func TestMemory(t *testing.T) {
	const n = 3_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var s Stack[uint64]
	for i := range uint64(n) {
		s.Push(i)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(9*n))
	assert.EqualValues(t, n-1, s.Pop())
}
