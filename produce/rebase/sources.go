package rebase

import (
	"maps"
	pathpkg "path"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// Sources are the texts of one state of a program's sources. The zero value has none. Texts are
// kept in memory as long as the Sources are.
type Sources struct {
	files  []source
	byName map[string][]*function // by unqualified name
	base   map[string][]int       // files by the last part of their path

	// If declarations are known:
	declared  map[string][]*function // by symbol
	overloads map[string][]*function // by unqualified name
	symbols   map[string]bool        // those whose text is not known included
}

// A source is one file.
type source struct {
	path   string
	text   []byte
	byLine map[int][]*function // by the line of the name
	quoted bool                // it is only a part of the text of another file, by "#line"

	templates []outline.Template
}

// A function is one of the sources. It may be there several times, under each name it may have.
type function struct {
	symbol  string // as profiles have it; empty if only the text is known
	file    string
	name    outline.Name
	scope   string // classes and namespaces
	outline *outline.Function
	text    []byte
	marks   []outline.Mark // of the lines, if that is all that is known; then there is no outline
	lines   []outline.Line // while they are looked at
}

// Lines returns the lines of a function. They are kept until [function.forget].
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

// linesLike returns the lines of a function in the form in which they can be compared with the
// lines of other: as text, or only by their marks.
func (f *function) linesLike(other *function) []outline.Line {
	if other.marks == nil || f.marks != nil {
		return f.Lines()
	}
	return outline.Marked(outline.Marks(f.Lines()))
}

// forget frees the memory of a function's lines, which can be read again.
func (f *function) forget() { f.lines = nil }

// maxSource limits the size in bytes of a source file that is read.
const maxSource = 256 << 20

// ReadFile reads a regular file. Its path is the one that it is read from. One of more than 256 MB
// is left out.
func (s *Sources) ReadFile(path string) error { return s.read(path, filepath.ToSlash(path)) }

// read reads a file that is to have another path.
func (s *Sources) read(path, as string) error {
	text, err := readSource(path)
	if text != nil {
		s.AddFile(as, text)
	}
	return err
}

// AddFile adds a text, which must not change any more. Its path may be the end of the one that
// profiles have.
func (s *Sources) AddFile(path string, text []byte) {
	if s.byName == nil {
		s.byName = make(map[string][]*function)
		s.base = make(map[string][]int)
	}
	parts := map[string]map[int][]*function{path: {}} // by file, as "#line" says
	functions, templates := outline.Outline(text)
	for i := range functions {
		f := &functions[i]
		file := path
		if f.File != "" {
			file = f.File
		}
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

// find returns the functions that are the one of a symbol.
func (s *Sources) find(_, symbol string, spelled *spelling) []*function {
	if s.declared != nil {
		return s.declared[symbol]
	}
	return s.byName[spelled.name]
}

// unchanged returns false: texts alone do not show that a file is unchanged. Their lines are
// compared.
func (s *Sources) unchanged(string) bool { return false }

// same reports whether the file of a unit is there with the sum that a profile remembers.
func (s *Sources) same(unit string, sum uint32) bool {
	file := s.fileOf(unit)
	return sum != 0 && file != nil && file.sum() == sum
}

// near returns functions of a symbol's unqualified name, which it may have become.
func (s *Sources) near(spelled *spelling) []*function {
	if list := s.overloads[spelled.name]; len(list) > 0 {
		return list
	}
	return s.byName[spelled.name]
}

// all iterates over all functions, once under each name.
func (s *Sources) all(yield func(*function) bool) {
	for _, list := range s.byName {
		for _, f := range list {
			if !yield(f) {
				return
			}
		}
	}
}
