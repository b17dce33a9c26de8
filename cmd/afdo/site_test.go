package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A site is a folder in which compilers run through the launcher.
type site struct {
	testing.TB
	dir string
	env []string
}

func newSite(t testing.TB) *site {
	s := &site{TB: t, dir: t.TempDir()}
	s.setenv("AFDO_CACHE_DIR", t.TempDir())
	s.setenv("AFDO_PROFILE", "")
	return s
}

func (s *site) setenv(name, value string) { s.env = append(s.env, name+"="+value) }

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.Helper()
	require.NoError(s, os.MkdirAll(filepath.Dir(s.path(name)), 0o777))
	require.NoError(s, os.WriteFile(s.path(name), []byte(text), 0o777))
}

func (s *site) read(name string) string {
	s.Helper()
	data, err := os.ReadFile(s.path(name))
	require.NoError(s, err)
	return string(data)
}

// command returns a command that runs in the folder.
func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.env...)
	return cmd
}

// run runs a command, which must succeed, and returns what it says.
func (s *site) run(args ...string) string {
	s.Helper()
	out, err := s.command(args...).CombinedOutput()
	require.NoError(s, err, "%q: %s", args, out)
	return string(out)
}

// says runs a command, whatever its status, and returns what it says.
func (s *site) says(args ...string) string {
	out, _ := s.command(args...).CombinedOutput()
	return string(out)
}

// fails runs a command that must end with a status, and returns what it says.
func (s *site) fails(status int, args ...string) string {
	s.Helper()
	out, err := s.command(args...).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(s, err, &exit, "%q: %s", args, out)
	assert.Equal(s, status, exit.ExitCode(), "%q: %s", args, out)
	return string(out)
}
