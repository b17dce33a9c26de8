package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRatio(t *testing.T) {
	const want = ": want a number like 3, 0.5, 3/4 or 99.99%"
	for _, c := range []struct {
		text string
		want Ratio
		err  string
	}{
		{text: "1", want: Ratio{1, 1}},
		{text: "007", want: Ratio{7, 1}},
		{text: "18446744073709551615", want: Ratio{math.MaxUint64, 1}},
		{text: "0.5", want: Ratio{1, 2}},
		{text: "1.50", want: Ratio{3, 2}},
		{text: "2.0", want: Ratio{2, 1}},
		{text: "0.1000000000000000000000000000", want: Ratio{1, 10}},
		{text: "0.0000000000000000001", want: Ratio{1, 1e19}},
		{text: "3/4", want: Ratio{3, 4}},
		{text: "6/4", want: Ratio{3, 2}},
		{text: "18446744073709551615/18446744073709551615", want: Ratio{1, 1}},
		{text: "100%", want: Ratio{1, 1}},
		{text: "99.99%", want: Ratio{9999, 10000}},
		{text: "250%", want: Ratio{5, 2}},
		{text: "0.0000000000000001%", want: Ratio{1, 1e18}},

		{text: "0", err: `bad ratio "0": want more than 0`},
		{text: "0.00", err: `bad ratio "0.00": want more than 0`},
		{text: "0/3", err: `bad ratio "0/3": want more than 0`},
		{text: "", err: `bad ratio ""` + want},
		{text: "%", err: `bad ratio "%"` + want},
		{text: "-1", err: `bad ratio "-1"` + want},
		{text: "+1", err: `bad ratio "+1"` + want},
		{text: "1e3", err: `bad ratio "1e3"` + want},
		{text: "0x1", err: `bad ratio "0x1"` + want},
		{text: "1_0", err: `bad ratio "1_0"` + want},
		{text: " 1", err: `bad ratio " 1"` + want},
		{text: "1.", err: `bad ratio "1."` + want},
		{text: ".5", err: `bad ratio ".5"` + want},
		{text: "1.2.3", err: `bad ratio "1.2.3"` + want},
		{text: "1/0", err: `bad ratio "1/0"` + want},
		{text: "/", err: `bad ratio "/"` + want},
		{text: "1/2/3", err: `bad ratio "1/2/3"` + want},
		{text: "1/2%", err: `bad ratio "1/2%"` + want},
		{text: "1%%", err: `bad ratio "1%%"` + want},
		{text: "18446744073709551616", err: `bad ratio "18446744073709551616"` + want},
		{text: "0.00000000000000000001", err: `bad ratio "0.00000000000000000001"` + want},
		{text: "0.0000000000000000001%", err: `bad ratio "0.0000000000000000001%"` + want},
	} {
		got, err := ParseRatio(c.text)
		assert.Equal(t, c.want, got, "%q", c.text)
		if c.err == "" {
			assert.NoError(t, err, "%q", c.text)
		} else {
			assert.EqualError(t, err, c.err, "%q", c.text)
		}
	}
}

// bigRatio does the same as Ratio.Of, slowly, with integers of any size.
func bigRatio(r Ratio, count uint64) uint64 {
	product := new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den))
	product.Mul(product, new(big.Rat).SetInt(new(big.Int).SetUint64(count)))
	product.Add(product, big.NewRat(1, 2))
	return saturated(new(big.Int).Quo(product.Num(), product.Denom()))
}

func randomRatio(rng *rand.Rand) Ratio {
	switch rng.IntN(4) {
	case 0:
		return Ratio{1 + rng.Uint64N(10), 1}
	case 1:
		return Ratio{1 + rng.Uint64N(10), 1 + rng.Uint64N(10)}
	case 2:
		return Ratio{math.MaxUint64 - rng.Uint64N(3), math.MaxUint64 - rng.Uint64N(3)}
	default:
		return Ratio{max(randomCount(rng), 1), max(randomCount(rng), 1)}
	}
}

func TestRatioOfAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 20_000 {
		r, count := randomRatio(rng), randomCount(rng)
		require.Equal(t, bigRatio(r, count), r.Of(count), "%v of %d", r, count)
	}
	half := Ratio{1, 2}
	assert.Equal(t, []uint64{0, 1, 1, 2, 2}, []uint64{half.Of(0), half.Of(1), half.Of(2), half.Of(3), half.Of(4)})
}
