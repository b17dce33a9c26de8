package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// remembering returns a profile of one unit with two functions, the first of which has marks.
func remembering(m Marks, sum uint32) *Profile {
	p := New()
	unit := p.AddUnit("a.c")
	first, second := p.AddSymbol(unit, "first"), p.AddSymbol(unit, "second")
	for _, s := range []SymbolRef{first, second} {
		p.AddFunction(s, Function{HeadCount: 1, Records: []Record{{Kind: KindCount, Line: 1, Count: 5}}})
	}
	p.SetMarks(first, m)
	p.SetUnitSum(unit, sum)
	return p
}

func marksOf(t *testing.T, p *Profile, name string) Marks {
	unit, err := p.UnitBySuffix("a.c")
	require.NoError(t, err)
	s, ok := p.FindSymbol(unit, name)
	require.True(t, ok)
	return p.Marks(s)
}

// TestMarksOfMerge checks that a merge keeps marks that are equal in both profiles or only in one,
// for any grouping.
func TestMarksOfMerge(t *testing.T) {
	one, same, other := remembering(Marks{1, 2}, 7), remembering(Marks{1, 2}, 7), remembering(Marks{1, 3}, 8)
	none := remembering(nil, 0)
	sum := New()
	for _, p := range []*Profile{one, same, none} {
		sum.Merge(p)
	}
	assert.Equal(t, Marks{1, 2}, marksOf(t, sum, "first"))
	assert.Nil(t, marksOf(t, sum, "second"))
	sum.Merge(other)
	assert.Equal(t, Marks{}, marksOf(t, sum, "first"), "of several states")
	assert.Zero(t, sum.UnitSum(1))
	sum.Merge(one)
	assert.Equal(t, Marks{}, marksOf(t, sum, "first"), "they stay of several states")
}

// TestMarksStay checks that functions that derive a profile from another keep the marks.
func TestMarksStay(t *testing.T) {
	p := remembering(Marks{1, 2}, 7)
	first, _ := p.FindSymbol(1, "first")
	kept, _ := p.KeepFunctions(func(s SymbolRef) bool { return s == first })
	folded, _ := p.FoldInlined(0)
	split := New()
	for _, part := range p.Split() {
		split.Merge(part)
	}
	for name, q := range map[string]*Profile{"keep": kept, "fold": folded, "split": split} {
		assert.Equal(t, Marks{1, 2}, marksOf(t, q, "first"), name)
		assert.EqualValues(t, 7, q.UnitSum(1), name)
	}
}
