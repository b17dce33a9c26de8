package memprof_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// TestDamagedBuckets damages the buckets of a hash table. A lookup of a record that Records yields
// must find it or report the damage, but never report that there is no such record.
func TestDamagedBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	p := randomProfile(rng, 60, memprof.DefaultSchema())
	data := sectionOf(t, p, 3)
	records := int(binary.LittleEndian.Uint64(data[24:])) - fuzzOffset // the record table
	buckets := int(binary.LittleEndian.Uint64(data[records:]))
	require.Greater(t, buckets, 32)
	caught := 0
	for round := range 300 {
		damaged := bytes.Clone(data)
		bucket := records + 16 + 8*rng.IntN(buckets)
		switch other := records + 16 + 8*rng.IntN(buckets); round % 3 {
		case 0:
			binary.LittleEndian.PutUint64(damaged[bucket:], 0)
		case 1:
			copy(damaged[bucket:bucket+8], data[other:])
		case 2:
			damaged[bucket+rng.IntN(2)] ^= byte(1 + rng.IntN(255))
		}
		r, err := memprof.OpenBytes(damaged, fuzzOffset)
		require.NoError(t, err)
		for rec, err := range r.Records() {
			if err != nil {
				break
			}
			_, err = r.Record(rec.Function)
			require.False(t, errors.Is(err, afdo.ErrNotFound), "%d: %v", round, err)
			if err != nil {
				caught++
			}
		}
	}
	require.Positive(t, caught)
}

// TestOtherNumberOfBuckets replaces the number of buckets by another power of two, so that only
// some buckets lead to their records. Lookups must find the records or report the damage.
func TestOtherNumberOfBuckets(t *testing.T) {
	data := sectionOf(t, randomProfile(rand.New(rand.NewPCG(4, 6)), 60, memprof.DefaultSchema()), 3)
	records := int(binary.LittleEndian.Uint64(data[24:])) - fuzzOffset
	for buckets := binary.LittleEndian.Uint64(data[records:]) / 2; buckets > 0; buckets /= 2 {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint64(damaged[records:], buckets)
		lookUpSame(t, damaged)
	}
}
