package program

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIDSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	var set IDSet
	truth := make(map[ID]bool)
	assert.False(t, set.Has(0))
	for range 20_000 {
		id := ID(r.Uint32())
		if r.IntN(2) == 0 {
			id = ID(r.IntN(10_000))
		}
		require.Equal(t, truth[id], set.Has(id))
		require.Equal(t, !truth[id], set.Add(id))
		truth[id] = true
		require.True(t, set.Has(id))
	}
}
