package symtab

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallers compares the table with a list of all pairs that is sorted by comparing them. Many
// callees are equal in the bits by which Add finds repetitions.
func TestCallers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var table Callers[uint32]
		var want []uint64
		bits := r.IntN(33)
		id := func() uint32 { return (r.Uint32N(30) << (recentBits * r.IntN(3))) & uint32(1<<bits-1) }
		for range r.IntN(200) {
			caller := id()
			callees := make([]uint32, r.IntN(20))
			for i := range callees {
				callees[i] = id()
				want = append(want, uint64(callees[i])<<32|uint64(caller))
			}
			table.Add(caller, callees)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		table.Build()
		var got []uint64
		for callee, caller := range table.All() {
			got = append(got, uint64(callee)<<32|uint64(caller))
		}
		require.Equal(t, want, got)
	}
}

// TestCallersRepeated adds functions that inline a few others many times. Each pair is kept once
// before Build.
func TestCallersRepeated(t *testing.T) {
	var table Callers[uint32]
	for caller := range uint32(100) {
		for range 50 {
			table.Add(caller, []uint32{3, 5, 4, 3})
		}
	}
	require.Len(t, table.pairs, 300)
}
