package instrprof_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestLookupsOfMutants damages indexed profiles at random. Looking up a record that Records yields
// must return the same record or an error about the damage.
func TestLookupsOfMutants(t *testing.T) {
	files := [][]byte{manyFunctions(t, 12)}
	for _, s := range zoo {
		files = append(files, read(t, zooDir, s.name+".profdata"))
	}
	same, n := 0, testenv.Mutants()
	rng := rand.New(rand.NewPCG(30, 3))
	for i := range n {
		same += lookUpSame(t, gen.Damage(rng, files[i%len(files)], 8))
	}
	t.Logf("%d records of %d files are found again", same, n)
	require.Positive(t, same)
}

// lookUpSame looks up each record that Records yields, and returns the number of records found.
func lookUpSame(t *testing.T, data []byte) (same int) {
	t.Helper()
	r, err := instrprof.OpenBytes(data)
	if err != nil {
		return 0
	}
	list, _ := walked(t, data)
	for _, want := range list {
		rec, err := r.Record(want.Name, want.Hash)
		require.False(t, errors.Is(err, afdo.ErrNotFound), "%v", err)
		if err != nil {
			require.True(t, isOurs(err), "%v", err)
			continue
		}
		found := plainOf(rec)
		if !alone(list, want) { // one of several
			require.Equal(t, want.Name, found.Name)
			continue
		}
		require.Equal(t, want, found)
		same++
	}
	return same
}

// alone reports whether a list has only one record with the name and hash of want.
func alone(list []plain, want plain) bool {
	n := 0
	for _, p := range list {
		if p.Name == want.Name && p.Hash == want.Hash {
			n++
		}
	}
	return n == 1
}
