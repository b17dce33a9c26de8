package driver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/slice"
)

// addText adds a preprocessed text. Functions of modules that it imports are not in it.
func (c *Command) addText(all *slice.Text, text []byte) error {
	if c.hasModules() && importsModule(text) {
		return fmt.Errorf("modules: %w", ErrNoText)
	}
	all.Add(text)
	return nil
}

// hasModules reports whether GCC is told to know modules. Build systems do so for all of C++20.
func (c *Command) hasModules() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.text, "-fmodule") })
}

// importsModule reports whether a preprocessed text imports a module or a header unit, or is a part
// of a module, which imports that. What it exports is in the text.
func importsModule(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimLeft(line, " \t")
		rest, exports := bytes.CutPrefix(line, []byte("export "))
		word, name := firstWord(bytes.TrimLeft(rest, " \t"))
		switch word {
		case "import", "__import":
			return true
		case "module", "__module":
			if !exports && len(name) > 0 && name[0] != ';' {
				return true
			}
		}
	}
	return false
}

// firstWord returns the word that a line begins with, and what comes behind it and white space.
func firstWord(line []byte) (word string, rest []byte) {
	end := bytes.IndexFunc(line, func(r rune) bool { return r != '_' && (r < 'a' || 'z' < r) })
	if end < 0 {
		end = len(line)
	}
	return string(line[:end]), bytes.TrimSpace(line[end:])
}
