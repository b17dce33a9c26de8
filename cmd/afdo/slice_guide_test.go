package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSliceGuide runs the commands that docs/guide/slices.md shows.
func TestSliceGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/slices.md")
	require.NoError(t, err)
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.afdo", data, 0o666))
	commands := 0
	for _, block := range guideBlock().FindAllStringSubmatch(strings.ReplaceAll(string(guide), "\r\n", "\n"), -1) {
		var said strings.Builder
		for line := range strings.Lines(block[2]) {
			if command, ok := strings.CutPrefix(line, "$ afdo "); ok {
				said.WriteString(line + must(t, strings.Fields(command)...))
				commands++
			}
		}
		assert.Equal(t, block[2], said.String())
	}
	assert.Equal(t, 2, commands)
	assert.FileExists(t, filepath.Join(".", "cart.afdo"))
}
