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
