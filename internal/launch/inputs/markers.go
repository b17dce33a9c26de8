package inputs

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/pattern"
)

// readMarkers returns the names of the files in the line markers of preprocessed text, each once.
func readMarkers(text []byte) (files []string) {
	seen := make(map[string]bool)
	for name := range markersIn(text) {
		if !seen[name] {
			seen[name] = true
			files = append(files, name)
		}
	}
	return files
}

// filesBelow returns a header and all files that it includes, directly or indirectly, according to
// the line markers of preprocessed text.
func filesBelow(text []byte, header string) (files []string) {
	depth := 0
	for name, flags := range markersIn(text) {
		begins, ends := bytes.IndexByte(flags, '1') >= 0, bytes.IndexByte(flags, '2') >= 0
		switch {
		case begins && (depth > 0 || name == header):
			depth++
			files = append(files, name)
		case ends && depth > 0:
			depth--
		}
	}
	return files
}

// markersIn yields the file name and the flags of each line marker, # LINE "FILE" FLAGS, in
// preprocessed text. The flag 1 means that the file begins, and 2 that it continues after an
// included file.
func markersIn(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(text) > 0 {
			line := text
			if end := bytes.IndexByte(text, '\n'); end >= 0 {
				line = text[:end]
			}
			text = text[min(len(line)+1, len(text)):]
			name, flags, ok := parseMarker(line)
			if ok && !strings.HasSuffix(name, "//") && !yield(name, flags) { // else it is the working folder
				return
			}
		}
	}
}

// parseMarker parses a line marker. It returns false for other lines, and for markers of
// pseudo-files such as <command-line>.
func parseMarker(line []byte) (name string, flags []byte, ok bool) {
	if len(line) < len(`# 1 "x"`) || line[0] != '#' || line[1] != ' ' || !cpp.IsDigit(line[2]) {
		return "", nil, false
	}
	_, rest, _ := bytes.Cut(line, []byte{'"'})
	end := bytes.LastIndexByte(rest, '"')
	if end <= 0 || rest[0] == '<' {
		return "", nil, false
	}
	return string(cpp.Unescaped(nil, rest[:end])), rest[end+1:], true
}

// macroOption matches a #pragma that changes macros which the compiler predefines for the code
// after it. Such a #pragma selects instructions, the level of optimisation, inlining, or rules of
// floating point.
var macroOption = pattern.Of(`^#pragma GCC (target|optimize.*([O0-9]|math|nans|zeros|inline))`)

// changesOptions reports whether preprocessed text has a #pragma, outside of system headers, that
// changes predefined macros.
func changesOptions(text []byte) bool {
	system := false
	for line := range bytes.Lines(text) {
		if _, flags, ok := parseMarker(bytes.TrimSpace(line)); ok {
			system = bytes.IndexByte(flags, '3') >= 0
		} else if !system && macroOption().Match(line) {
			return true
		}
	}
	return false
}

// addText adds the identifiers in preprocessed text and the hash of the text to the inputs. It
// returns an error if the text imports a module, because the functions of that module are not in
// the text.
func (f *finder) addText(in *Inputs, text []byte) error {
	if f.KnowsModules() && importsModule(text) {
		return fmt.Errorf("modules: %w", ErrNoText)
	}
	in.text.Add(text)
	in.Record.Output += xxhash.Sum64(text)
	return nil
}

// importsModule reports whether preprocessed text imports a module or a header unit, or is an
// implementation unit or partition of a module. An interface unit contains all that it exports, so
// it does not count.
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

// firstWord returns the first word of a line, of lower-case letters and underscores, and the rest
// of the line without white space around it.
func firstWord(line []byte) (word string, rest []byte) {
	end := bytes.IndexFunc(line, func(r rune) bool { return r != '_' && (r < 'a' || 'z' < r) })
	if end < 0 {
		end = len(line)
	}
	return string(line[:end]), bytes.TrimSpace(line[end:])
}
