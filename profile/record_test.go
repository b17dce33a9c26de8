package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecordSize(t *testing.T) {
	assert.EqualValues(t, 24, unsafe.Sizeof(Record{}))
}

func TestPlaceKeepsEveryField(t *testing.T) {
	for _, r := range []Record{
		{},
		{Line: math.MaxUint32},
		{Discriminator: math.MaxUint32},
		{Kind: KindCall, Callee: math.MaxUint32},
		{Kind: KindInlined, Callee: 1, Line: 2, Discriminator: 3, Count: 4},
	} {
		assert.Equal(t, r, r.place().record(r.Count))
	}
}

func TestSaturatingAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for range 10_000 {
		x, y := randomCount(rng), randomCount(rng)
		bigX, bigY := new(big.Int).SetUint64(x), new(big.Int).SetUint64(y)
		require.Equal(t, saturated(new(big.Int).Add(bigX, bigY)), addSaturating(x, y))
		require.Equal(t, saturated(new(big.Int).Mul(bigX, bigY)), mulSaturating(x, y))
	}
}
