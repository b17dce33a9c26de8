package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// HidesNames returns what keeps the names of functions out of the text that the command compiles: a
// language other than C and C++, modules and the like. It is empty if nothing does.
func (c *Line) HidesNames() string {
	for i := range c.words {
		if l := c.words[i].source; l != nil && l.hidden {
			return l.name
		}
	}
	if c.Clang && c.wordsHide() {
		return "modules, a precompiled header or names that are guessed"
	}
	return ""
}

// ReadsOnlyStdin reports whether standard input is a source of a command that could use a profile,
// and no other source is a pipe.
func (c *Line) ReadsOnlyStdin() bool {
	return c.Reason == ReadsStdin && c.stdin && !slices.ContainsFunc(c.Sources, c.readOnce)
}

// TakeStdin gives a command the text of its standard input. The command is then judged like one
// whose sources are files, with a source that is called "-".
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

// Stdin is the name of standard input as a source.
const Stdin = "-"

// Files returns the words of the command that name its inputs, whatever they contain.
func (c *Line) Files() []string {
	var names []string
	for i := range c.words {
		if text := c.words[i].text; !strings.HasPrefix(text, "-") {
			names = append(names, text)
		}
	}
	return names
}

// KnowsModules reports whether an option makes GCC support modules. Build systems use it for all of
// C++20.
func (c *Line) KnowsModules() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.text, "-fmodule") })
}

// Preprocessed returns the sources that are preprocessed already.
func (c *Line) Preprocessed() []string {
	var sources []string
	for i := range c.words {
		if w := &c.words[i]; w.source != nil && c.isPreprocessed(w) {
			sources = append(sources, w.text)
		}
	}
	return sources
}

// isPreprocessed reports whether a source has been preprocessed.
func (c *Line) isPreprocessed(source *word) bool {
	if c.preprocessed {
		return true
	}
	if source.option != "" && source.option != "none" {
		return strings.HasSuffix(source.option, "cpp-output")
	}
	return slices.Contains([]string{".i", ".ii"}, filepath.Ext(source.text))
}

// Compiles returns the sources that the command compiles one by one, and of those that one run of
// the compiler takes, as it does files of a package of Go, the first.
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

// CompileTo returns a command line that compiles one of the command's sources to an object, with
// those that the compiler takes at once with it, and with more flags and without a profile. It
// writes nothing else, and runs without the launchers.
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

// ModulesBefore returns a command line that writes the modules of Fortran that the command has
// compiled before it comes to one of its sources into a folder, nil if there are none.
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

// languageOf returns what a source of the command is written in.
func (c *Line) languageOf(source string) *language {
	for i := range c.words {
		if w := &c.words[i]; w.source != nil && w.text == source {
			return w.source
		}
	}
	return nil
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

// Mentions reports whether an argument, or a word of a response file, contains a text.
func (c *Line) Mentions(text string) bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.Contains(w.text+w.value, text) })
}

// IsCompilerName reports whether a name is the name of a compiler of GCC or clang, with an optional
// target before it and an optional version after it.
func IsCompilerName(name string) bool { return hasCompilerName(name) || hasClangName(name) }
