package profile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// scale multiplies all counts of n. Keys of inlined bodies have no count.
func (n naiveProfile) scale(r Ratio) {
	for _, f := range n {
		f.head.HeadCount = bigRatio(r, f.head.HeadCount)
		for key, count := range f.body {
			f.body[key] = bigRatio(r, count)
		}
		f.functions = f.functions && (f.head.HeadCount > 0 || f.head.Timestamp > 0 || len(f.body) > 0)
	}
}

func TestMergeScaledAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	for range testenv.Rounds(80, 800) {
		p, q, weight := randomProfile(rng), randomProfile(rng), randomRatio(rng)
		want, before, scaled := spell(p), spell(q), spell(q)
		scaled.scale(weight)
		want.merge(scaled)
		p.MergeScaled(q, weight)
		require.Equal(t, want, spell(p))
		require.Equal(t, before, spell(q))
		for _, f := range p.Functions() {
			requireCanonical(t, f.Records)
		}
	}
}

// TestWholeWeightDistributes checks that scaling a sum by an integer gives the same profile as
// scaling each input.
func TestWholeWeightDistributes(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	for range testenv.Rounds(30, 300) {
		p, q, weight := randomProfile(rng), randomProfile(rng), Ratio{1 + rng.Uint64N(5), 1}
		apart, together := New(), New()
		apart.MergeScaled(p, weight)
		apart.MergeScaled(q, weight)
		together.MergeScaled(merged(p, q), weight)
		require.NoError(t, Compare(apart, together))
	}
}

func TestMergeScaledDropsWhatIsNothing(t *testing.T) {
	p, q := New(), New()
	f := q.AddSymbol(q.AddUnit("a.c"), "f")
	g := q.AddSymbol(UnknownUnit, "g")
	q.AddFunction(f, Function{HeadCount: 1})
	q.AddFunction(g, Function{HeadCount: math.MaxUint64, Timestamp: 5, Records: []Record{{Line: 1, Count: 1}}})
	p.MergeScaled(q, Ratio{1, 3})
	assert.Nil(t, p.Function(f))
	assert.Equal(t, &Function{HeadCount: math.MaxUint64 / 3, Timestamp: 5, Records: []Record{{Line: 1}}}, p.Function(g))
	assert.Equal(t, 2, p.NumSymbols())
}
