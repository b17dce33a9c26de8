package guid

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	assert.Equal(t, uint64(0xdb956436e78dd5fa), Of("main"), "as LLVM has it")
	assert.Equal(t, Of("main"), Of([]byte("main")))
	assert.Equal(t, uint64(0x04b2008fd98c1dd4), Of(""))
}
