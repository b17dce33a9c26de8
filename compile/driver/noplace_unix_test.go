//go:build unix

package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A compile whose slice can be written nowhere runs without the profile: here the folder for it in
// TMPDIR is not a folder, as if another user had taken its name.
func TestNoPlaceForSlice(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("afdo-%d", os.Getuid())), nil, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte("int a;\n"), 0o666))
	var warned []string
	profile, err := filepath.Abs("../../testdata/shop.compact.afdo")
	require.NoError(t, err)
	l := Launcher{Profile: profile, Warn: func(text string) { warned = append(warned, text) }}
	argv := []string{gcc, "-O2", "-c", "a.c", "-o", "/dev/null"}
	plan, err := l.Prepare(t.Context(), argv, dir)
	require.NoError(t, err)
	assert.Equal(t, argv, plan.Argv)
	assert.Equal(t, ReasonNoPlace, plan.Reason)
	require.NotEmpty(t, warned)
	assert.Contains(t, warned[len(warned)-1], "compiling without the profile, because the slice cannot be written: ")
}
