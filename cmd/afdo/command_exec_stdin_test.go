//go:build unix

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestExecStdin compiles a source on standard input: the compiler gets it together with the slice
// that the same source has as a file.
func TestExecStdin(t *testing.T) {
	t.Parallel()
	gcc := testenv.Tool(t, "gcc")
	s := newSite(t)
	s.write("a.h", "int f1(void);\n")
	s.write("a.c", "#include \"a.h\"\nint f0(void) { return f1(); }\n")
	s.write("b.c", "#include \"a.h\"\nint f1(void) { return 1; }\n")
	launch := fmt.Sprintf("afdo exec -v --profile %s -- %s -O2 -c ", writeV4(t, tinyProfile("/src/a.c", "/src/b.c")), gcc)
	shell := func(script string) string { return s.run("sh", "-c", script) }
	shell(launch + "a.c -o file.o; " + launch + "b.c -o other.o")
	for i, c := range []struct{ script, like, says string }{
		{"cat a.c | " + launch + "-x c - -o stdin.o", "file.o", " files, from the compiler's -E"},
		{launch + "-x c - -o stdin.o < a.c", "file.o", " files, from the last run"},
		{"cat b.c | " + launch + "-x c - -o stdin.o", "other.o", " files, from the compiler's -E"},
		{gcc + " -E a.c | " + launch + "-x cpp-output - -o stdin.o", "file.o", " files, from the compiler's -E"},
	}[:testenv.Rounds(1, 4)] {
		assert.Contains(t, shell(c.script), c.says, i)
		assert.True(t, s.read(c.like+".afdo") == s.read("stdin.o.afdo"), "%d: slice", i)
		assert.Equal(t, shell("nm "+c.like), shell("nm stdin.o"), i)
	}
	assert.NotEqual(t, s.read("file.o.afdo"), s.read("other.o.afdo"))
}
