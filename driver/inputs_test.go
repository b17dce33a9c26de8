package driver

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A project is a folder with a compiler that lists what the file list says.
type project struct {
	*testing.T
	dir string
	now time.Time // later with each file that is written
}

func newProject(t *testing.T) *project {
	p := &project{T: t, dir: t.TempDir(), now: time.Now().Add(-time.Hour)}
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(t.TempDir(), "cache"))
	fakeCompiler(t, filepath.Join(p.dir, "gcc"), fsf, "12.2.0")
	return p
}

func (p *project) write(name, text string) {
	path := filepath.Join(p.dir, name)
	require.NoError(p, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(p, os.WriteFile(path, []byte(text), 0o666))
	p.now = p.now.Add(time.Second)
	require.NoError(p, os.Chtimes(path, p.now, p.now))
}

// find finds the inputs of a command and returns them with the number of questions so far.
func (p *project) find(args ...string) (*Inputs, int) {
	p.Helper()
	c := ParseCommand(append([]string{"./gcc"}, args...), p.dir)
	compiler, err := FindCompiler(c, OpenCache())
	require.NoError(p, err)
	in, err := FindInputs(c, compiler, OpenCache())
	require.NoError(p, err)
	return in, len(asked(p.T, p.dir)) - 2
}

func TestFindInputs(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "#include \"a.h\"\nint f(void) { return 1; }\n")
	p.write("a.h", "static inline int g(void) { return 2; }\n")
	p.write("list", "a.o: a.c \\\n a.h \\\n gone.h\n")
	want := &Inputs{Files: []string{"a.c", "a.h", "gone.h"}, Defined: []string{"f", "g"}, From: "the compiler's -M"}
	in, n := p.find("-c", "a.c")
	assert.Equal(t, want, in)
	assert.Equal(t, 1, n)
	in, n = p.find("-c", "a.c")
	assert.Equal(t, "the last run", in.From)
	assert.Equal(t, want.Sum(), in.Sum())
	assert.Equal(t, 1, n)

	// The object, and what it is for, do not matter; what is included where does.
	_, n = p.find("-c", "a.c", "-o", "b.o", "-MMD")
	assert.Equal(t, 1, n)
	_, n = p.find("-c", "a.c", "-DX")
	assert.Equal(t, 2, n)
	t.Setenv("CPATH", "/x")
	_, n = p.find("-c", "a.c")
	assert.Equal(t, 3, n)
	t.Setenv("CPATH", "")

	// New text with the same directives, and with others; a file that goes.
	p.write("list", "a.o: a.c a.h\n")
	_, n = p.find("-c", "a.c", "-DY")
	p.write("a.h", "static inline int h(void) { return 2; }\n")
	in, m := p.find("-c", "a.c", "-DY")
	assert.Equal(t, []string{"f", "h"}, in.Defined)
	assert.Equal(t, n, m)
	p.write("a.h", "#define H\nstatic inline int h(void) { return 2; }\n")
	in, m = p.find("-c", "a.c", "-DY")
	assert.Equal(t, "the compiler's -M", in.From)
	assert.Equal(t, n+1, m)
	require.NoError(t, os.Remove(filepath.Join(p.dir, "a.h")))
	_, m = p.find("-c", "a.c", "-DY")
	assert.Equal(t, n+2, m)
}

func TestInputsFromDepfile(t *testing.T) {
	p := newProject(t)
	p.write("list", "a.o: a.c from/compiler.h\n")
	p.write("a.c", "int f(void) { return 1; }\n")
	p.write("a.h", "\n")
	p.write("a.d", "a.o: a.c a.h\n\na.h:\n")

	in, n := p.find("-MD", "-c", "a.c")
	assert.Equal(t, &Inputs{Files: []string{"a.c", "a.h"}, Defined: []string{"f"}, From: "a.d"}, in)
	assert.Zero(t, n)

	// The build has written it again.
	p.write("a.d", "a.o: a.c a.h\n")
	in, n = p.find("-MD", "-c", "a.c")
	assert.Equal(t, "the last run", in.From)
	p.write("b.h", "\n")
	p.write("a.d", "a.o: a.c b.h\n")
	in, _ = p.find("-MD", "-c", "a.c")
	assert.Equal(t, []string{"a.c", "b.h"}, in.Files)
	assert.Zero(t, n)

	// It tells too little, is too old, is another's, or is none.
	for i, spoil := range []func(){
		func() { p.write("b.h", "#define B\n") },
		func() { p.write("a.d", "x.o: x.c\n") },
		func() { p.write("a.d", "a.o: a.c missing.h\n") },
		func() { p.write("a.d", "nonsense\n") },
		func() { require.NoError(t, os.Remove(filepath.Join(p.dir, "a.d"))) },
	} {
		spoil()
		in, _ := p.find("-MD", "-c", "a.c", "-DX="+string(rune('a'+i)))
		assert.Equal(t, []string{"a.c", "from/compiler.h"}, in.Files, "%d", i)
	}
	p.write("a.d", "a.o: a.c\n")
	in, _ = p.find("-MMD", "-c", "a.c", "-DY")
	assert.Equal(t, "the compiler's -M", in.From)
}

func TestInputsErrors(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "#include \"x.h\"\n")
	c := ParseCommand([]string{"./gcc", "-c", "a.c"}, p.dir)
	compiler, err := FindCompiler(c, nil)
	require.NoError(t, err)
	_, err = FindInputs(c, compiler, nil)
	assert.EqualError(t, err, compiler.Path+" -M: exit status 1: a.c:1: error: no x.h")
	p.write("list", "no rule\n")
	_, err = FindInputs(c, compiler, nil)
	assert.ErrorIs(t, err, ErrDepfile)
}

// TestRealInputs lets the machine's own compiler list the headers.
func TestRealInputs(t *testing.T) {
	gcc := needCompiler(t, "gcc")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte("#include <stddef.h>\n#include \"a b.h\"\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a b.h"), []byte("static int f(void) { return 0; }\n"), 0o666))
	c := ParseCommand([]string{gcc, "-O2", "-MMD", "-MF", "x.d", "-c", "a.c", "-o", "x.o"}, dir)
	compiler, err := FindCompiler(c, nil)
	require.NoError(t, err)
	in, err := FindInputs(c, compiler, nil)
	require.NoError(t, err)
	assert.Equal(t, "a.c", in.Files[0])
	assert.Contains(t, in.Files, "a b.h")
	assert.Contains(t, in.Defined, "f")
	assert.Condition(t, func() bool {
		for _, name := range in.Files {
			if filepath.Base(name) == "stddef.h" {
				return true
			}
		}
		return false
	}, "%v", in.Files)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing is written")
}

func TestPreprocessedInputs(t *testing.T) {
	p := newProject(t)
	p.write("list", "a.o: a.i\n")
	p.write("a.i", "# 0 \"src/a.c\"\n# 0 \"<built-in>\"\n# 1 \"/b\\\\c/x.h\" 1 3\nint f(void) { return 1; }\n# 2 \"src/a.c\" 2\n# 1 \"/build//\"\n")
	in, _ := p.find("-c", "a.i")
	assert.Equal(t, []string{"a.i", "src/a.c", `/b\c/x.h`}, in.Files)
	assert.Equal(t, []string{"f"}, in.Defined)
}

func TestHashDirectives(t *testing.T) {
	base := hashDirectives([]byte("#include \"a.h\"\nint x;\n#if A \\\n B\n#endif\n"))
	for text, same := range map[string]bool{
		"#include \"a.h\"\nint y;\n#if A \\\n B\n#endif\n":  true,
		"#include \"a.h\"\n\n  #if A \\\n B\n#endif\n":      false,
		"#include \"b.h\"\nint x;\n#if A \\\n B\n#endif\n":  false,
		"#include \"a.h\"\nint x;\n#if A \\\n C\n#endif\n":  false,
		"#include \"a.h\"\nint x;\n#if A \\\n B\n#endif\nx": true,
		"": false, "#": false, "#\\": false,
	} {
		assert.Equal(t, same, base == hashDirectives([]byte(text)), text)
	}
}
