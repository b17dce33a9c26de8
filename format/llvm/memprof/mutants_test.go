package memprof_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestLookupsOfMutants damages memory profiles at random. Looking up a record that Records yields
// must return the same record or an error about the damage.
func TestLookupsOfMutants(t *testing.T) {
	sections := samples(t)
	same, n := 0, testenv.Mutants()
	rng := rand.New(rand.NewPCG(30, 4))
	for i := range n {
		same += lookUpSame(t, gen.Damage(rng, sections[i%len(sections)], 8))
	}
	t.Logf("%d records of %d files are found again", same, n)
	require.Positive(t, same)
}

// lookUpSame looks up each record that Records yields, and returns the number of records found.
func lookUpSame(t *testing.T, data []byte) (same int) {
	t.Helper()
	r, err := memprof.OpenBytes(data, fuzzOffset)
	if err != nil {
		return 0
	}
	var list []memprof.Record
	times := make(map[uint64]int)
	for rec, err := range r.Records() {
		if err != nil {
			break
		}
		list = append(list, rec)
		times[rec.Function]++
	}
	for _, want := range list {
		found, err := r.Record(want.Function)
		require.False(t, errors.Is(err, afdo.ErrNotFound), "%v", err)
		if err != nil {
			isFault(t, err, data)
			continue
		}
		if times[want.Function] == 1 {
			require.Equal(t, want, found)
			same++
		}
	}
	return same
}
