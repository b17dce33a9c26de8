package profile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A ratio with the denominator 0 leads to a panic or an error, not to wrong counts.
func TestRatioWithoutDenominator(t *testing.T) {
	q := New()
	q.AddFunction(q.AddSymbol(UnknownUnit, "f"), Function{HeadCount: 1})
	assert.PanicsWithValue(t, "profile: the ratio 1/0", func() { New().MergeScaled(q, Ratio{1, 0}) })
	assert.PanicsWithValue(t, "profile: the ratio 0/0", func() { Ratio{}.Of(1) })

	_, err := Sum(3, func(i int) (*Profile, Ratio, error) { return q, Ratio{1, uint64(i)}, nil })
	require.EqualError(t, err, "profile: input 0 has the weight 1/0")
	failure := errors.New("failure")
	_, err = Sum(1, func(int) (*Profile, Ratio, error) { return nil, Ratio{}, failure })
	require.ErrorIs(t, err, failure)
}
