package inputs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A project is a folder with a compiler whose preprocessor prints the content of the file text.
type project struct {
	*testing.T
	dir   string
	now   time.Time // later with each file that is written
	cache string
}

func newProject(t *testing.T) *project {
	p := &project{T: t, dir: t.TempDir(), now: time.Now().Add(-time.Hour), cache: filepath.Join(t.TempDir(), "cache")}
	testenv.FakeCompiler(t, filepath.Join(p.dir, "gcc"), testenv.FSF, "12.2.0")
	return p
}

func (p *project) write(name, text string) {
	path := filepath.Join(p.dir, name)
	require.NoError(p, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(p, os.WriteFile(path, []byte(text), 0o666))
	p.now = p.now.Add(time.Second)
	require.NoError(p, os.Chtimes(path, p.now, p.now))
}

// find finds the inputs of a command. It also returns how often the compiler has run so far.
func (p *project) find(args ...string) (*Inputs, int) {
	p.Helper()
	testenv.Settle()
	c := command.Parse(append([]string{"./gcc"}, args...), p.dir)
	cache, err := store.OpenStore(p.cache)
	require.NoError(p, err)
	compiler, err := toolchain.Find(p.Context(), c, cache)
	require.NoError(p, err)
	in, err := Find(p.Context(), c, compiler, cache)
	require.NoError(p, err)
	return in, len(testenv.Asked(p.T, p.dir)) - 2
}

// defines returns those of the given functions that a slice for the inputs contains.
func defines(t *testing.T, in *Inputs, names ...string) (defined []string) {
	text, err := in.Text()
	require.NoError(t, err)
	whole := profile.New()
	for _, name := range names {
		whole.AddFunction(whole.AddSymbol(whole.AddUnit("elsewhere.c"), name), profile.Function{HeadCount: 1})
	}
	part, err := slice.FromProfile(whole).Select(slice.Request{Text: text, Target: slice.Version2})
	require.NoError(t, err)
	for s := range part.Functions() {
		defined = append(defined, part.SymbolName(s))
	}
	return defined
}

func TestFindInputs(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "#include \"a.h\"\n")
	p.write("inc/a.h", "")
	p.write("sub/b.h", "")
	p.write("text", "# 1 \"a.c\"\n# 1 \"<built-in>\"\n# 1 \"inc/a.h\" 1\n# 1 \"inc/../sub/b.h\" 1\nint g(void) { }\n# 2 \"a.c\" 2\nint f(void) { }\n")
	p.write("search", "ignoring nonexistent directory \"none\"\n#include \"...\" search starts here:\n#include <...> search starts here:\n first/of\n inc\nEnd of search list.\n")
	in, n := p.find("-c", "a.c")
	assert.Equal(t, []string{"a.c", "inc/a.h", "inc/../sub/b.h"}, in.Files)
	assert.Equal(t, []string{"f", "g"}, defines(t, in, "f", "g", "h"))
	assert.False(t, in.Reused)
	assert.Equal(t, 1, n)
	again, n := p.find("-c", "a.c")
	assert.True(t, again.Reused)
	assert.Equal(t, in.Record.Sum(), again.Record.Sum())
	assert.Equal(t, 1, n)

	// The object, and what it is for, do not matter; what is included where does.
	_, n = p.find("-c", "a.c", "-o", "b.o", "-MMD")
	assert.Equal(t, 1, n)
	_, n = p.find("-c", "a.c", "-DX")
	assert.Equal(t, 2, n)
	t.Setenv("CPATH", "/x")
	_, n = p.find("-c", "a.c")
	assert.Equal(t, 5, n, "a script is asked for its version again, too")
	t.Setenv("CPATH", "")

	// A file that is another one, or gone.
	for _, change := range []func(){
		func() { p.write("inc/a.h", "x") },
		func() { p.write("sub/b.h", "y") },
	} {
		change()
		p.write("other", "")
		p.write("inc/other.h", "")
		before, n := p.find("-c", "a.c")
		assert.False(t, before.Reused, "%v", testenv.Asked(t, p.dir))
		after, m := p.find("-c", "a.c")
		assert.True(t, after.Reused)
		assert.Equal(t, n, m)
	}

	// A fresh checkout has other files that say the same.
	for name, text := range map[string]string{"a.c": "#include \"a.h\"\n", "inc/a.h": "x", "sub/b.h": "y"} {
		require.NoError(t, os.Remove(filepath.Join(p.dir, name)))
		p.write(name, text)
	}
	in, _ = p.find("-c", "a.c")
	assert.True(t, in.Reused)
	require.NoError(t, os.Chtimes(filepath.Join(p.dir, "inc/a.h"), p.now, p.now))
	p.write("inc/a.h", "z") // of the same size
	in, _ = p.find("-c", "a.c")
	assert.False(t, in.Reused)

	// Other files come and go.
	p.write("inc/another.h", "")
	in, _ = p.find("-c", "a.c")
	assert.True(t, in.Reused)
}

// TestMalformedText checks that the preprocessor runs again if the identifiers in a cached record
// are malformed.
func TestMalformedText(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "")
	p.write("text", "# 1 \"a.c\"\nint f(void) { }\n")
	in, _ := p.find("-c", "a.c")
	cache, err := store.OpenStore(p.cache)
	require.NoError(t, err)
	in.Record.Text = []byte{0xff}
	cache.Put(store.Inputs, in.Record.Key, in.Record.Encode())
	damaged, n := p.find("-c", "a.c")
	require.True(t, damaged.Reused)
	assert.Equal(t, []string{"f"}, defines(t, damaged, "f", "g"))
	mended, m := p.find("-c", "a.c")
	assert.Equal(t, n+1, m)
	assert.True(t, mended.Reused)
	assert.Equal(t, []string{"f"}, defines(t, mended, "f", "g"))
	_, m = p.find("-c", "a.c")
	assert.Equal(t, n+1, m)
}

// The inputs of a compile are not cached if a file changes while the compiler reads it.
func TestInputsChanging(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "")
	p.write("text", "# 1 \"a.c\"\n")
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(p.dir, "a.c"), later, later))
	for range 2 {
		in, _ := p.find("-c", "a.c")
		assert.False(t, in.Reused)
	}
}

func TestInputsErrors(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "#include \"x.h\"\n")
	find := func(args ...string) error {
		c := command.Parse(append([]string{"./gcc"}, args...), p.dir)
		compiler, err := toolchain.Find(t.Context(), c, nil)
		require.NoError(t, err)
		_, err = Find(t.Context(), c, compiler, nil)
		return err
	}
	assert.EqualError(t, find("-c", "a.c"), filepath.Join(p.dir, "gcc")+" -E: exit status 1: a.c:1: error: no x.h")
	assert.Error(t, find("-c", "missing.i"))
	assert.ErrorIs(t, find("-c", "a.m"), ErrNoText)
	assert.ErrorIs(t, find("-x", "objective-c++", "-c", "a.c"), ErrNoText)
	assert.ErrorContains(t, find("-c", "a.f90"), "Fortran: slices are for plain C and C++ only")

	gone := command.Parse([]string{filepath.Join(p.dir, "gcc"), "-c", "a.c"}, filepath.Join(p.dir, "gone"))
	compiler, err := toolchain.Find(t.Context(), gone, nil)
	require.NoError(t, err)
	_, err = Find(t.Context(), gone, compiler, nil)
	assert.EqualError(t, err, "stat "+gone.Dir+": no such file or directory")
}

// Sources that have been preprocessed are read as they are.
func TestPreprocessedInputs(t *testing.T) {
	p := newProject(t)
	p.write("a.i", "# 0 \"src/a.c\"\n# 1 \"x.h\" 1 3\nint f(void) { return 1; }\n# 2 \"src/a.c\" 2\n")
	p.write("b.c", "int g(void) { }")
	for _, args := range [][]string{{"-c", "a.i"}, {"-x", "cpp-output", "-c", "a.i"}, {"-fpreprocessed", "-c", "a.i"}} {
		in, n := p.find(args...)
		assert.Equal(t, []string{"a.i"}, in.Files)
		assert.Equal(t, []string{"f"}, defines(t, in, "f", "g"))
		assert.Zero(t, n, "nobody is asked")
	}
	in, _ := p.find("-fpreprocessed", "-c", "b.c", "a.i")
	assert.Equal(t, []string{"g", "f"}[1:], defines(t, in, "f"))
	assert.Equal(t, []string{"b.c", "a.i"}, in.Files)
}

// TestRealInputs finds inputs with the machine's own compiler.
func TestRealInputs(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("a.c", "#include <stddef.h>\n#include \"a b.h\"\n#define MAKE(x) int x##_made(void) { return 1; }\nMAKE(f)\n")
	write("a b.h", "static int g(void) { return 0; }\n")
	compiler, err := toolchain.Find(t.Context(), command.Parse([]string{gcc}, dir), nil)
	require.NoError(t, err)
	find := func(args ...string) (*Inputs, error) {
		return Find(t.Context(), command.Parse(append([]string{gcc}, args...), dir), compiler, nil)
	}
	in, err := find("-O2", "-MMD", "-MF", "x.d", "-c", "a.c", "-o", "x.o", "-save-temps")
	require.NoError(t, err)
	assert.Equal(t, "a.c", in.Files[0])
	assert.Contains(t, in.Files, "a b.h")
	assert.Equal(t, []string{"f_made", "g"}, defines(t, in, "f_made", "g", "h", "MAKE"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing is written")

	// A precompiled header, with its header and without.
	write("pre.h", "static int h(void) { return 3; }\n")
	write("b.c", "#include \"pre.h\"\nint k(void) { return h(); }\n")
	cmd := exec.Command(gcc, "-O2", "-x", "c-header", "pre.h", "-o", "pre.h.gch")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	in, err = find("-O2", "-c", "b.c")
	require.NoError(t, err)
	assert.Equal(t, []string{"h", "k"}, defines(t, in, "h", "k", "f"))
	require.NoError(t, os.Remove(filepath.Join(dir, "pre.h")))
	_, err = find("-O2", "-c", "b.c")
	assert.ErrorIs(t, err, ErrNoText)
	_, err = find("-O2", "-c", "missing.c")
	assert.Error(t, err)
	assert.NotErrorIs(t, err, ErrNoText)
}

func TestFindInputsModules(t *testing.T) {
	gcc := testenv.Tool(t, "g++")
	dir := t.TempDir()
	compiler, err := toolchain.Find(t.Context(), command.Parse([]string{gcc}, dir), nil)
	require.NoError(t, err)
	for text, known := range map[string]bool{
		"import shop;\nint f();\n":                false,
		"module;\nexport  import :part;\n":        false,
		"module shop;\nint f();\n":                false,
		"export module shop;\nint f();\n":         true,
		"int import(int module);\nint module ;\n": true,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.cc"), []byte(text), 0o666))
		for _, option := range []string{"-fmodules-ts", "-O2"} {
			c := command.Parse([]string{gcc, "-std=c++20", option, "-c", "a.cc"}, dir)
			_, err := Find(t.Context(), c, compiler, nil)
			if known || option == "-O2" {
				assert.NoError(t, err, text)
				continue
			}
			assert.ErrorIs(t, err, ErrNoText, text)
		}
	}
}
