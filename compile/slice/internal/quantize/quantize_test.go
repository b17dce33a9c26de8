package quantize

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuantize(t *testing.T) {
	for _, c := range []struct {
		count uint64
		bits  int
		want  uint64
	}{
		{0, 1, 0}, {1, 1, 1}, {2, 1, 2}, {3, 1, 4}, {5, 1, 4}, {6, 1, 8}, {5, 2, 6}, {7, 2, 8}, {9, 2, 8}, {10, 2, 12},
		{1000, 3, 1024}, {1000, 4, 1024}, {1000, 5, 992}, {1000, 10, 1000}, {1000, 64, 1000}, {1000, 0, 1000},
		{math.MaxUint64, 64, math.MaxUint64}, {math.MaxUint64, 1, 1 << 63}, {math.MaxUint64, 3, 7 << 61}, {1<<63 + 1, 1, 1 << 63},
	} {
		got := Count(c.count, c.bits)
		assert.Equal(t, c.want, got, "%d to %d bits", c.count, c.bits)
		assert.Equal(t, got, Count(got, c.bits), "%d to %d bits again", c.count, c.bits)
	}
}
