package driver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMarkers(t *testing.T) {
	m := readMarkers([]byte("# 0 \"src/a.c\"\n# 0 \"<built-in>\"\n# 1 \"/b\\\\c/\\303\\244.h\" 1\nint f;\n# 5 \"/usr/include/x.h\" 1 3 4\n# 1 \"/usr/include/y.h\" 1 3 4\n# 2 \"src/a.c\" 2\n# 1 \"/build//\"\n#pragma x \"y\"\n# x\n#\n# 3"))
	assert.Equal(t, markers{
		files: []string{"src/a.c", "/b\\c/ä.h", "/usr/include/x.h", "/usr/include/y.h"},
		pairs: []included{{"src", "/b\\c/ä.h"}, {"/b\\c", "/usr/include/x.h"}},
	}, m)
}

func TestSearchFolders(t *testing.T) {
	assert.Equal(t, []string{"no", "a b", "/c", "/d"}, searchFolders([]byte(`ignoring nonexistent directory "no"
#include "..." search starts here:
 a b
#include <...> search starts here:
 /c
End of search list.
#embed <...> search starts here:
 /d
End of #embed search list.
COMPILER_PATH=/bin
`)))
}

func FuzzMarkers(f *testing.F) {
	f.Add([]byte("# 1 \"a.c\" 1 3\n# 2 \"b\\\"c.h\" 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := readMarkers(text)
		seen := make(map[string]bool)
		for _, name := range m.files {
			if seen[name] || len(name) > len(text) {
				t.Errorf("%q twice or too long", name)
			}
			seen[name] = true
		}
	})
}

// What is missing is noted by the nearest folder that is there.
func TestCandidate(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inc"), 0o777))
	w := watch{dir: dir, there: make(map[string]string), seen: make(map[string]bool), found: make(map[string][]string)}
	w.candidate(filepath.FromSlash("inc/sys/deep/a.h"))
	w.candidate(filepath.FromSlash("inc/b.h"))
	w.candidate(filepath.FromSlash("none/c.h"))
	w.candidate("ä.h")
	require.Equal(t, map[string][]string{"inc": {"sys", "b.h"}, ".": {"none", "ä.h"}}, w.found)
}
