package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// A site is a folder in which tests run compilers by "afdo exec".
type site struct {
	testing.TB
	dir string
	env []string

	// If inProcess is set, the methods run, says and fails run afdo in the test's own process and
	// do not start a program. The test must not be parallel, because it changes the folder and the
	// environment of the process.
	inProcess bool
}

func newSite(t testing.TB) *site {
	s := &site{TB: t, dir: t.TempDir()}
	s.setenv("AFDO_CACHE_DIR", t.TempDir())
	s.setenv("AFDO_PROFILE", "")
	return s
}

// newSiteInProcess returns a site for many runs of the launcher with compilers that are scripts.
func newSiteInProcess(t testing.TB) *site {
	s := newSite(t)
	s.inProcess = true
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

// status runs a command, and returns its exit status and its output.
func (s *site) status(args ...string) (status int, said string) {
	s.Helper()
	if s.inProcess && args[0] == "afdo" {
		return s.afdo(args[1:])
	}
	out, err := s.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(s, err, &exit, "%q: %s", args, out)
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}

// afdo runs the command in this process. If the command would replace the process by a program,
// afdo starts that program.
func (s *site) afdo(args []string) (status int, said string) {
	s.Helper()
	for _, setting := range s.env {
		name, value, _ := strings.Cut(setting, "=")
		s.Setenv(name, value)
	}
	here, err := os.Getwd()
	require.NoError(s, err)
	require.NoError(s, os.Chdir(s.dir))
	defer func() { require.NoError(s, os.Chdir(here)) }()
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // which exec changes
	var out bytes.Buffer
	e := newEnv(cli.Env{In: strings.NewReader(""), Out: &out, Err: &out})
	e.Become = func(argv, environment []string) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = environment, &out, &out
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return cli.StatusError(exit.ExitCode())
		}
		return err
	}
	status = run(e, args)
	return status, out.String()
}

// run runs a command, which must succeed, and returns its output.
func (s *site) run(args ...string) string {
	s.Helper()
	status, said := s.status(args...)
	require.Zero(s, status, "%q: %s", args, said)
	return said
}

// fails runs a command, which must end with the given status, and returns its output.
func (s *site) fails(status int, args ...string) string {
	s.Helper()
	got, said := s.status(args...)
	require.Equal(s, status, got, "%q: %s", args, said)
	return said
}

// says runs a command, whatever its status, and returns its output.
func (s *site) says(args ...string) string {
	s.Helper()
	_, said := s.status(args...)
	return said
}
