//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A link is followed if it is the user's own, such as one to a larger disk, and not if somebody
// else has put it there.
func TestPrivateLink(t *testing.T) {
	target, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Chmod(target, 0o700))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, MakePrivate(link))
	if os.Geteuid() != 0 {
		t.Skip("only root can give a link to somebody else")
	}
	require.NoError(t, os.Lchown(link, 12345, 12345))
	require.ErrorContains(t, MakePrivate(link), "another user")
}
