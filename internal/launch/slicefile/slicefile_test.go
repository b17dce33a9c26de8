package slicefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
)

// The path of a slice does not contain the folder of the checkout, and always leads to the folder
// of the object.
func TestPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no symbolic links here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"co/src/deep", "co/build"} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, dir), 0o777))
	}
	require.NoError(t, os.Symlink(filepath.Join(top, "co", "src", "deep"), filepath.Join(top, "co", "link")))
	for _, c := range []struct{ dir, object, want string }{
		{"co", "build/x.o", "build/x.o.afdo"},
		{"co", "../co/x.o", "../co/x.o.afdo"},
		{"co", top + "/co/build/x.o", "build/x.o.afdo"},
		{"co/src", top + "/co/build/x.o", "../build/x.o.afdo"},
		{"co/build", top + "/co/build/x.o", "x.o.afdo"},
		{"co", top + "/co/link/x.o", "link/x.o.afdo"},
		{"co/link", top + "/co/link/x.o", "x.o.afdo"},
		{"co/link", top + "/co/build/x.o", top + "/co/build/x.o.afdo"}, // "../build" is src/build
		{"co", top + "/co/src/../x.o", top + "/co/src/../x.o.afdo"},
		{"co", top + "/co/none/x.o", top + "/co/none/x.o.afdo"},
		{"co", "/x.o", "/x.o.afdo"},
		{"co", "/dev/null", ""},
		{"co", top + "/co/src", ""},
	} {
		command := command.Parse([]string{"gcc", "-c", "-o", c.object}, filepath.Join(top, c.dir))
		assert.Equal(t, c.want, PathOf(command), "%s in %s", c.object, c.dir)
	}
}
