package fleet

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

func rat(num, den uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
}

// TestWeightAgainstFloats compares weights with those that the formula gives in floating point.
func TestWeightAgainstFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		in := Input{
			Weight: profile.Ratio{Num: 1 + rng.Uint64N(1000), Den: 1 + rng.Uint64N(1000)},
			Time:   noon.Add(-time.Duration(rng.Int64N(int64(40 * 24 * time.Hour)))),
		}
		r := Rules{
			Scale:    profile.Ratio{Num: 1 + rng.Uint64N(100), Den: 1 + rng.Uint64N(100)},
			HalfLife: time.Duration(1 + rng.Int64N(int64(30*24*time.Hour))),
			AsOf:     noon,
		}
		exponent := float64(noon.Sub(in.Time)) / float64(r.HalfLife)
		if exponent > 20 {
			continue
		}
		want := float64(in.Weight.Num) / float64(in.Weight.Den) * float64(r.Scale.Num) / float64(r.Scale.Den) * math.Exp2(-exponent)
		got, err := r.Weight(&in)
		require.NoError(t, err)
		require.InEpsilon(t, want, float64(got.Num)/float64(got.Den), 1e-12, "%v %v", in, r)
	}
}

func TestWeight(t *testing.T) {
	const day = 24 * time.Hour
	ratio := func(num, den uint64) profile.Ratio { return profile.Ratio{Num: num, Den: den} }
	for _, c := range []struct {
		in    profile.Ratio
		age   time.Duration
		rules Rules
		want  profile.Ratio
	}{
		{rules: Rules{}, age: 50 * day, want: one},
		{rules: Rules{Scale: ratio(1000, 1)}, in: ratio(3, 4), want: ratio(750, 1)},
		{rules: Rules{HalfLife: 7 * day}, age: 7 * day, want: ratio(1, 2)},
		{rules: Rules{HalfLife: 7 * day}, age: 70 * day, in: ratio(1024, 1), want: one},
		{rules: Rules{HalfLife: 7 * day}, age: 0, want: one},
		{rules: Rules{HalfLife: 7 * day}, age: -7 * day, want: one}, // from a clock that is ahead
		{rules: Rules{HalfLife: 1}, age: 63, want: ratio(1, 1<<63)},
		{rules: Rules{HalfLife: 1}, age: 65, want: ratio(0, 1<<63)},
		{rules: Rules{HalfLife: 1}, age: math.MaxInt64, want: ratio(0, 1<<63)},
		{rules: Rules{HalfLife: 1}, age: 100, in: ratio(math.MaxUint64, 1), want: ratio(1<<27, 1<<63)},
		{rules: Rules{Scale: ratio(math.MaxUint64, 1)}, in: ratio(3, 1), want: ratio(math.MaxUint64, 1)},
	} {
		c.rules.AsOf = noon
		got, err := c.rules.Weight(&Input{Weight: c.in, Time: noon.Add(-c.age)})
		require.NoError(t, err)
		assert.Zero(t, rat(c.want.Num, c.want.Den).Cmp(rat(got.Num, got.Den)), "%v: %v", c, got)
	}
	_, err := (&Rules{HalfLife: day}).Weight(&Input{Path: "x"})
	assert.ErrorIs(t, err, ErrNoTime)
}

// TestDecayIsExact compares all digits of decay's result with a root of a power of two.
func TestDecayIsExact(t *testing.T) {
	for _, n := range []int64{3, 7, 1000, 86400} {
		for age := int64(1); age < n; age += 1 + n/7 {
			num, den := decay(time.Duration(age), time.Duration(n))
			// (num/den)^n is 2^-age.
			power := new(big.Float).SetPrec(4000).SetMantExp(big.NewFloat(1), 0)
			x := new(big.Float).SetPrec(4000).SetRat(new(big.Rat).SetFrac(num, den))
			for range n {
				power.Mul(power, x)
			}
			want := new(big.Float).SetMantExp(big.NewFloat(1), int(-age))
			relative, _ := new(big.Float).Quo(power, want).Float64()
			assert.InDelta(t, 1, relative, float64(n)*1e-17+1e-15, "%d/%d", age, n)
		}
	}
}

func TestGroups(t *testing.T) {
	inputs := []Input{{Host: "a"}, {}, {Host: "b"}, {Host: "a"}, {}, {Host: "b"}}
	assert.Equal(t, [][]int{{0}, {1}, {2}, {3}, {4}, {5}}, (&Rules{}).Groups(inputs))
	assert.Equal(t, [][]int{{0, 3}, {1}, {2, 5}, {4}}, (&Rules{HostCap: 1}).Groups(inputs))
}

func TestCap(t *testing.T) {
	p := profile.New()
	f := p.AddSymbol(p.AddUnit("a.c"), "f")
	var b profile.Body
	b.Count(1, 0, 60)
	b.Call(1, 0, f, 1000)
	b.Enter(2, 0, f)
	b.Count(1, 0, 40)
	b.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 5000, Records: b.Records()})
	assert.Equal(t, one, (&Rules{}).Cap(p))
	assert.Equal(t, one, (&Rules{HostCap: 100}).Cap(p))
	assert.Equal(t, profile.Ratio{Num: 99, Den: 100}, (&Rules{HostCap: 99}).Cap(p))
	b.Count(3, 0, math.MaxUint64)
	p.AddFunction(f, profile.Function{Records: b.Records()})
	assert.Equal(t, profile.Ratio{Num: 99, Den: math.MaxUint64}, (&Rules{HostCap: 99}).Cap(p))
}
