package v4

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// coalesced calls coalesce with ranges given as pairs of offset and size.
func coalesced(parts [][2]int64, most int) (runs [][2]int64) {
	var extents []extent
	for _, p := range parts {
		extents = append(extents, extent{p[0], p[1]})
	}
	for _, e := range coalesce(extents, most) {
		runs = append(runs, [2]int64{e.off, e.size})
	}
	return runs
}

// Ranges that are close to each other are joined. Of the others, those with the smallest gaps are
// joined until at most the given number of ranges remains.
func TestCoalesce(t *testing.T) {
	const k, m = 1 << 10, 1 << 20
	for name, c := range map[string]struct {
		parts, want [][2]int64
		most        int
	}{
		"none":     {nil, nil, 3},
		"one":      {[][2]int64{{5, 7}}, [][2]int64{{5, 7}}, 3},
		"near":     {[][2]int64{{300 * k, k}, {0, 100 * k}}, [][2]int64{{0, 301 * k}}, 3},
		"far":      {[][2]int64{{0, k}, {m, k}, {3 * m, k}}, [][2]int64{{0, k}, {m, k}, {3 * m, k}}, 3},
		"too many": {[][2]int64{{0, k}, {m, k}, {3 * m, k}, {4 * m, k}, {6 * m, k}}, [][2]int64{{0, m + k}, {3 * m, m + k}, {6 * m, k}}, 3},
		"equal":    {[][2]int64{{0, k}, {m, k}, {2 * m, k}, {3 * m, k}}, [][2]int64{{0, 3*m + k}}, 3},
		"within":   {[][2]int64{{0, 100}, {10, 20}, {50, 100}}, [][2]int64{{0, 150}}, 3},
		"large":    {[][2]int64{{0, 20 * m}, {20 * m, 20 * m}}, [][2]int64{{0, 20 * m}, {20 * m, 20 * m}}, 1},
	} {
		require.Equal(t, c.want, coalesced(c.parts, c.most), name)
	}
}

// The joined ranges contain all given ranges, and are at most as many as allowed.
func TestCoalesceAny(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var parts [][2]int64
		for range rng.IntN(60) {
			parts = append(parts, [2]int64{rng.Int64N(30 << 20), 1 + rng.Int64N(20<<10)})
		}
		runs := coalesced(parts, 6)
		require.LessOrEqual(t, len(runs), 6)
		for _, p := range parts {
			found := 0
			for _, r := range runs {
				if r[0] <= p[0] && p[0]+p[1] <= r[0]+r[1] {
					found++
				}
			}
			require.Equal(t, 1, found)
		}
	}
}
