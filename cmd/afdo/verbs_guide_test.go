package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestVerbsGuide runs the commands of docs/verbs.md, one after another in a copy of testdata, and
// compares what they print. Every verb has a heading there.
func TestVerbsGuide(t *testing.T) {
	t.Parallel()
	sh := testenv.Tool(t, "sh")
	data, err := os.ReadFile("../../docs/verbs.md")
	require.NoError(t, err)
	guide := strings.ReplaceAll(string(data), "\r\n", "\n")
	s := newSite(t)
	paths, err := filepath.Glob("../../testdata/shop.*")
	require.NoError(t, err)
	for _, path := range paths {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		s.write(filepath.Base(path), string(file))
	}
	for _, block := range regexp.MustCompile("(?ms)^```text\n(.*?)^```$").FindAllStringSubmatch(guide, -1) {
		var said strings.Builder
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				said.WriteString(line + s.run(sh, "-c", command))
			}
		}
		assert.Equal(t, block[1], said.String())
	}
	for _, v := range verbs {
		assert.Regexp(t, `(?m)^## .*\bafdo `+v.name+`\b`, guide)
	}
}
