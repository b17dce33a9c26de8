package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// goingOn are the files of a program in C and of one in C++, by the name of the compiler. Headers
// and sources are in separate folders.
var goingOn = map[string]map[string]string{
	"gcc": {
		"inc/half.h": "static inline int half(int x) {\n  return x / 2;\n}\n",
		"src/main.c": "#include \"../inc/half.h\"\n" +
			"__attribute__((noinline)) int loop(int n) {\n  int s = 0;\n" +
			"  for (int i = 0; i < n; i++)\n    s += half(i) ^ n;\n  return s;\n}\n" +
			"int main(int argc, char **argv) { return loop(argc * 100) & 1; }\n",
	},
	"g++": {
		"inc/half.h": "struct halver {\n  int s;\n  halver(int s) : s(s) {}\n" +
			"  template <class T> int half(T x) { return x / 2 + s; }\n};\n",
		"src/main.cc": "#include \"../inc/half.h\"\n" +
			"__attribute__((noinline)) int loop(int n) {\n  halver h(n);\n  auto add = [&](int i) { h.s += h.half(i) ^ n; };\n" +
			"  for (int i = 0; i < n; i++)\n    add(i);\n  return h.s;\n}\n" +
			"int main(int argc, char **argv) { return loop(argc * 100) & 1; }\n",
	},
}

// TestCreatedProfileGoesOn checks that the paths in a profile made by create fit the verbs slice,
// exec, annotate, report and pprof.
func TestCreatedProfileGoesOn(t *testing.T) {
	t.Parallel()
	for compiler, sources := range goingOn {
		t.Run(compiler, func(t *testing.T) {
			if compiler == "g++" {
				testenv.NeedSweep(t)
			}
			testenv.Tool(t, compiler)
			s := newSite(t)
			relative, function := "../src/main.c", "loop"
			if compiler == "g++" {
				relative, function = "../src/main.cc", "_Z4loopi"
			}
			for name, text := range sources {
				s.write(name, text)
			}
			source, header := filepath.Join(s.dir, relative[2:]), s.path("inc/half.h")
			s.write("build/note", "")
			s.dir = s.path("build")
			s.run(compiler, "-O2", "-g", relative, "-o", "prog")
			s.run("afdo", "create", "--binary", "prog", "--profile", sampled(t, s.path("prog"), function, 50, 7), "-o", "prog.afdo")

			units := s.run("afdo", "units", "prog.afdo")
			assert.Contains(t, units, source)
			assert.Contains(t, units, header)
			slice := s.run("afdo", "slice", "prog.afdo", "--unit", source, "--to", "text")
			assert.Contains(t, slice, source)
			assert.Contains(t, slice, function)
			s.run("afdo", "exec", "--profile", "prog.afdo", "--", compiler, "-O2", "-c", relative, "-o", "main.o")
			assert.Contains(t, s.run("afdo", "top", "main.o.afdo"), "loop")
			assert.Contains(t, s.run("afdo", "annotate", "prog.afdo", "--unit", source, "--binary", "prog"), "for (int i = 0; i < n; i++)")
			s.run("afdo", "report", "prog.afdo", "-o", "report.html")
			assert.Contains(t, s.read("report.html"), filepath.Base(source))
			s.run("afdo", "pprof", "prog.afdo", "-o", "prog.pb.gz")
			if testenv.Sweep() { // Go builds that program first
				assert.Contains(t, s.run("go", "tool", "pprof", "-raw", "prog.pb.gz"), source+":")
			}
		})
	}
}
