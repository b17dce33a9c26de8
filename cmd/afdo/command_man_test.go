package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestManual checks that each verb has a manual page with its flags, and that groff reports no
// problem in any page.
func TestManual(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "man")
	assert.Empty(t, must(t, "man", folder))
	root := newRoot(newEnv(cli.Env{}), verbs[:]...)
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		page, err := os.ReadFile(filepath.Join(folder, "afdo-"+cmd.Name()+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(page), `.SH "DESCRIPTION"`)
		if cmd.Flags().Lookup("json") != nil {
			assert.Contains(t, string(page), `\fB\-\-json`)
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	require.NoError(t, err)
	groff := testenv.Optional(t, "groff")
	for _, page := range pages[:testenv.Rounds(3, len(pages))] {
		cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-rLL=90n", page)
		var warnings strings.Builder
		cmd.Stderr = &warnings
		text, err := cmd.Output()
		require.NoError(t, err, page)
		assert.Empty(t, warnings.String(), page)
		assert.Contains(t, string(text), "afdo", page)
	}
}
