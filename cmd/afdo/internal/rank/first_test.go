package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		all := make([]int, r.IntN(40))
		for i := range all {
			all[i] = r.IntN(20)
		}
		n := r.IntN(45)
		want := slices.Clone(all)
		slices.Sort(want)
		whole := slices.Clone(want)
		require.Equal(t, want[:min(n, len(want))], First(all, n, cmp.Compare[int]))
		slices.Sort(all)
		require.Equal(t, whole, all, "nothing is lost")
	}
}

// TestFirstCompares checks that First compares each element about once if it selects few of many,
// instead of sorting all.
func TestFirstCompares(t *testing.T) {
	const many = 100_000
	all := rand.New(rand.NewPCG(1, 2)).Perm(many)
	compares := 0
	First(all, 20, func(a, b int) int { compares++; return cmp.Compare(a, b) })
	require.Less(t, compares, many*11/10)
}
