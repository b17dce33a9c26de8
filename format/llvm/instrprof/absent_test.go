package instrprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestDamagedBuckets damages the buckets and chains of a hash table. A lookup of a function that
// Records yields must find it or report the damage, but never report that there is no such
// function.
func TestDamagedBuckets(t *testing.T) {
	data := manyFunctions(t, 300)
	table := int(le.Uint64(data[32:]))
	buckets := int(le.Uint64(data[table:]))
	rng := rand.New(rand.NewPCG(3, 5))
	for round := range testenv.Rounds(80, 400) {
		damaged := bytes.Clone(data)
		bucket := table + 16 + 8*rng.IntN(buckets)
		other := table + 16 + 8*rng.IntN(buckets)
		switch round % 4 {
		case 0:
			le.PutUint64(damaged[bucket:], 0)
		case 1:
			copy(damaged[bucket:bucket+8], data[other:])
		case 2:
			damaged[bucket+rng.IntN(3)] ^= byte(1 + rng.IntN(255))
		case 3: // one of the items of a chain is no longer counted
			if at := le.Uint64(data[bucket:]); at != 0 {
				le.PutUint16(damaged[at:], le.Uint16(damaged[at:])-1)
			}
		}
		lookUpAll(t, damaged, fmt.Sprint(round))
	}
}

// TestOtherNumberOfBuckets replaces the number of buckets by another power of two, so that only
// some buckets lead to their functions. A lookup must still not report that a function does not
// exist.
func TestOtherNumberOfBuckets(t *testing.T) {
	data := manyFunctions(t, 300)
	table := int(le.Uint64(data[32:]))
	for buckets := le.Uint64(data[table:]) / 2; buckets > 0; buckets /= 2 {
		damaged := bytes.Clone(data)
		le.PutUint64(damaged[table:], buckets)
		lookUpAll(t, damaged, fmt.Sprint(buckets))
	}
}

// lookUpAll looks up each function that Records yields, by name and by hash. None of these lookups
// may return afdo.ErrNotFound.
func lookUpAll(t *testing.T, data []byte, name string) {
	t.Helper()
	r, err := instrprof.OpenBytes(data)
	if err != nil {
		return
	}
	for rec, err := range r.Records() {
		if err != nil {
			return
		}
		_, err := r.Function(rec.Name())
		require.False(t, errors.Is(err, afdo.ErrNotFound), "%s: %v", name, err)
		_, err = r.Name(instrprof.NameHash(rec.Name()))
		require.False(t, errors.Is(err, afdo.ErrNotFound), "%s: %v", name, err)
	}
}

// TestAbsentReadsLittle checks that the lookup of a missing function reads little more than a
// successful lookup.
func TestAbsentReadsLittle(t *testing.T) {
	data := manyFunctions(t, 20_000)
	src := &counting{ReaderAt: bytes.NewReader(data)}
	r, err := instrprof.NewReader(src, int64(len(data)))
	require.NoError(t, err)
	for i := range 50 {
		src.bytes, src.calls = 0, 0
		_, err := r.Function(fmt.Sprintf("none_%d", i))
		require.ErrorIs(t, err, afdo.ErrNotFound)
		require.LessOrEqual(t, src.bytes, 8+2*8*64+6*1024)
		require.LessOrEqual(t, src.calls, 9)
	}
}
