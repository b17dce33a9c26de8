package slice

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// TestCallersDeep selects a slice whose function is inlined in a function of another unit at each
// of many levels. The work must be proportional to the number of records, not to the lengths of the
// paths to them.
func TestCallersDeep(t *testing.T) {
	allocated := func(levels int) uint64 {
		p := profile.New()
		own := p.AddSymbol(p.AddUnit("own.cc"), "own")
		other := p.AddUnit("other.cc")
		outer, middle := p.AddSymbol(other, "outer"), p.AddSymbol(other, "middle")
		var b profile.Body
		for range levels {
			b.Enter(1, 0, own)
			b.Count(1, 0, 5)
			b.Leave()
			b.Enter(2, 0, middle)
		}
		b.Count(1, 0, 1)
		for range levels {
			b.Leave()
		}
		p.AddFunction(outer, profile.Function{HeadCount: 1, Records: b.Records()})
		program := FromProfile(p)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := program.Select(Request{Units: []string{"own.cc"}, Text: textOf("int own() {}"), Target: Version3})
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		total := uint64(0)
		for _, f := range s.Functions() {
			for _, r := range f.Records {
				if r.Kind == profile.KindCount {
					total += r.Count
				}
			}
		}
		require.Equal(t, 5*uint64(levels), total)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(2_000), allocated(8_000)
	assert.Less(t, many, 8*few)
}
