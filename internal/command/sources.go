package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HidesNames returns the reason, for a message, why the preprocessed sources may lack names of
// functions that the command compiles. Reasons are a language other than C and C++, modules and the
// like. It returns "" if the sources contain all names.
func (c *Line) HidesNames() string {
	for i := range c.words {
		if l := c.words[i].source; l != nil && l.hidden {
			return l.name
		}
	}
	switch {
	case c.unclear:
		return "a response file with backslashes, of which compilers keep different ones"
	case c.Clang && c.wordsHide():
		return "modules, another working directory, a precompiled header or names that are guessed"
	case c.preprocessed && c.Mentions("-fdirectives-only"):
		return "macros in preprocessed sources"
	case slices.ContainsFunc(c.words, func(w word) bool { return c.readsPipe(&w) }):
		return "an option that reads a pipe"
	}
	return ""
}

// readsPipe reports whether an option names a file that can be read only once, such as a pipe of
// the shell (-include <(...)). If the launcher afdo exec read it, the compiler could not.
func (c *Line) readsPipe(option *word) bool {
	path := option.value
	if at := strings.IndexAny(option.text, "@/"); !option.hasValue && at >= 0 {
		path = strings.TrimPrefix(option.text[at:], "@")
	}
	if path == "" || path == os.DevNull || !forPreprocessor(option.text) || strings.HasPrefix(option.text, "-Wl,") || strings.HasPrefix(option.text, "-Wa,") {
		return false
	}
	info, err := os.Stat(c.Path(path))
	return path == "/dev/stdin" || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// ReadsOnlyStdin reports whether the command could use a profile if its source were not standard
// input.
func (c *Line) ReadsOnlyStdin() bool {
	return c.Reason == ReadsStdin && c.stdin && !slices.ContainsFunc(c.Sources, c.readOnce)
}

// TakeStdin sets the text of standard input, which the caller has read. The command can then use a
// profile, with a source that is called "-".
func (c *Line) TakeStdin(text []byte) {
	c.Stdin, c.stdin, c.Sources = text, false, nil
	for i := range c.words {
		w := &c.words[i]
		if w.text == Stdin && w.source == nil {
			w.source = languageOf(w.option, Stdin)
		}
		if w.source != nil {
			c.Sources = append(c.Sources, w.text)
		}
	}
	c.Object = c.object()
	c.Reason = c.judge()
}

// Stdin is the name of standard input among the sources.
const Stdin = "-"

// Files returns the file names in the command line, whatever the files contain.
func (c *Line) Files() []string {
	var names []string
	for i := range c.words {
		if text := c.words[i].text; !strings.HasPrefix(text, "-") {
			names = append(names, text)
		}
	}
	return names
}

// KnowsModules reports whether an option makes the compiler support C++ modules. Some build systems
// set it for all C++20 sources, whether or not they use modules.
func (c *Line) KnowsModules() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.text, "-fmodule") })
}

// Preprocessed returns those sources of the command that are already preprocessed, such as files
// with the suffix .i.
func (c *Line) Preprocessed() []string {
	var sources []string
	for i := range c.words {
		if w := &c.words[i]; w.source != nil && c.isPreprocessed(w) {
			sources = append(sources, w.text)
		}
	}
	return sources
}

// isPreprocessed reports whether a source needs no preprocessing, by an option or by its suffix.
func (c *Line) isPreprocessed(source *word) bool {
	if c.preprocessed {
		return true
	}
	if source.option != "" && source.option != "none" {
		return strings.HasSuffix(source.option, "cpp-output")
	}
	return slices.Contains([]string{".i", ".ii"}, filepath.Ext(source.text))
}

// Compiles returns the sources, one for each run of the compiler proper. Most compilers run once
// per source. Some compile all sources of a language in one run, such as the files of a Go package.
// Compiles returns the first of these.
func (c *Line) Compiles() []string {
	var first []string
	seen := make(map[*language]bool)
	for i := range c.words {
		w := &c.words[i]
		if w.source == nil || w.source.atOnce && seen[w.source] {
			continue
		}
		seen[w.source] = true
		first = append(first, w.text)
	}
	return first
}

// CompileTo returns a command line that compiles one of the command's sources to an object, without
// a profile and without the launchers. It adds the given flags. If the compiler compiles all
// sources of the language in one run, the command line has all of them. It writes no other output.
func (c *Line) CompileTo(source, object string, flags ...string) []string {
	wanted := c.languageOf(source)
	args := c.argsFor(func(w *word) bool { return w.text == source || w.source == wanted && wanted.atOnce })
	argv := append([]string{c.Compiler}, args...)
	if wanted != nil && wanted.modules {
		argv = withModulesIn(argv, filepath.Dir(object))
	}
	argv = append(argv, flags...)
	return append(argv, "-c", "-o", object)
}

// ModulesBefore returns a command line for the Fortran sources that the command compiles before
// source. It writes their modules into a folder, where the compile of source finds them. The result
// is nil if there are no such sources.
func (c *Line) ModulesBefore(source, folder string) []string {
	reached, any := false, false
	args := c.argsFor(func(w *word) bool {
		reached = reached || w.text == source
		before := !reached && w.source.modules
		any = any || before
		return before
	})
	if wanted := c.languageOf(source); !any || wanted == nil || !wanted.modules {
		return nil
	}
	return append(withModulesIn(append([]string{c.Compiler}, args...), folder), "-fsyntax-only")
}

// languageOf returns the language of one of the command's sources.
func (c *Line) languageOf(source string) *language {
	for i := range c.words {
		if w := &c.words[i]; w.source != nil && w.text == source {
			return w.source
		}
	}
	return nil
}

// withModulesIn changes a command line so that the compiler writes Fortran modules into a folder.
// It still finds modules in the folder of the original -J.
func withModulesIn(argv []string, folder string) []string {
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if rest, ok := strings.CutPrefix(arg, "-J"); ok {
			argv[i] = "-I" + rest
		}
	}
	return append(argv, "-J", folder)
}

// Level returns the last -O option, which sets the optimisation level, or "".
func (c *Line) Level() string {
	for _, w := range slices.Backward(c.words) {
		if strings.HasPrefix(w.text, "-O") {
			return w.text
		}
	}
	return ""
}

// Optimises reports whether the command has a -O option other than -O0.
func (c *Line) Optimises() bool { return c.Level() != "" && c.Level() != "-O0" }

// Mentions reports whether an argument contains a text. It also searches response files.
func (c *Line) Mentions(text string) bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.Contains(w.text+w.value, text) })
}

// IsCompilerName reports whether a name is that of a compiler of GCC or clang, with an optional
// target before it and an optional version after it.
func IsCompilerName(name string) bool { return hasCompilerName(name) || hasClangName(name) }
