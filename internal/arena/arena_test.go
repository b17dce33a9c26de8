package arena

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClones(t *testing.T) {
	var n Names
	var want, got []string
	for i := range 3_000 {
		name := strings.Repeat(string(rune('a'+i%26)), i)
		want = append(want, name)
		if i%2 == 0 {
			got = append(got, n.Clone(name))
			continue
		}
		bytes := []byte(name)
		got = append(got, n.CloneBytes(bytes))
		clear(bytes)
	}
	huge := strings.Repeat("x", 3*maxChunk)
	assert.Equal(t, huge, n.Clone(huge))
	assert.Equal(t, huge, n.CloneBytes([]byte(huge)))
	require.Equal(t, want, got)
}

func TestFewAllocations(t *testing.T) {
	var n Names
	name := strings.Repeat("name", 8)
	allocs := testing.AllocsPerRun(1, func() {
		for range 10_000 {
			n.Clone(name)
		}
	})
	assert.LessOrEqual(t, allocs, 12.0)
}
