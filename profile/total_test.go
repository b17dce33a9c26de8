package profile

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestSharesAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	number := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
	for range testenv.Rounds(2_000, 20_000) {
		a, b, c, d := randomCount(rng), randomCount(rng), randomCount(rng), randomCount(rng)
		if rng.IntN(4) == 0 { // the same share
			c, d = a, b
		}
		x, y := number(a), number(c)
		require.Equal(t, x.Mul(x, number(d)).Cmp(y.Mul(y, number(b))), compareShares(a, b, c, d))
	}
	assert.Equal(t, 0.0, shareOf(1, 0))
	assert.Equal(t, 1.0, shareOf(7, 7))
	assert.Equal(t, 0.25, shareOf(1, 4))
}
