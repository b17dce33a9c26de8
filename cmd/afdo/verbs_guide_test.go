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

// TestVerbsGuide runs the commands of docs/reference/verbs.md one after another in a copy of
// testdata, and compares their output with the page. A shell runs those with pipes or "&"; the
// others run in this process. Every verb has a heading on the page.
func TestVerbsGuide(t *testing.T) {
	sh := testenv.Tool(t, "sh")
	data, err := os.ReadFile("../../docs/reference/verbs.md")
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
	t.Chdir(s.dir)
	for _, block := range regexp.MustCompile("(?ms)^```text\n(.*?)^```$").FindAllStringSubmatch(guide, -1) {
		var said strings.Builder
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				said.WriteString(line)
				if strings.ContainsAny(command, "|&") {
					said.WriteString(s.run(sh, "-c", command))
					continue
				}
				r := afdoRun(strings.Fields(command)[1:]...)
				require.Zero(t, r.status, "%s: %s", command, r.err)
				said.WriteString(r.out + r.err)
			}
		}
		assert.Equal(t, block[1], said.String())
	}
	for _, v := range verbs {
		assert.Regexp(t, `(?m)^## .*\bafdo `+v.name+`\b`, guide)
	}
}
