package produce

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSome(t *testing.T) {
	assert.Equal(t, "f", some([]string{"f"}, 1))
	assert.Equal(t, "f and 1 more", some([]string{"f", "g"}, 1))
	assert.Equal(t, "f, g", some([]string{"f", "g"}, 3))
	assert.Equal(t, `"f\n" and 2 more`, some([]string{"f\n", "g", "h"}, 1))
}
