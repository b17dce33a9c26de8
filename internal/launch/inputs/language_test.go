package inputs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestTakesForC runs compilers with options that select a language.
func TestTakesForC(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.c", "b.cc", "c.c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("int x;\n"), 0o600))
	}
	asked := 0
	for args, want := range map[string]bool{
		"gcc|a b.c":                     true,
		"gcc|a b.c|c.c":                 true,
		"gcc|-std=c11|-x|c|b.cc":        true,
		"gcc|b.cc":                      false,
		"gcc|a b.c|b.cc":                false,
		"gcc|b.cc|a b.c":                false,
		"gcc|-x|c++|a b.c":              false,
		"gcc|-x|objective-c|a b.c":      false,
		"g++|a b.c":                     false,
		"gcc-16|c.c":                    true,
		"g++-16|c.c":                    false,
		"clang-22|a b.c|-I|-x|-I|c++":   true,
		"clang-22|c.c":                  true,
		"clang-22|c.c|b.cc":             false,
		"clang-22|-x|objective-c|a b.c": false,
		"clang++-22|c.c":                false,
	} {
		words := strings.Split(args, "|")
		if !testenv.Sweep() && words[0] != "gcc" && words[0] != "clang-22" {
			continue
		}
		path, ok := testenv.Find(words[0])
		if !ok {
			continue
		}
		cmd := exec.Command(path, append(words[1:], "-w", "-E", "-v")...)
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			continue // a compiler without Objective-C
		}
		asked++
		assert.Equal(t, want, takesForC([]byte(said.String())), "%s: %s", args, &said)
	}
	if asked == 0 {
		testenv.Missing(t, "there is no compiler")
	}
	assert.False(t, takesForC(nil))
	assert.False(t, takesForC([]byte(" /usr/lib/cc1obj -E x\n")))
	assert.True(t, takesForC([]byte(" C:\\x\\cc1.exe -E x\n /x/cc1 -E y\n")) || filepath.Separator == '/')
}

// The output of GCC with -v contains the options with which GCC keeps functions that nothing calls.
func TestDropsUnused(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a.c")
	require.NoError(t, os.WriteFile(source, []byte("int x;\n"), 0o600))
	gcc := testenv.Tool(t, "gcc")
	for option, want := range map[string]bool{"-O2": true, "-fkeep-inline-functions": false, "-fopenmp": false, "-fopenacc": false} {
		said, err := exec.Command(gcc, "-v", "-E", option, "-o", os.DevNull, source).CombinedOutput()
		require.NoError(t, err, "%s", said)
		assert.Equal(t, want, dropsUnused(said), option)
	}
}
