package profile

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
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
