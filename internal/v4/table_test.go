package v4

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fast check of a section table with entries of fixed width accepts a table exactly if no
// section is empty, each begins after the end of the one before, and all are within the file.
func TestWide(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 8))
	accepted := 0
	for range 20_000 {
		limit := []uint64{0, 1, 100, 1<<63 - 1}[random.IntN(4)]
		edges := []uint64{0, 1, 2, limit - 1, limit, limit + 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 2, 1<<64 - 1}
		s := orderScan{limit: limit, end: random.Uint64N(3)}
		end, want, n := s.end, true, random.IntN(4)
		for range n {
			off, size := end, edges[random.IntN(len(edges))]
			if random.IntN(4) == 0 {
				off = edges[random.IntN(len(edges))]
			}
			s.data = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(s.data, off), size)
			want = want && size > 0 && off >= end && off <= limit && size <= limit-off
			end = off + size
		}
		if n == 0 {
			continue
		}
		require.Equal(t, want, s.wide(n), "limit %d: %x", limit, s.data)
		if want {
			require.Equal(t, end, s.end)
			accepted++
		}
	}
	require.Greater(t, accepted, 100)
}
