package driver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
)

// A macro of the command line that asks is not looked into.
func TestUnclearCommand(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte("#if HAS(<new.h>)\n#endif\n"), 0o666))
	f := finder{Line: command.Parse([]string{"gcc", "-c", "a.c", "-DHAS(x)=__has_include(x)"}, dir)}
	_, sure := f.findQuestions([]string{"a.c"})
	assert.False(t, sure)
}

// A file that is too large is not read, and its questions are unknown.
func TestUnclearSize(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.c")
	require.NoError(t, os.WriteFile(path, []byte("int a;\n"), 0o666))
	f := finder{Line: command.Parse([]string{"gcc", "-c", "a.c"}, dir)}
	for size, clear := range map[int64]bool{100: true, maxMarked + 1: false} {
		require.NoError(t, os.Truncate(path, size))
		_, sure := f.findQuestions([]string{"a.c"})
		assert.Equal(t, clear, sure, size)
	}
}

// What __has_embed asks for is a file's size as well.
func TestUnclearEmbed(t *testing.T) {
	dir := t.TempDir()
	for text, clear := range map[string]bool{
		"#if __has_embed(\"x\")\n#endif\n": false, "#define HAS(x) __has_embed(x)\n": false,
		"#if __has_attribute(x) & __has_embed(<x>)\n#endif\n": false, "#define __has_embed(x) 0\n#if __has_embedded(x)\n#endif\n": true,
		"#ifdef __has_embed\n#endif\n": true, "#if !defined(__has_embed)\n#endif\n": true, "// __has_embed(<x>)\n": true,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte(text), 0o666))
		f := finder{Line: command.Parse([]string{"gcc", "-c", "a.c"}, dir)}
		_, sure := f.findQuestions([]string{"a.c"})
		assert.Equal(t, clear, sure, text)
	}
}

// Whatever a text has, reading it ends, and what asks nothing is no question.
func TestNoQuestions(t *testing.T) {
	for _, text := range []string{
		"", "__has_include", "#", "#if", "#if __has_include", "#if defined __has_include\n", "#ifdef __has_include\n", "#define __has_include(x) 0\n",
		"#undef __has_include\n", "#endif // __has_include\n", "/* __has_include(a) */", "// __has_include(<a>)\\", "\\\n\\\n", "#if 1 // __has_include(a)\n",
		"#if my__has_include(a) || __has_included(a)\n", "# define A /* __has_include(", "#include __has_include(", "int __has_include;\n",
	} {
		a := asker{found: make(map[question]bool)}
		a.search([]byte(text), []byte(hasFile), "")
		assert.Empty(t, a.found, text)
		assert.Equal(t, text == "#if __has_include", a.unclear, text)
		assert.Empty(t, a.names, text)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add([]byte("#if __has_include(<a>)\n#define A(x) \\\n __has_include(x)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := asker{found: make(map[question]bool)}
		a.search(text, []byte(hasFile), "dir")
		for q := range a.found {
			assert.NotContains(t, q.name, "\n")
			assert.LessOrEqual(t, len(q.name), len(text))
		}
	})
}
