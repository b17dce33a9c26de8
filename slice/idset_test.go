package slice

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIDSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	var set idSet
	truth := make(map[symbolID]bool)
	assert.False(t, set.has(0))
	for range 20_000 {
		id := symbolID(r.Uint32())
		if r.IntN(2) == 0 {
			id = symbolID(r.IntN(10_000))
		}
		require.Equal(t, truth[id], set.has(id))
		require.Equal(t, !truth[id], set.add(id))
		truth[id] = true
		require.True(t, set.has(id))
	}
}
