// Package clitest contains helpers for the tests of the command and of its packages.
package clitest

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// A FailingWriter is a writer whose every write fails with Err.
type FailingWriter struct{ Err error }

// Write returns w.Err and writes nothing.
func (w FailingWriter) Write([]byte) (int, error) { return 0, w.Err }

// Terminal returns an open terminal of the system. It skips the test if the system has none.
func Terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !cli.IsTerminal(f) {
		t.Skipf("no terminal to be had: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Exponential returns a mangled name of the given number of nested levels. With each level the
// mangled name grows by a few bytes, and its demangled form doubles in length.
func Exponential(levels int) string {
	name := "_Z1fI1AIiiE"
	for i := range levels {
		ref := "S" + strings.ToUpper(strconv.FormatInt(int64(i), 36)) + "_"
		name += "S_I" + ref + ref + "E"
	}
	return name + "EvT_"
}

// Say returns a function that writes text to the writer that it is given. Tests pass it to
// functions that take a callback for writing.
func Say(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// Files returns the names of the entries of a folder.
func Files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// RequireFile fails the test unless the file at path contains exactly the text want.
func RequireFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}
