package driver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/launch/record"
)

// markers holds the file names in the line markers of a preprocessed text.
type markers struct {
	files []string   // from which the text was made, each once
	pairs []included // by which file a file was included, those of the system left out
}

// An included file may also be found beside the one that includes it.
type included struct{ folder, file string }

// readMarkers reads the lines "# LINE "FILE" FLAGS": 1 is where a file begins, 2 where one goes on,
// 3 that it is the system's.
func readMarkers(text []byte) markers {
	var m markers
	seen := make(map[string]bool)
	seenPair := make(map[included]bool)
	current, system := "", false
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line = text[:end]
		}
		text = text[min(len(line)+1, len(text)):]
		name, flags, ok := parseMarker(line)
		if !ok {
			continue
		}
		if strings.HasSuffix(name, "//") { // the working folder
			continue
		}
		if bytes.IndexByte(flags, '1') >= 0 && !system {
			if pair := (included{filepath.Dir(current), name}); !seenPair[pair] {
				seenPair[pair] = true
				m.pairs = append(m.pairs, pair)
			}
		}
		current, system = name, bytes.IndexByte(flags, '3') >= 0
		if !seen[name] {
			seen[name] = true
			m.files = append(m.files, name)
		}
	}
	return m
}

// parseMarker reads a line marker of a file. A marker of <command-line> and the like is none.
func parseMarker(line []byte) (name string, flags []byte, ok bool) {
	if len(line) < len(`# 1 "x"`) || line[0] != '#' || line[1] != ' ' || !isDigit(line[2]) {
		return "", nil, false
	}
	_, rest, _ := bytes.Cut(line, []byte{'"'})
	end := bytes.LastIndexByte(rest, '"')
	if end <= 0 || rest[0] == '<' {
		return "", nil, false
	}
	return unescape(string(rest[:end])), rest[end+1:], true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unescape returns a string without the backslashes of C.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			out = append(out, s[i])
		case i+3 < len(s) && '0' <= s[i+1] && s[i+1] <= '3': // three octal digits
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			i++
			out = append(out, s[i])
		}
	}
	return string(out)
}

// A watch finds the files that are not there and that a command would include instead of one that
// is, if they were.
type watch struct {
	dir    string            // of the command
	search []string          // folders of the compiler's search, in order and clean
	there  map[string]string // the nearest folder that is there, by folder
	seen   map[string]bool
	found  map[string][]string // names that are not there, by the nearest folder that is
	stays  []string            // what is there, and was asked for
}

// newWatched returns what would have to be there first, by the folder that would change, and what
// must not go away.
func newWatched(dir string, search []string, m markers, asked []question) (list []record.Watched, there []string) {
	w := watch{dir: dir, there: make(map[string]string), seen: make(map[string]bool), found: make(map[string][]string)}
	for _, folder := range search {
		w.search = append(w.search, filepath.Clean(folder))
	}
	names := make(map[string][]string)
	for _, file := range m.files {
		names[file] = w.names(file)
	}
	for _, pair := range m.pairs {
		for _, name := range names[pair.file] {
			w.candidate(filepath.Join(pair.folder, name))
		}
	}
	for _, q := range asked {
		w.question(q)
	}
	for folder, missing := range w.found {
		slices.Sort(missing)
		list = append(list, record.Watched{Folder: record.Look(dir, folder), Missing: slices.Compact(missing)})
	}
	slices.SortFunc(list, func(a, b record.Watched) int { return strings.Compare(a.Folder.Path, b.Folder.Path) })
	slices.Sort(w.stays)
	return list, slices.Compact(w.stays)
}

// question watches all that may be the answer to a question.
func (w *watch) question(q question) {
	folders := w.search
	switch {
	case filepath.IsAbs(q.name):
		folders = []string{""}
	case q.folder != "":
		folders = append([]string{q.folder}, folders...)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, q.name)
		if record.Exists(w.dir, path) {
			w.stays = append(w.stays, path)
		} else {
			w.candidate(path)
		}
	}
}

// names returns the names by which a file may have been included. It also watches the folders in
// which the compiler searched for these names before.
func (w *watch) names(file string) []string {
	names := []string{filepath.Base(file)}
	file = filepath.Clean(file)
	for i, folder := range w.search {
		name, ok := strings.CutPrefix(file, folder)
		if !ok || name == "" || !os.IsPathSeparator(name[0]) {
			continue
		}
		name = name[1:]
		if name != names[0] {
			names = append(names, name)
		}
		for _, before := range w.search[:i] {
			w.candidate(filepath.Join(before, name))
		}
	}
	return names
}

// candidate watches a path if there is nothing.
func (w *watch) candidate(path string) {
	if w.seen[path] {
		return
	}
	w.seen[path] = true
	folder := w.nearest(filepath.Dir(path))
	if folder == filepath.Dir(path) && record.Exists(w.dir, path) {
		return
	}
	w.found[folder] = append(w.found[folder], firstBelow(folder, path))
}

// firstBelow returns the first name of a path after the folder at its beginning.
func firstBelow(folder, path string) string {
	if folder != "." {
		path = strings.TrimPrefix(path[len(folder):], string(filepath.Separator))
	}
	name, _, _ := strings.Cut(path, string(filepath.Separator))
	return name
}

// nearest returns a folder, or the first one above it that is there.
func (w *watch) nearest(folder string) string {
	if known, ok := w.there[folder]; ok {
		return known
	}
	nearest := folder
	if !record.Exists(w.dir, folder) && filepath.Dir(folder) != folder {
		nearest = w.nearest(filepath.Dir(folder))
	}
	w.there[folder] = nearest
	return nearest
}

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
