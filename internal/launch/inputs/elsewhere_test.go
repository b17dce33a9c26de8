package inputs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// checkout writes the same files into a folder in each call. Their times are long ago, one after
// the other.
func checkout(t *testing.T, dir string) {
	old := time.Now().Add(-time.Hour)
	for name, text := range map[string]string{
		"src/a.c":        "#include <b.h>\n#include \"c.h\"\nint f(void) { return B + C; }\n",
		"second/inc/b.h": "#define B 1\n",
		"src/c.h":        "#define C 2\n",
		"first/other.h":  "",
		"build/x":        "",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		require.NoError(t, os.Chtimes(path, old, old))
	}
}

// The cached inputs of a command in one checkout are used in another checkout with the same files
// at another path, and in no other one.
func TestInputsElsewhere(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	compiler, err := toolchain.Find(t.Context(), command.Parse([]string{gcc}, t.TempDir()), nil)
	require.NoError(t, err)
	relative := func(string) []string {
		return []string{"-I../first", "-I", "../second/inc", "-c", "../src/a.c", "-o", "a.o"}
	}
	absolute := func(dir string) []string {
		return []string{"-I" + dir + "/first", "-isystem", dir + "/second/inc", "-c", dir + "/src/a.c", "-o", dir + "/build/a.o"}
	}
	mapped := func(dir string) []string {
		return append([]string{"-g", "-ffile-prefix-map=" + dir + "=."}, absolute(dir)...)
	}
	macro := func(dir string) []string { return append(absolute(dir), "-DROOT="+dir) }
	for i, c := range []struct {
		name    string
		args    func(dir string) []string
		basedir bool
		change  map[string]string // files of the second checkout
		again   bool
	}{
		{"relative", relative, false, nil, true},
		{"relative, a base", relative, true, nil, true},
		{"absolute", absolute, false, nil, false},
		{"absolute, a base", absolute, true, nil, true},
		{"debug information", mapped, true, nil, true},
		{"a macro that says where", macro, true, nil, false},
		{"another file of no matter", relative, false, map[string]string{"first/d.h": ""}, true},
		{"a header that says something else", relative, false, map[string]string{"second/inc/b.h": "#define B 3\n"}, false},
		{"a header that is found first", relative, false, map[string]string{"first/b.h": "#define B 1\n"}, false},
		{"the same of an absolute path", absolute, true, map[string]string{"first/b.h": "#define B 1\n"}, false},
		{"a source that says something else", absolute, true, map[string]string{"src/a.c": "int g;\n"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if i%2 != 0 {
				testenv.NeedSweep(t)
			}
			cache, err := store.OpenStore(filepath.Join(t.TempDir(), "cache"))
			require.NoError(t, err)
			find := func(dir string) *Inputs {
				if c.basedir {
					t.Setenv("CCACHE_BASEDIR", dir)
				}
				line := command.Parse(append([]string{gcc}, c.args(dir)...), filepath.Join(dir, "build"))
				in, err := Find(t.Context(), line, compiler, cache)
				require.NoError(t, err)
				return in
			}
			one, two := t.TempDir(), t.TempDir()
			checkout(t, one)
			checkout(t, two)
			for name, text := range c.change {
				require.NoError(t, os.WriteFile(filepath.Join(two, name), []byte(text), 0o666))
			}
			testenv.Settle()
			first := find(one)
			require.False(t, first.Reused)
			second := find(two)
			assert.Equal(t, c.again, second.Reused)
			if c.again {
				assert.Equal(t, first.Record.Sum(), second.Record.Sum())
				assert.Equal(t, first.Record.State(), second.Record.State())
				assert.Equal(t, c.args(two)[len(c.args(two))-3], second.Files[0])
			}
			assert.True(t, find(one).Reused, "the first one is known as before")
		})
	}
}
