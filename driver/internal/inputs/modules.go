package inputs

import (
	"bytes"
	"fmt"

	"github.com/go-afdo/afdo/slice"
)

// addText adds a preprocessed text. Functions of modules that it imports are not in it.
func (f *finder) addText(all *slice.Text, text []byte) error {
	if f.KnowsModules() && importsModule(text) {
		return fmt.Errorf("modules: %w", ErrNoText)
	}
	all.Add(text)
	return nil
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

// firstWord returns the first word of a line, and the rest after white space.
func firstWord(line []byte) (word string, rest []byte) {
	end := bytes.IndexFunc(line, func(r rune) bool { return r != '_' && (r < 'a' || 'z' < r) })
	if end < 0 {
		end = len(line)
	}
	return string(line[:end]), bytes.TrimSpace(line[end:])
}
