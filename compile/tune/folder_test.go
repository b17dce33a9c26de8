package tune

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A working folder is accepted if it is new, empty or marked. In any other folder, nothing is
// changed.
func TestClaimFolder(t *testing.T) {
	dir := t.TempDir()
	fresh := filepath.Join(dir, "new", "folder")
	require.NoError(t, claimFolder(fresh))
	require.NoError(t, os.Mkdir(filepath.Join(fresh, "base"), 0o777))
	require.NoError(t, claimFolder(fresh), "it is marked")

	foreign := filepath.Join(dir, "foreign")
	require.NoError(t, os.MkdirAll(filepath.Join(foreign, "base"), 0o777))
	require.ErrorIs(t, claimFolder(foreign), errFolder)
	for _, tag := range []string{"", "Signature: 8a477f597d28d172789f06886806bc55\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(foreign, tagFile), []byte(tag), 0o666))
		require.ErrorIs(t, claimFolder(foreign), errFolder)
	}
	require.NoFileExists(t, filepath.Join(foreign, ".gitignore"))
	require.DirExists(t, filepath.Join(foreign, "base"))
	require.ErrorIs(t, claimFolder("/"), errFolder)

	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("kept"), 0o666))
	for _, name := range []string{".gitignore", tagFile, "base", "state.json"} {
		linked := filepath.Join(dir, "linked"+name)
		require.NoError(t, claimFolder(linked))
		_ = os.Remove(filepath.Join(linked, name))
		require.NoError(t, os.Symlink(secret, filepath.Join(linked, name)))
		err := claimFolder(linked)
		require.ErrorIs(t, err, errFolder)
		assert.ErrorContains(t, err, name+" is a symbolic link")
	}
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(text))
}

func TestIsWithin(t *testing.T) {
	for _, c := range []struct {
		path, folder string
		want         bool
	}{{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a", "/", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}, {"/a/..b", "/a", true}} {
		assert.Equal(t, c.want, isWithin(c.path, c.folder), "%s in %s", c.path, c.folder)
	}
}
