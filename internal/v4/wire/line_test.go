package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOffset(t *testing.T) {
	for line, want := range map[uint32]int32{
		0: 0, 1<<15 - 1: 1<<15 - 1, 1 << 15: -1 << 15, 1<<16 - 1: -1, 1 << 16: 1 << 16, MaxLine: MaxLine,
	} {
		assert.Equal(t, want, Offset(line))
		assert.Equal(t, line, Line(want))
	}
}
