package saturating

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomCount returns a random number with any number of bits. It often returns 0 and the largest
// number.
func randomCount(rng *rand.Rand) uint64 {
	switch n := rng.Uint64() >> rng.UintN(64); rng.UintN(4) {
	case 0:
		return math.MaxUint64 - n
	case 1:
		return 0
	default:
		return n
	}
}

func TestAgainstBig(t *testing.T) {
	largest := new(big.Int).SetUint64(math.MaxUint64)
	saturated := func(x *big.Int) uint64 {
		if x.Cmp(largest) > 0 {
			return math.MaxUint64
		}
		return x.Uint64()
	}
	rng := rand.New(rand.NewPCG(25, 26))
	for range 10_000 {
		x, y := randomCount(rng), randomCount(rng)
		bigX, bigY := new(big.Int).SetUint64(x), new(big.Int).SetUint64(y)
		require.Equal(t, saturated(new(big.Int).Add(bigX, bigY)), Add(x, y))
		require.Equal(t, saturated(new(big.Int).Mul(bigX, bigY)), Mul(x, y))
	}
}
