//go:build unix

package record

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWatchedBecomesPipe checks that a record holds, without waiting for a writer, if a named pipe
// replaces a watched folder.
func TestWatchedBecomesPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "inc"), 0o666))
	r := &Record{Watched: []Watched{{File{Path: "inc", State: 1}, []string{"a.h"}}}}
	assert.True(t, r.Holds(nil, dir, nil))
}
