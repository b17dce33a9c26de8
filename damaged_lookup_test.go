package afdo

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// In a damaged file, each unit and symbol that iterating over the file yields is also found by its
// name, path and ID.
func TestLookupsOfMutants(t *testing.T) {
	whole, n := 0, testenv.Mutants()
	r := rand.New(rand.NewPCG(30, 1))
	o := gen.All()
	o.LongNames, o.Deep, o.Gaps, o.Trailing, o.NoUnknownUnit = false, false, false, false, false
	var data []byte
	for i := range n {
		if i%20 == 0 {
			data, _ = gen.Random(r, o)
		}
		if lookUpAll(t, gen.Damage(r, data, 8)) {
			whole++
		}
	}
	t.Logf("%d of %d can be walked", whole, n)
	require.Positive(t, whole)
}
