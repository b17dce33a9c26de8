package index_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// For any damage to an index, with correct checksums, lookups return no symbol that walking the
// whole file does not find.
func TestLookupsOfMutants(t *testing.T) {
	leaving, n := 0, testenv.Mutants()
	r := rand.New(rand.NewPCG(30, 2))
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		for range n / 2 {
			l := layoutOf(truth, data)
			last := &l.Sections[len(l.Sections)-1]
			if last.Data = gen.Damage(r, last.Data, 0); len(last.Data) >= 5 && q.askLying(t, l) {
				leaving++
			}
		}
	}
	t.Logf("%d of %d leave something out", leaving, n)
	require.Positive(t, leaving)
}
