//go:build unix

package testenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFind checks that a compiler that cannot link a program is not found.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, status := range map[string]string{"gcc-98": "1", "clang++": "0", "gcc-ar": "1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit "+status+"\n"), 0o777))
	}
	t.Setenv("PATH", dir)
	for name, want := range map[string]bool{"gcc-98": false, "clang++": true, "gcc-ar": true, "gcc-97": false} {
		path, ok := Find("missing", name)
		assert.Equal(t, want, ok, name)
		assert.Equal(t, want, path == filepath.Join(dir, name), name)
	}
}
