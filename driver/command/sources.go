package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// HidesNames returns what keeps the names of functions out of the text that the command compiles:
// Objective-C, modules and the like. It is empty if nothing does.
func (c *Line) HidesNames() string {
	switch {
	case c.objectiveC():
		return "Objective-C"
	case c.Clang && c.wordsHide():
		return "modules, a precompiled header or names that are guessed"
	}
	return ""
}

// KnowsModules reports whether GCC is told to know modules. Build systems do so for all of C++20.
func (c *Line) KnowsModules() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.text, "-fmodule") })
}

// Preprocessed returns those of the sources that have been preprocessed.
func (c *Line) Preprocessed() []string {
	var sources []string
	for i := range c.words {
		if w := &c.words[i]; w.source && c.isPreprocessed(w) {
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
	if source.language != "" && source.language != "none" {
		return strings.HasSuffix(source.language, "cpp-output")
	}
	return slices.Contains([]string{".i", ".ii"}, filepath.Ext(source.text))
}

// objectiveC reports whether a command compiles Objective-C, whose methods have names that no
// source has.
func (c *Line) objectiveC() bool {
	return slices.ContainsFunc(c.words, func(w word) bool {
		if !w.source {
			return false
		}
		if w.language != "" && w.language != "none" {
			return strings.HasPrefix(w.language, "objective-c")
		}
		return slices.Contains([]string{".m", ".mi", ".mm", ".M", ".mii"}, filepath.Ext(w.text))
	})
}
