// Package doccheck tests that the documents and the code agree.
package doccheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// read returns the contents of a file of the repository, with "\n" as line ends.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// blocks returns the fenced code blocks of a document whose first line is "```" and info.
func blocks(t *testing.T, path, info string) []string {
	t.Helper()
	found := blocksOf(read(t, path), info)
	require.NotEmpty(t, found, "%s has no block of %q", path, info)
	return found
}

func blocksOf(text, info string) []string {
	re := regexp.MustCompile("(?ms)^```" + regexp.QuoteMeta(info) + "\n(.*?)^```$")
	var found []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// files returns the paths of the files in the repository whose names end with suffix, with slashes.
// It leaves out folders whose names begin with a dot.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, suffix):
			found = append(found, path)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}
