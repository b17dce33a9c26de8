package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// load loads a configuration file with the given text. The environment has AFDO_CACHE_DAYS=7 and no
// other setting.
func load(t *testing.T, text string) ([]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	for _, s := range All {
		t.Setenv(s.Name, "") // restores the value after the test
		require.NoError(t, os.Unsetenv(s.Name))
	}
	t.Setenv("AFDO_CONFIG", path)
	t.Setenv("AFDO_CACHE_DAYS", "7")
	return Load()
}

func TestLoad(t *testing.T) {
	loaded, err := load(t, "# comment\n\nAFDO_PROFILE=/a b=c\r\n AFDO_CACHE_DAYS=3\nAFDO_TIMEOUT=")
	require.NoError(t, err)
	assert.Equal(t, []string{"AFDO_PROFILE", "AFDO_TIMEOUT"}, loaded)
	assert.Equal(t, "/a b=c", os.Getenv("AFDO_PROFILE"))
	assert.Equal(t, "7", os.Getenv("AFDO_CACHE_DAYS"), "the environment wins")
}

func TestBadSettings(t *testing.T) {
	for text, want := range map[string]string{
		"AFDO_PROFILE":                `config:1: bad setting: want NAME=VALUE, see "afdo help config"`,
		"\nPATH=/x":                   `config:2: bad setting: unknown name "PATH", see "afdo help config"`,
		strings.Repeat("x", 99) + "=": `unknown name "` + strings.Repeat("x", 40) + `"..., see`,
		"AFDO_PROFILE=a\x00":          "config:1: bad setting: setenv: invalid argument",
	} {
		_, err := load(t, text)
		require.ErrorIs(t, err, ErrSetting)
		assert.ErrorContains(t, err, want)
	}
	t.Setenv("AFDO_CONFIG", filepath.Join(t.TempDir(), "none"))
	loaded, err := Load()
	require.NoError(t, err)
	assert.Empty(t, loaded)
}

// If the home folder is not a folder, as for users that only run services, there is no
// configuration file. If AFDO_CONFIG names a file that cannot be reached, Load returns an error.
func TestHomeIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, file)
	}
	t.Setenv("AFDO_CONFIG", "")
	loaded, err := Load()
	require.NoError(t, err)
	assert.Empty(t, loaded)
	if runtime.GOOS != "windows" { // which finds no such file there
		t.Setenv("AFDO_CONFIG", filepath.Join(file, "config"))
		_, err = Load()
		require.ErrorContains(t, err, "config: not a directory")
	}
}
