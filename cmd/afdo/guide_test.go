package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/pattern"
)

var guideBlock = pattern.Of("(?ms)^```(text \\S+|console)\n(.*?)^```$")

// TestMergeGuide runs the commands that docs/guide/merge.md shows, on the files that it shows.
func TestMergeGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/merge.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	commands := 0
	for _, block := range guideBlock().FindAllStringSubmatch(strings.ReplaceAll(string(guide), "\r\n", "\n"), -1) {
		if name, ok := strings.CutPrefix(block[1], "text "); ok {
			require.NoError(t, os.WriteFile(name, []byte(block[2]), 0o666))
			continue
		}
		var said strings.Builder
		for line := range strings.Lines(block[2]) {
			if command, ok := strings.CutPrefix(line, "$ afdo "); ok {
				r := afdoRun(strings.Fields(command)...)
				assert.Equal(t, cli.StatusDone, r.status, "%s%s", line, r.err)
				said.WriteString(line + r.err + r.out)
				commands++
			}
		}
		assert.Equal(t, block[2], said.String())
	}
	assert.Equal(t, 3, commands)
}
