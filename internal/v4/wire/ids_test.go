package wire

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An IDTable returns the same numbers as a map, for IDs anywhere in 32 bits. Its memory is
// proportional to the number of IDs.
func TestIDTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func(i int) uint32{
		"ascending":  func(i int) uint32 { return uint32(i) },
		"descending": func(i int) uint32 { return uint32(20_000 - i) },
		"anywhere":   func(int) uint32 { return rng.Uint32() },
		"clusters":   func(int) uint32 { return rng.Uint32N(3)<<30 + rng.Uint32N(30_000) },
		"last":       func(i int) uint32 { return math.MaxUint32 - uint32(i) },
	} {
		t.Run(name, func(t *testing.T) {
			var ids IDTable
			want := make(map[uint32]uint32)
			for i := range 20_000 {
				id := draw(i)
				number, ok := ids.Find(id)
				there, known := want[id]
				require.Equal(t, known, ok)
				if ok {
					require.Equal(t, there, number)
					continue
				}
				ids.Add(id, uint32(i))
				want[id] = uint32(i)
			}
			for id, number := range want {
				got, ok := ids.Find(id)
				require.True(t, ok)
				require.Equal(t, number, got)
			}
			assert.LessOrEqual(t, len(ids.dense), max(denseShare*len(want), 2*firstDense))
		})
	}
}
