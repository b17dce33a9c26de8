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
