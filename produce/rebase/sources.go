package rebase

import (
	"cmp"
	"maps"
	pathpkg "path"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// Sources are the source files of a program, in one version, as texts in memory. The zero value has
// none.
type Sources struct {
	files  []source
	byName map[string][]*function // by unqualified name
	base   map[string][]int       // indexes of files by base name

	// declared, overloads and symbols are set if declarations are known.
	declared  map[string][]*function // by symbol
	overloads map[string][]*function // by unqualified name of the function
	symbols   map[string]bool        // all declared symbols, including those whose text is not known
}

// A source is a source file. It may also be the part of a file that a "#line" attributes to another
// file.
type source struct {
	path   string
	text   []byte
	byLine map[int][]*function // functions by the line of their name
	quoted bool                // the text is that of another file, which has a "#line"

	templates []outline.Template
}

// A function is a function in the sources under one of its possible names. A macro in a declaration
// looks like a name, so a function may have several.
type function struct {
	symbol  string // symbol in profiles; empty if only the text is known
	file    string
	name    outline.Name
	scope   string // enclosing classes and namespaces, such as "a::b"
	outline *outline.Function
	text    []byte
	marks   []outline.Mark // marks of the lines if the text is not known; outline is nil then
	lines   []outline.Line // set by Lines, until forget
}

// Lines returns the lines of a function for comparison with another version of it. They stay in
// memory until forget is called.
func (f *function) Lines() []outline.Line {
	switch {
	case f.lines != nil:
	case f.marks != nil:
		f.lines = outline.Marked(f.marks)
	default:
		f.lines = f.outline.Lines(f.text, slices.Index(f.outline.Names, f.name))
	}
	return f.lines
}

// linesLike returns the lines of f in a form that can be compared with the lines of other. If only
// the fingerprints (marks) of the lines of other are known, the result has only marks, too.
func (f *function) linesLike(other *function) []outline.Line {
	if other.marks == nil || f.marks != nil {
		return f.Lines()
	}
	return outline.Marked(outline.Marks(f.Lines()))
}

// forget frees the memory of a function's lines. Lines reads them again.
func (f *function) forget() { f.lines = nil }

// maxSource limits the size in bytes of a source file that is read.
const maxSource = 256 << 20

// ReadFile adds a regular file under the path from which it is read. It ignores a file of more than
// 256 MB.
func (s *Sources) ReadFile(path string) error { return s.read(path, filepath.ToSlash(path)) }

// read reads the file at path and adds it under the path as.
func (s *Sources) read(path, as string) error {
	text, err := readSource(path)
	if text != nil {
		s.AddFile(as, text)
	}
	return err
}

// AddFile adds a text, which must not change afterwards. Its path may be only the last components
// of the path in profiles.
func (s *Sources) AddFile(path string, text []byte) {
	if s.byName == nil {
		s.byName = make(map[string][]*function)
		s.base = make(map[string][]int)
	}
	parts := map[string]map[int][]*function{path: {}} // by file, as "#line" says
	functions, templates := outline.Outline(text)
	for i := range functions {
		f := &functions[i]
		file := cmp.Or(f.File, path)
		for _, name := range f.Names {
			g := &function{file: file, name: name, scope: outline.Join(f.Scope, name.Qualifier), outline: f, text: text}
			s.byName[name.Text] = append(s.byName[name.Text], g)
			if parts[file] == nil {
				parts[file] = make(map[int][]*function)
			}
			parts[file][name.Line] = append(parts[file][name.Line], g)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(parts)) {
		base := pathpkg.Base(file)
		s.base[base] = append(s.base[base], len(s.files))
		part := source{path: file, text: text, byLine: parts[file], quoted: file != path}
		if !part.quoted {
			part.templates = templates
		}
		s.files = append(s.files, part)
	}
}

// find returns the functions that may be a symbol's function. It finds them by their declarations
// in debug info if these are known, and otherwise by unqualified name.
func (s *Sources) find(_, symbol string, spelled *spelling) []*function {
	if s.declared != nil {
		return s.declared[symbol]
	}
	return s.byName[spelled.name]
}

// unchanged returns false: from texts alone it is not known that a file is unchanged. So the lines
// of its functions are compared.
func (s *Sources) unchanged(string) bool { return false }

// same reports whether the sources have the file of a unit, and the file has the hash sum, which a
// profile stores.
func (s *Sources) same(unit string, sum uint32) bool {
	file := s.fileOf(unit)
	return sum != 0 && file != nil && file.sum() == sum
}

// near returns functions with the unqualified name of a symbol, which spelled contains. One of them
// may be the symbol's function with other parameters or in another scope.
func (s *Sources) near(spelled *spelling) []*function {
	if list := s.overloads[spelled.name]; len(list) > 0 {
		return list
	}
	return s.byName[spelled.name]
}

// all iterates over all functions in the sources, once under each of their names.
func (s *Sources) all(yield func(*function) bool) {
	for _, list := range s.byName {
		for _, f := range list {
			if !yield(f) {
				return
			}
		}
	}
}
