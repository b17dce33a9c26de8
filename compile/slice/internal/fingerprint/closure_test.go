package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/slicetest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// lookedAt returns the number of chains and sets of namesakes that the latest call of
// inlineClosure.total has visited.
func lookedAt(r *inlineClosure) (n int) {
	for _, rounds := range [][]uint32{r.entered, r.added} {
		for _, round := range rounds {
			if round == r.round {
				n++
			}
		}
	}
	return n
}

// looks returns how many chains and sets of namesakes are visited, in all, to compute the keys of
// all units.
func looks(r *inlineClosure, units int) (n int) {
	for unit := range units {
		r.total([]int{unit})
		n += lookedAt(r)
	}
	return n
}

// TestFingerprintsLook computes the keys of all units of real profiles. It must visit fewer chains
// and sets of namesakes than there are inlined functions.
func TestFingerprintsLook(t *testing.T) {
	for _, name := range []string{"keystore2.v3", "libgui.v3", "libart_arm.v3"} {
		t.Run(name, func(t *testing.T) {
			program := program.FromProfile(slicetest.Corpus(t, name))
			m, err := hashProgram(program, Options{Version: version2})
			require.NoError(t, err)
			inlined := 0
			for _, callees := range m.inlined {
				inlined += len(callees)
			}
			n := looks(newInlineClosure(m), program.Store.NumUnits())
			t.Logf("%d looks, %d functions inlined", n, inlined)
			assert.Less(t, n, inlined)
		})
	}
}

// TestFingerprintsScale computes the keys of all units of a profile, and of another one of twice
// the size. It must not read much more than twice as much of the second one, and must not visit
// many more than twice as many chains and sets of namesakes.
func TestFingerprintsScale(t *testing.T) {
	testenv.NeedSweep(t)
	const n = 2_000
	for shape, grow := range slicetest.Growing {
		for _, version := range []uint8{2, 3} {
			work := func(n int) int {
				p := profile.New()
				grow(p, n)
				source := &slicetest.Counted{Memory: program.NewMemory(p)}
				program := program.FromStore(source)
				_, err := OfUnits(program, Options{Version: version})
				require.NoError(t, err)
				asked := source.Asked
				m, err := hashProgram(program, Options{Version: version})
				require.NoError(t, err)
				return asked + looks(newInlineClosure(m), source.NumUnits())
			}
			once, twice := work(n), work(2*n)
			most := 2.3
			if shape == slicetest.WithoutChains { // see Fingerprints
				most = 3
			}
			assert.Less(t, float64(twice), most*float64(once), "%s, for version %d: %d and %d", shape, version, once, twice)
			assert.Less(t, once, 40*n, shape)
		}
	}
}
