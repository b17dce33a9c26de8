//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The cache folder may be a symbolic link that belongs to the user, for example to a larger disk,
// but not one that somebody else has made.
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

// A store is refused if other users can write to one of its folders, because the launcher executes
// the cached commands.
func TestPrivateKinds(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, folder string)
		err   string
	}{
		"writable": {func(t *testing.T, folder string) { require.NoError(t, os.Chmod(folder, 0o777)) }, "chmod go-w"},
		"link": {func(t *testing.T, folder string) {
			require.NoError(t, os.Remove(folder))
			require.NoError(t, os.Symlink(t.TempDir(), folder))
		}, "not a folder"},
		"of somebody else": {func(t *testing.T, folder string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder to somebody else")
			}
			require.NoError(t, os.Chown(folder, 12345, 12345))
		}, "another user"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			s, err := OpenStore(dir)
			require.NoError(t, err)
			for _, kind := range kinds {
				path, err := s.Path(kind, "key")
				require.NoError(t, err)
				_, err = OpenStore(dir)
				require.NoError(t, err)
				folder := filepath.Dir(path)
				c.spoil(t, folder)
				_, err = OpenStore(dir)
				require.ErrorContains(t, err, c.err)
				require.NoError(t, os.RemoveAll(folder))
			}
		})
	}
}
