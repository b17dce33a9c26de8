package inputs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// newRealProject returns a project whose compiler is the machine's own.
func newRealProject(t *testing.T) *project {
	compiler := testenv.Tool(t, "gcc")
	p := newProject(t)
	require.NoError(t, os.Remove(filepath.Join(p.dir, "gcc")))
	require.NoError(t, os.Symlink(compiler, filepath.Join(p.dir, "gcc")))
	return p
}

// TestQuestions creates and removes headers for which a source asks with __has_include and in other
// ways. The cached inputs are used exactly as long as the compiler would get the same answers.
func TestQuestions(t *testing.T) {
	for name, ask := range map[string]string{
		"angle":    "#if __has_include(<new.h>)\n",
		"quote":    "#if __has_include ( \"new.h\" )\n",
		"macro":    "#define HAS(x) __has_include(x)\n#if 0\n#elif HAS(<new.h>)\n",
		"in macro": "#define HAS(x) \\\n  (0 || __has_include(x))\n#define HAVE HAS(\"new.h\")\n#if HAVE\n",
		"alias":    "# define HAS __has_include\n#if HAS(<new.h>)\n",
		"comments": "#if /* is it */ __has_include/**/(<new.h>) // there\n",
		"folder":   "#if __has_include(<new/new.h>)\n",
		"next":     "#if __has_include_next(<new.h>)\n",
		"header":   "#include \"ask.h\"\n#if NEW\n",
	} {
		t.Run(name, func(t *testing.T) {
			if name != "angle" && name != "header" && name != "next" {
				testenv.NeedSweep(t)
			}
			p := newRealProject(t)
			p.write("inc/other.h", "")
			p.write("ask.h", "#if defined __has_include && defined(__has_include)\n#if __has_include(<new.h>)\n#define NEW 1\n#endif\n#endif\n")
			p.write("a.c", ask+"int f(void) { return 1; }\n#endif\nint g(void) { return 1; }\n")
			args := []string{"-c", "a.c", "-Inone", "-Iinc"}
			known := func(want ...string) {
				t.Helper()
				in, _ := p.find(args...)
				assert.False(t, in.Reused)
				assert.Equal(t, want, defines(t, in, "f", "g"))
				in, _ = p.find(args...)
				assert.True(t, in.Reused)
			}
			known("g")
			p.write("inc/another.h", "")
			in, _ := p.find(args...)
			assert.True(t, in.Reused)
			p.write("inc/new.h", "")
			p.write("inc/new/new.h", "")
			known("f", "g")
			require.NoError(t, os.Remove(filepath.Join(p.dir, "inc/new.h")))
			require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "inc/new")))
			known("g")
			p.write("none/new.h", "")
			p.write("none/new/new.h", "")
			known("f", "g")
		})
	}
}

// With -Werror, a warning that a source turns off is no error in the preprocessor, either, although
// GCC's preprocessor ignores the #pragma for that.
func TestIgnoredWarnings(t *testing.T) {
	p := newRealProject(t)
	p.write("a.c", "#pragma GCC diagnostic ignored \"-Wundef\"\n#if NOT_DEFINED\n#endif\n#warning x\nint f(void) { return 1; }\n")
	in, _ := p.find("-c", "a.c", "-Wundef", "-Werror")
	assert.Equal(t, []string{"f"}, defines(t, in, "f", "g"))
}
