package cdsort

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A callee comes after its caller, and functions that run often come first.
func TestOrder(t *testing.T) {
	functions := []Function{{1000, 1}, {100, 1000}, {100, 1}, {100, 1000}, {100, 0}}
	order := Order(functions, []Call{{1, 3, 50, 1000}, {0, 2, 10, 1}})
	assert.Equal(t, []int{1, 3, 2, 0, 4}, order[:5])
}

// The order is a permutation and always the same, whatever the calls are.
func TestRandom(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		functions := make([]Function, 1+r.IntN(400))
		for i := range functions {
			functions[i] = Function{r.Uint64N(1000), r.Uint64N(50)}
		}
		var calls []Call
		for range r.IntN(2000) {
			calls = append(calls, Call{r.IntN(len(functions)), r.IntN(len(functions)), r.Uint64N(100), r.Uint64N(50)})
		}
		order := Order(functions, calls)
		require.Equal(t, order, Order(functions, calls))
		for i, f := range slices.Sorted(slices.Values(order)) {
			require.Equal(t, i, f)
		}
		require.Len(t, order, len(functions))
	}
	assert.Empty(t, Order(nil, nil))
}
