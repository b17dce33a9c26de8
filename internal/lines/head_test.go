package lines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUndecided(t *testing.T) {
	for text, want := range map[string]bool{
		"":                           true,
		"\n \n# a comment":           true,
		strings.Repeat("# x\n", 999): true,
		"# x\n:ir\nf\n1":             true,
		"# x\n:ir\nf\n1\n":           false,
		"f\x00":                      false,
		strings.Repeat("x", 1<<20):   false,
	} {
		assert.Equal(t, want, Undecided([]byte(text)), "%.20q", text)
	}
	assert.True(t, OnlyComments([]byte(" \n# x\n#\n")))
	assert.True(t, OnlyComments(nil))
	assert.False(t, OnlyComments([]byte("# x\nf")))
	assert.False(t, OnlyComments([]byte("#\x00")))
}
