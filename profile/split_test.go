package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestSplitAndMerge splits profiles and merges the parts again, in any order.
func TestSplitAndMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for range testenv.Rounds(30, 300) {
		p := randomProfile(rng)
		p.AddUnit("nothing.c")
		want := spell(p)
		var parts []*Profile
		for f, part := range p.Split() {
			require.Equal(t, len(parts), int(f))
			require.Equal(t, p.UnitPath(f), part.UnitPath(part.AddUnit(p.UnitPath(f))))
			for s := range part.Functions() {
				require.Equal(t, p.UnitPath(f), part.UnitPath(part.SymbolUnit(s)), "a function of another unit")
			}
			used, _ := part.used()
			for s, is := range used {
				require.True(t, is || part.UnitPath(part.SymbolUnit(SymbolRef(s))) == p.UnitPath(f), "a symbol that is not needed")
			}
			parts = append(parts, part)
		}
		require.Equal(t, want, spell(p), "p has changed")
		got := New()
		for _, i := range rng.Perm(len(parts)) {
			got.Merge(parts[i])
		}
		require.NoError(t, Compare(p, got))
		require.Equal(t, want, spell(got))
		require.Equal(t, p.NumSymbols(), got.NumSymbols())
		require.Equal(t, p.NumUnits(), got.NumUnits())
	}
}

func TestSplitStops(t *testing.T) {
	p := New()
	p.AddUnit("a.c")
	p.AddUnit("b.c")
	n := 0
	for range p.Split() {
		if n++; n == 2 {
			break
		}
	}
	assert.Equal(t, 2, n)
}
