package rebase

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
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
			g := &function{file: file, name: name, scope: join(f.Scope, name.Qualifier), outline: f, text: text}
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

func join(outer, inner string) string {
	if outer == "" || inner == "" {
		return outer + inner
	}
	return outer + "::" + inner
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

// sourceNames are the ends of names of files with C and C++.
var sourceNames = []string{
	".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def", ".y", ".l", ".re", ".ixx", ".cppm",
}

// AddFolder reads all C and C++ files in a folder and its subfolders, and the files that they
// include, whatever their names. It skips folders whose name begins with a dot, and caches, which
// contain a CACHEDIR.TAG, such as the folder of "afdo tune" with its copies of the sources. Paths
// are relative to the folder.
func (s *Sources) AddFolder(dir string) error {
	f, err := os.Open(dir) // whose error is worded as that of any other file
	if err != nil {
		return err
	}
	_ = f.Close()
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	d := folder{sources: s, dir: dir, others: make(map[string][]string)}
	first := len(s.files)
	if err := filepath.WalkDir(dir, d.visit); err != nil {
		return err
	}
	return d.addIncluded(first)
}

// A folder is one whose sources are read.
type folder struct {
	sources *Sources
	dir     string
	others  map[string][]string // paths of files that are not named like sources, by their last part
}

func (d *folder) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	switch name := strings.ToLower(entry.Name()); {
	case entry.IsDir() && path != d.dir && (strings.HasPrefix(name, ".") || isCache(path)):
		return filepath.SkipDir
	case !entry.Type().IsRegular():
		return nil
	case !slices.Contains(sourceNames, filepath.Ext(name)):
		d.others[entry.Name()] = append(d.others[entry.Name()], path)
		return nil
	}
	return d.add(path)
}

func (d *folder) add(path string) error {
	relative, err := filepath.Rel(d.dir, path)
	if err != nil {
		return err
	}
	return d.sources.read(path, filepath.ToSlash(relative))
}

// addIncluded reads the other files that sources from the first one on include, and what those do.
func (d *folder) addIncluded(first int) error {
	for i := first; i < len(d.sources.files); i++ {
		for name := range included(d.sources.files[i].text) {
			paths := d.others[pathpkg.Base(name)]
			delete(d.others, pathpkg.Base(name))
			for _, path := range paths {
				if err := d.add(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// included iterates over the names that a text includes files by.
func included(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(text) {
			rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("#"))
			if !ok {
				continue
			}
			rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("include"))
			begin := bytes.IndexAny(rest, `<"`) + 1
			end := bytes.IndexAny(rest[begin:], `">`)
			if ok && begin > 0 && end >= 0 && !yield(string(rest[begin:begin+end])) {
				return
			}
		}
	}
}

// cacheTag is how the file that marks a cache begins (https://bford.info/cachedir/).
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

func isCache(dir string) bool {
	f, _, err := files.Open(filepath.Join(dir, "CACHEDIR.TAG"))
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(cacheTag))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == cacheTag
}
