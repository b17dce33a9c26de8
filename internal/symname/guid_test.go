package symname

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGUID(t *testing.T) {
	assert.Equal(t, uint64(0xdb956436e78dd5fa), GUID("main"))
	assert.Equal(t, GUID("main"), GUID([]byte("main")))
	assert.Equal(t, uint64(0x04b2008fd98c1dd4), GUID(""))
}
