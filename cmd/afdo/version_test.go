package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/settings"
)

// TestConfig checks that config prints whether each setting comes from the environment, the
// configuration file or the default, and that the help names all settings.
func TestConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("AFDO_TIMEOUT=2m\nAFDO_CACHE_DAYS=9\n"), 0o600))
	t.Setenv("AFDO_CONFIG", path)
	t.Setenv("AFDO_CACHE_DAYS", "3")
	t.Setenv("AFDO_MIN_RATE", "")
	t.Setenv("AFDO_TIMEOUT", "") // restores the value after the test
	require.NoError(t, os.Unsetenv("AFDO_TIMEOUT"))
	var err error
	loadedSettings, err = settings.Load()
	require.NoError(t, err)
	t.Cleanup(func() { loadedSettings = nil })
	r := afdoRun("config", "--json")
	require.Equal(t, cli.StatusDone, r.status, r.err)
	var config struct {
		File     string
		Settings []ConfigFact
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &config))
	assert.Equal(t, path, config.File)
	from := make(map[string]string)
	help := afdoRun("help", "config").out
	for _, s := range config.Settings {
		from[s.Name] = s.From + " " + s.Value
		assert.Contains(t, help, s.Name)
	}
	assert.Equal(t, "file 2m", from["AFDO_TIMEOUT"])
	assert.Equal(t, "environment 3", from["AFDO_CACHE_DAYS"])
	assert.Equal(t, "default 1G", from["AFDO_CACHE_SIZE"])
	assert.Equal(t, "environment 1M", from["AFDO_MIN_RATE"], "an empty value stands for the default")
	for line := range strings.Lines(afdoRun("config").out) {
		assert.LessOrEqual(t, len(line), 81)
	}
	t.Setenv("AFDO_TIMEOUT", "soon")
	assert.Equal(t, cli.StatusUsage, afdoRun("show", "../../testdata/shop.afdo").status)
}

// TestConfigWithoutFolder checks that config also works if the environment names no folder for the
// configuration file.
func TestConfigWithoutFolder(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AFDO_CONFIG", "AppData"} {
		t.Setenv(name, "")
	}
	r := afdoRun("config")
	assert.Equal(t, cli.StatusDone, r.status, r.err)
	assert.Contains(t, r.out, "File: none")
	assert.Contains(t, r.out, "AFDO_CACHE_SIZE")
}

// A verb that prints JSON also reports errors as JSON, and each document that is an object has the
// version of the schema. --quiet leaves errors and results.
func TestConventions(t *testing.T) {
	r := afdoRun("show", "--json", "none")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.JSONEq(t, `{"schema_version": 1, "error": "open none: no such file or directory", "exit_status": 1}`, r.err)
	for _, args := range [][]string{{"--nonsense", "--json"}, {"--json", "--nonsense"}} {
		assert.JSONEq(t, `{"schema_version": 1, "error": "unknown flag: --nonsense", "exit_status": 2}`, afdoRun(append([]string{"show", "none"}, args...)...).err)
	}
	assert.Contains(t, afdoRun("record", "--nonsense", "--", "prog", "--json").err, "afdo: unknown flag", "a flag of the program")
	errSettings = settings.ErrSetting
	r = afdoRun("show", "--json", "none")
	errSettings = nil
	assert.JSONEq(t, `{"schema_version": 1, "error": "bad setting", "exit_status": 2}`, r.err)
	for _, args := range [][]string{{"show"}, {"top"}, {"diff", "../../testdata/shop.v2.afdo"}} {
		r := afdoRun(append(args, "--json", "../../testdata/shop.afdo")...)
		assert.Regexp(t, `^\{\s*"schema_version": 1,`, r.out, args)
	}
	version := afdoRun("--version", "--json").out
	assert.Regexp(t, `^\{\s*"schema_version": 1,\s*"commit": "[0-9a-f]*",\s*"gcov_version": 4`, version)
	out := filepath.Join(t.TempDir(), "out.v2")
	assert.NotEmpty(t, afdoRun("convert", "../../testdata/shop.afdo", "--to", "v2", "-o", out).err)
	assert.Empty(t, afdoRun("convert", "-q", "../../testdata/shop.afdo", "--to", "v2", "-o", out).err)
	assert.Contains(t, afdoRun("show", "-q", "none").err, "no such file")
}
