package rebase

import (
	"bytes"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
)

// sourceNames are the file name extensions of C and C++ sources.
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

// A folder reads the sources below a directory for [Sources.AddFolder].
type folder struct {
	sources *Sources
	dir     string
	others  map[string][]string // paths of files without an extension of sourceNames, by base name
}

// visit reads a file if its extension is that of a source. It is called for each file and folder.
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

// add reads a file and adds it to the sources, by its path relative to the folder.
func (d *folder) add(path string) error {
	relative, err := filepath.Rel(d.dir, path)
	if err != nil {
		return err
	}
	return d.sources.read(path, filepath.ToSlash(relative))
}

// addIncluded reads the files in d.others that are included by sources from index first on,
// directly or indirectly.
func (d *folder) addIncluded(first int) error {
	for i := first; i < len(d.sources.files); i++ {
		for line := range bytes.Lines(d.sources.files[i].text) {
			base := pathpkg.Base(includedName(line))
			paths := d.others[base]
			delete(d.others, base)
			for _, path := range paths {
				if err := d.add(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// includedName returns the file name in a line with an "#include" directive, or "" for other lines.
func includedName(line []byte) string {
	directive, isDirective := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("#"))
	rest, isInclude := bytes.CutPrefix(bytes.TrimLeft(directive, " \t"), []byte("include"))
	begin := bytes.IndexAny(rest, `<"`) + 1
	end := bytes.IndexAny(rest[begin:], `">`)
	if !isDirective || !isInclude || begin == 0 || end < 0 {
		return ""
	}
	return string(rest[begin : begin+end])
}

// cacheTag is the beginning of a CACHEDIR.TAG file, which marks a cache
// (https://bford.info/cachedir/).
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

// isCache reports whether a CACHEDIR.TAG marks a folder as a cache.
func isCache(dir string) bool {
	const maxTag = 1 << 16 // bytes of a tag, which is a few lines
	text, err := files.ReadFile(filepath.Join(dir, "CACHEDIR.TAG"), maxTag)
	return err == nil && bytes.HasPrefix(text, []byte(cacheTag))
}
