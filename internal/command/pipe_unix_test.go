//go:build unix

package command

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPipes checks that the launcher does not preprocess a command with an option that reads a
// pipe. The compiler would find the pipe empty.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for args, want := range map[string]bool{
		"-include pipe":                 true,
		"-imacros /dev/stdin":           true,
		"-include" + dir + "/pipe":      true,
		"-Wp,-include," + dir + "/pipe": true,
		"@pipe":                         true,
		"-specs=" + dir + "/pipe":       true,
		"-include /dev/null":            false,
		"-I /dev/shm -I/usr/include":    false,
		"-MD -MF pipe -o pipe":          false,
		"-Wl,-Map=" + dir + "/pipe":     false,
		"-include none.h @none":         false,
	} {
		c := Parse(strings.Fields("gcc -O2 -c a.c "+args), dir)
		assert.Equal(t, want, c.HidesNames() != "", args)
	}
}
