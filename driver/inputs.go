package driver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/slice"
)

// Inputs are the files that a command reads and what they define.
type Inputs struct {
	Files   []string // sources and headers, those of the system included, as the command names them
	Defined []string // see slice.Definitions; sorted

	// From says how the files were found.
	From string
}

// Sum returns a number that changes when the inputs do.
func (in *Inputs) Sum() uint64 {
	h := xxhash.New()
	for _, list := range [][]string{in.Files, in.Defined} {
		for _, s := range list {
			_, _ = h.WriteString(s)
			_, _ = h.Write([]byte{0})
		}
		_, _ = h.Write([]byte{1})
	}
	return h.Sum64()
}

// FindInputs finds what a command includes, and goes through the text of it all.
//
// What the cache has from an earlier run holds as long as no file has another
// size or time, or if none of those that have differs in its preprocessor directives,
// unless it was a dependency file that told and that is another one now.
// Else it is the dependency file of the last build, if that lists the system's headers and
// is younger than all it lists; and else the compiler is asked with -M.
func FindInputs(c *Command, compiler *Compiler, cache *Cache) (*Inputs, error) {
	f := finder{Command: c, compiler: compiler}
	key := f.key()
	last, ok := f.last(cache, key)
	if ok && f.unchanged(last) {
		return last.inputs("the last run"), nil
	}
	if ok {
		if now, ok := f.again(last); ok {
			cache.Put("inputs", key, now.encode())
			return now.inputs("the last run"), nil
		}
	}
	files, from, when := f.fromDepfile()
	if files == nil {
		var err error
		if files, err = f.fromCompiler(); err != nil {
			return nil, err
		}
		from = "the compiler's -M"
	}
	now := f.scan(files)
	now.depfile = when
	cache.Put("inputs", key, now.encode())
	return now.inputs(from), nil
}

// ScanFiles goes through the text of files of a folder for what they define. Those that cannot be read define nothing.
func ScanFiles(files []string, dir string) *Inputs {
	f := finder{Command: &Command{Dir: dir}}
	return f.scan(files).inputs("")
}

// A finder finds the inputs of one command.
type finder struct {
	*Command
	compiler *Compiler
}

// key tells the command from all others that may include something else.
func (f *finder) key() string {
	parts := []string{f.compiler.Path, f.compiler.Version, f.Dir}
	for _, name := range []string{"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "GCC_EXEC_PREFIX"} {
		parts = append(parts, os.Getenv(name))
	}
	return strings.Join(append(parts, f.dependArgs()...), "\x00")
}

// last returns what the cache has of the command, if that may still hold.
func (f *finder) last(cache *Cache, key string) (*record, bool) {
	data, ok := cache.Get("inputs", key)
	if !ok {
		return nil, false
	}
	last, ok := decodeRecord(data)
	if !ok || last.depfile == 0 {
		return last, ok
	}
	files, _, when := f.fromDepfile()
	if when == 0 || when == last.depfile {
		return last, true
	}
	same := slices.EqualFunc(last.files, files, func(was inputFile, is string) bool { return was.path == is })
	if same && f.unchanged(last) {
		last.depfile = when
		cache.Put("inputs", key, last.encode())
	}
	return last, same
}

// unchanged tells whether all files of a record are as they were.
func (f *finder) unchanged(r *record) bool {
	for i := range r.files {
		if size, when := f.stat(r.files[i].path); size != r.files[i].size || when != r.files[i].time {
			return false
		}
	}
	return true
}

// missing is the size of a file that is not there.
const missing = -1

func (f *finder) stat(path string) (size, when int64) {
	info, err := os.Stat(f.Path(path))
	if err != nil {
		return missing, 0
	}
	return info.Size(), info.ModTime().UnixNano()
}

// again makes a record anew, unless the command may include other files now.
func (f *finder) again(last *record) (*record, bool) {
	paths := make([]string, len(last.files))
	for i := range last.files {
		paths[i] = last.files[i].path
	}
	now := f.scan(paths)
	for i := range now.files {
		if was, is := last.files[i], now.files[i]; is.size == missing || is.directives != was.directives {
			return nil, false
		}
	}
	now.depfile = last.depfile
	return now, true
}

// fromDepfile returns what the dependency file of the last build lists, and
// the path and time of that, or nil if it is not to be trusted.
func (f *finder) fromDepfile() (files []string, path string, when int64) {
	path, system := f.Depfile()
	if path == "" || !system {
		return nil, "", 0
	}
	info, err := os.Stat(f.Path(path))
	if err != nil || !info.Mode().IsRegular() {
		return nil, "", 0
	}
	data, err := os.ReadFile(f.Path(path))
	if err != nil {
		return nil, "", 0
	}
	rules, err := ParseDepfile(data)
	if err != nil {
		return nil, "", 0
	}
	files, when = Prerequisites(rules), info.ModTime().UnixNano()
	for _, source := range f.Sources {
		if !slices.Contains(files, source) {
			return nil, "", 0
		}
	}
	for _, name := range files {
		if size, changed := f.stat(name); size == missing || changed > when {
			return nil, "", 0
		}
	}
	return files, path, when
}

// fromCompiler asks the compiler what the command's sources include.
func (f *finder) fromCompiler() ([]string, error) {
	cmd := exec.Command(f.compiler.Path, f.dependArgs()...)
	cmd.Dir = f.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool {
		return strings.HasPrefix(setting, "DEPENDENCIES_OUTPUT=") || strings.HasPrefix(setting, "SUNPRO_DEPENDENCIES=")
	})
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		message, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return nil, fmt.Errorf("%s -M: %w: %s", f.compiler.Path, err, message)
	}
	if err != nil {
		return nil, err
	}
	rules, err := ParseDepfile(out)
	if err != nil {
		return nil, fmt.Errorf("%s -M: %w", f.compiler.Path, err)
	}
	return Prerequisites(rules), nil
}

// maxSource is the size up to which a file is looked at.
const maxSource = 256 << 20

// scan goes through files.
func (f *finder) scan(paths []string) *record {
	r := &record{}
	defined := make(map[string]struct{})
	for _, path := range paths {
		in := inputFile{path: path}
		in.size, in.time = f.stat(path)
		var text []byte
		if in.size != missing && in.size <= maxSource {
			text, _ = os.ReadFile(f.Path(path))
		}
		in.directives = hashDirectives(text)
		r.files = append(r.files, in)
		slice.Definitions(text, func(name []byte) {
			if _, ok := defined[string(name)]; !ok {
				defined[string(name)] = struct{}{}
			}
		})
		if isPreprocessed(path) {
			r.markers = append(r.markers, lineMarkers(text)...)
		}
	}
	r.defined = make([]string, 0, len(defined))
	for name := range defined {
		r.defined = append(r.defined, name)
	}
	slices.Sort(r.defined)
	return r
}

// directives calls visit for each line that is a directive of the preprocessor, with those that continue it.
func directives(text []byte, visit func(line []byte)) {
	for len(text) > 0 {
		line := bytes.TrimLeft(text[:lineEnd(text)], " \t")
		if len(line) == 0 || line[0] != '#' {
			text = text[lineEnd(text):]
			continue
		}
		end := lineEnd(text)
		for bytes.HasSuffix(bytes.TrimRight(text[:end], "\r\n"), []byte{'\\'}) && end < len(text) {
			end += lineEnd(text[end:])
		}
		visit(text[:end])
		text = text[end:]
	}
}

func lineEnd(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// hashDirectives returns a number that changes with the directives of a text:
// as long as it stays, the text includes what it did.
func hashDirectives(text []byte) uint64 {
	h := xxhash.New()
	directives(text, func(line []byte) { _, _ = h.Write(line) })
	return h.Sum64()
}

// isPreprocessed tells whether a file has been preprocessed, so that what it includes stands in it.
func isPreprocessed(path string) bool {
	return slices.Contains([]string{".i", ".ii", ".mi", ".mii"}, filepath.Ext(path))
}

// lineMarkers returns the files from which a preprocessed text was made.
func lineMarkers(text []byte) []string {
	var files []string
	directives(text, func(line []byte) {
		_, rest, ok := bytes.Cut(line, []byte{'"'})
		end := bytes.LastIndexByte(rest, '"')
		if !ok || end <= 0 || rest[0] == '<' {
			return
		}
		name := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(string(rest[:end]))
		if !slices.Contains(files, name) && !strings.HasSuffix(name, "//") {
			files = append(files, name)
		}
	})
	return files
}
