package inputs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMarkers(t *testing.T) {
	m := readMarkers([]byte("# 0 \"src/a.c\"\n# 0 \"<built-in>\"\n# 1 \"/b\\\\c/\\303\\244.h\" 1\nint f;\n# 5 \"/usr/include/x.h\" 1 3 4\n# 1 \"/usr/include/y.h\" 1 3 4\n# 2 \"src/a.c\" 2\n# 1 \"/build//\"\n#pragma x \"y\"\n# x\n#\n# 3"))
	assert.Equal(t, []string{"src/a.c", "/b\\c/ä.h", "/usr/include/x.h", "/usr/include/y.h"}, m)
}

// filesBelow returns a header and the files that it includes, and no others.
func TestFilesBelow(t *testing.T) {
	text := []byte("# 0 \"a.c\"\n# 1 \"b.h\" 1\n# 1 \"h.h\" 1\n# 1 \"c.h\" 1 3 4\n# 2 \"h.h\" 2\n# 3 \"b.h\" 2\n# 1 \"d.h\" 1\n# 4 \"b.h\" 2\n# 5 \"a.c\" 2\n")
	assert.Equal(t, []string{"h.h", "c.h"}, filesBelow(text, "h.h"))
	assert.Empty(t, filesBelow(text, "none.h"))
}

func FuzzMarkers(f *testing.F) {
	f.Add([]byte("# 1 \"a.c\" 1 3\n# 2 \"b\\\"c.h\" 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := readMarkers(text)
		seen := make(map[string]bool)
		for _, name := range m {
			if seen[name] || len(name) > len(text) {
				t.Errorf("%q twice or too long", name)
			}
			seen[name] = true
		}
	})
}

// TestChangesOptions checks that a #pragma in a system header does not count.
func TestChangesOptions(t *testing.T) {
	for text, want := range map[string]bool{
		"# 1 \"a.c\"\n#pragma GCC target(\"avx2\")\nint f(void);\n":                                          true,
		"# 1 \"a.c\"\n#pragma GCC optimize (\"Os\")\n":                                                       true,
		"# 1 \"a.c\"\n# 1 \"/usr/include/x.h\" 1 3 4\n#pragma GCC target(\"avx2\")\n# 2 \"a.c\" 2\n":         false,
		"# 1 \"/usr/include/x.h\" 1 3 4\n# 2 \"a.c\" 2\n#pragma GCC target(\"avx2\")\n":                      true,
		"# 1 \"a.c\"\n#pragma GCC optimize (\"no-ipa-pure-const\")\n#pragma GCC optimize \"unroll-loops\"\n": false,
		"# 1 \"a.c\"\n#pragma GCC poison x\n#pragma once\nchar *s = \"#pragma GCC target\";\n":               false,
	} {
		assert.Equal(t, want, changesOptions([]byte(text)), text)
	}
}
