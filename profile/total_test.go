package profile

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func bigTotal(t total) *big.Int {
	n := new(big.Int).SetUint64(t.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(t.lo))
}

func randomTotal(rng *rand.Rand) total {
	t := total{lo: randomCount(rng)}
	if rng.IntN(3) == 0 {
		t.hi = randomCount(rng) >> 1
	}
	return t
}

func TestTotalAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range testenv.Rounds(2_000, 20_000) {
		x, y, z := randomTotal(rng), randomTotal(rng), randomTotal(rng)
		w := randomTotal(rng)
		if rng.IntN(4) == 0 { // the same share
			z, w = x, y
		}
		a, b, c, d := bigTotal(x), bigTotal(y), bigTotal(z), bigTotal(w)
		require.Equal(t, a.Cmp(b), x.compare(y))
		require.Equal(t, new(big.Int).Mul(a, d).Cmp(new(big.Int).Mul(c, b)), compareShares(x, y, z, w))
		upper, lower := x.times(y)
		product := new(big.Int).Lsh(bigTotal(upper), 128)
		require.Equal(t, new(big.Int).Mul(a, b), product.Add(product, bigTotal(lower)))
		require.Equal(t, saturated(a), x.saturated())
		if b.Sign() > 0 {
			want, _ := new(big.Rat).SetFrac(a, b).Float64()
			require.InEpsilon(t, 1+want, 1+x.shareOf(y), 1e-12)
		}
		sum := x
		sum.add(y)
		require.Equal(t, new(big.Int).Add(a, b), bigTotal(sum))
	}
	assert.Equal(t, 0.0, total{lo: 1}.shareOf(total{}))
	assert.Equal(t, 1.0, total{3, 7}.shareOf(total{3, 7}))
}
