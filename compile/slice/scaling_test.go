package slice

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/slicetest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestSelectScales selects the slice of a compile that uses one function, from a profile and from
// another one of twice the size. Select must not read much more than twice as much of the second
// one.
func TestSelectScales(t *testing.T) {
	n := testenv.Rounds(200, 2_000)
	text := textOf("void init() {} int main() { return 0; } struct A {};")
	for shape, grow := range slicetest.Growing {
		for _, target := range []Target{Version2, Version3} {
			work := func(n int) int {
				p := profile.New()
				grow(p, n)
				source := &slicetest.Counted{Memory: program.NewMemory(p)}
				program := &Program{whole: program.FromStore(source), common: new(commonNames)}
				q := Request{Text: text, Target: target}
				_, err := program.Select(q) // this one reads all names
				require.NoError(t, err)
				first := source.Asked
				const again = 10
				for range again {
					_, err = program.Select(q)
					require.NoError(t, err)
				}
				if shape != "static functions of one name" && shape != "lambdas" && shape != "clones" { // those the text may have
					assert.Less(t, (source.Asked-first)/again, 20, "%s: a slice of next to nothing", shape)
				}
				return source.Asked
			}
			once, twice := work(n), work(2*n)
			assert.Less(t, float64(twice), 2.3*float64(once), "%s, for version %d: %d and %d", shape, target, once, twice)
		}
	}
}
