package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// CompileTo returns a command line that compiles one of the command's sources to an object, with
// more flags and without a profile. It writes nothing else, and runs without the launchers.
func (c *Line) CompileTo(source, object string, flags ...string) []string {
	fortran := false
	args := c.argsFor(func(w *word) bool {
		if w.text != source {
			return false
		}
		fortran = fortran || w.source.modules
		return true
	})
	argv := append([]string{c.Compiler}, args...)
	if fortran {
		argv = withModulesIn(argv, filepath.Dir(object))
	}
	argv = append(argv, flags...)
	return append(argv, "-c", "-o", object)
}

// withModulesIn has the compiler write Fortran's modules into a folder, and read them as before.
func withModulesIn(argv []string, folder string) []string {
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if rest, ok := strings.CutPrefix(arg, "-J"); ok {
			argv[i] = "-I" + rest
		}
	}
	return append(argv, "-J", folder)
}

// Level returns the option that says how far the compiler optimises, the last -O, or nothing.
func (c *Line) Level() string {
	for _, w := range slices.Backward(c.words) {
		if strings.HasPrefix(w.text, "-O") {
			return w.text
		}
	}
	return ""
}

// Optimises reports whether the command has an option that makes the compiler optimise.
func (c *Line) Optimises() bool { return c.Level() != "" && c.Level() != "-O0" }

// Mentions reports whether an argument, or a word of a response file, has a text in it.
func (c *Line) Mentions(text string) bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.Contains(w.text+w.value, text) })
}

// IsCompilerName reports whether a program of that name is a compiler of GCC or clang, maybe with a
// target before it and a version behind it.
func IsCompilerName(name string) bool { return hasCompilerName(name) || hasClangName(name) }
