package samples_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
)

// Traces returns the traces that were added to a Set, with the sums of their counts.
func TestStacksOfBoth(t *testing.T) {
	list := []samples.Trace{
		{At: 5, Branches: []samples.Branch{{From: 1, To: 2}}},
		{At: samples.Elsewhere, Calls: []uint64{7, samples.Elsewhere, 0}, Branches: []samples.Branch{{From: samples.Elsewhere, To: 2}, {From: math.MaxInt64, To: 1 << 63}}},
	}
	part, sum := new(samples.Set), new(samples.Set)
	for i, trace := range list {
		part.AddTrace(trace, uint64(i)+1)
	}
	sum.Merge(part)
	sum.Merge(part)
	require.Equal(t, 2, sum.NumTraces())
	for trace, n := range sum.Traces() {
		i := slices.IndexFunc(list, func(other samples.Trace) bool { return other.At == trace.At })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, list[i], trace)
		assert.Equal(t, uint64(2*i+2), n)
	}
}

// With Options.Contexts, each sample with both a call stack and a branch stack becomes a trace.
func TestTracesOfPerfScript(t *testing.T) {
	b := binary(t, "lbr/propeller_sample_1.bin.gen")
	const text = "\t1800\n\t1810\n\tffffffff\n 0x1800/0x1810/P/-/-/0  0x1/0x2/P/-/-/0\n\n"
	for _, wanted := range []bool{false, true} {
		s, _, err := samples.Read(strings.NewReader(text), b, samples.Options{HasBase: true, Contexts: wanted})
		require.NoError(t, err)
		if !wanted {
			require.Zero(t, s.NumTraces())
			continue
		}
		for trace := range s.Traces() {
			assert.Equal(t, samples.Trace{
				At: 0x800, Calls: []uint64{samples.Elsewhere, 0x80f}, Branches: []samples.Branch{{From: 0x800, To: 0x810}},
			}, trace)
		}
		require.Equal(t, 1, s.NumTraces())
	}
}
