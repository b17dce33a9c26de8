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
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/slice"
)

// Inputs are what a command reads.
type Inputs struct {
	Files []string // sources and headers, those of the system included, as the compiler names them
	Again bool     // all of it is known from an earlier run

	text []byte // encoded: most runs of a compiler need only know that it is the same
}

// Text returns the text.
func (in *Inputs) Text() (*slice.Text, error) {
	t, ok := slice.DecodeText(in.text)
	if !ok {
		return nil, errors.New("malformed text in the cache")
	}
	return t, nil
}

// Sum returns a number that changes when the text means something else to slices.
func (in *Inputs) Sum() uint64 { return xxhash.Sum64(in.text) }

// ErrNoText is what the errors of [FindInputs] match if what a command compiles cannot be
// determined from the text of its sources: it is Objective-C, or in a module that is imported, or
// in a precompiled header without the header.
var ErrNoText = errors.New("cannot be determined from its source text")

// FindInputs finds what a command reads. What the cache has from an earlier run holds as long as no
// file has changed, and none has appeared that the compiler would take instead of one. Else the
// compiler is asked to preprocess the sources; preprocessed ones are read as they are.
//
// A nil cache is allowed. If the compiler fails, it says why in the error.
func FindInputs(c *Command, compiler *Compiler, cache *Cache) (*Inputs, error) {
	if c.objectiveC() {
		return nil, fmt.Errorf("Objective-C: %w", ErrNoText)
	}
	if c.clang && c.wordsHide() {
		return nil, fmt.Errorf("modules, a precompiled header or names that are guessed: %w", ErrNoText)
	}
	f := finder{Command: c, compiler: compiler}
	key := f.key()
	if data, ok := cache.get(kindInputs, key); ok {
		if last, ok := decodeRecord(data); ok && f.holds(last) {
			if last.renewed {
				cache.put(kindInputs, key, last.encode())
			}
			return last.result(true), nil
		}
	}
	now, err := f.preprocess()
	if err != nil {
		return nil, err
	}
	if !now.uncertain {
		cache.put(kindInputs, key, now.encode())
	}
	return now.result(false), nil
}

// ReadText returns the text of files of a folder as it is, macros and all. Those that cannot be
// read have none.
func ReadText(files []string, dir string) *slice.Text {
	c := Command{Dir: dir}
	t := new(slice.Text)
	for _, name := range files {
		t.Add(c.readSource(name))
	}
	return t
}

// maxSource is the size up to which a file is read.
const maxSource = 256 << 20

// readSource returns the text of a file, nothing if that cannot be had.
func (c *Command) readSource(name string) []byte {
	info, err := os.Stat(c.Path(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	text, err := os.ReadFile(c.Path(name))
	if err != nil {
		return nil
	}
	return text
}

// A finder finds the inputs of one command.
type finder struct {
	*Command
	compiler *Compiler
}

// key tells the command from all others that may include something else.
func (f *finder) key() string {
	parts := []string{slice.TextForm, f.compiler.Path, f.compiler.Version, f.Dir}
	for _, name := range []string{"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH"} {
		parts = append(parts, os.Getenv(name))
	}
	parts = append(append(parts, f.settings...), f.Sources...)
	return strings.Join(append(parts, f.preprocessArgs()...), "\x00")
}

// preprocess reads the preprocessed sources.
func (f *finder) preprocess() (*record, error) {
	start := time.Now()
	r := new(record)
	all := new(slice.Text)
	var m markers
	var search []string
	var asked []question
	asIs := 0
	for i := range f.words {
		if w := &f.words[i]; w.source && f.isPreprocessed(w) {
			text := f.readSource(w.text)
			if text == nil {
				return nil, fmt.Errorf("%s cannot be read", w.text)
			}
			if err := f.addText(all, text); err != nil {
				return nil, err
			}
			m.files = append(m.files, w.text) // what it was made from is not read
			asIs++
		}
	}
	if asIs < len(f.Sources) {
		text, folders, err := f.runPreprocessor()
		if err != nil {
			return nil, err
		}
		if err := f.addText(all, text); err != nil {
			return nil, err
		}
		made := readMarkers(text)
		m.files, m.pairs, search = append(m.files, made.files...), made.pairs, folders
		questions, sure := f.findQuestions(made.files)
		asked, r.uncertain = questions, !sure
	}
	for _, name := range m.files {
		in, changed := lookAt(f.Dir, name)
		r.uncertain = r.uncertain || in.state == 0 || !changed.Before(start)
		r.inputs = append(r.inputs, in)
	}
	r.watched, r.there = newWatched(f.Dir, search, m, asked)
	r.text = all.Encode()
	return r, nil
}

// runPreprocessor returns the preprocessed sources, and the folders in which
// headers are searched for.
func (f *finder) runPreprocessor() (text []byte, search []string, err error) {
	args := append(f.preprocessArgs(), "-w", "-E", "-v") // a #pragma against a warning may not count with -E
	if f.clang {
		args = append(args, "-Qunused-arguments")
	}
	text, said, err := f.run(args)
	if err == nil {
		return text, searchFolders(said), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, nil, err
	}
	if _, _, again := f.run(append(args, "-fpch-preprocess")); again == nil {
		return nil, nil, fmt.Errorf("a precompiled header without the header: %w", ErrNoText)
	}
	return nil, nil, fmt.Errorf("%s -E: %w: %s", f.compiler.Path, err, firstError(said))
}

// run runs the compiler.
func (f *finder) run(args []string) (out, said []byte, err error) {
	cmd := exec.Command(f.compiler.Path, args...)
	cmd.Dir = f.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool {
		return strings.HasPrefix(setting, "DEPENDENCIES_OUTPUT=") || strings.HasPrefix(setting, "SUNPRO_DEPENDENCIES=")
	})
	cmd.Env = append(append(cmd.Env, f.settings...), "LC_ALL=C")
	text := bytes.NewBuffer(make([]byte, 0, usualText)) // Grow would clear it, and so have all its pages
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = text, &errs
	err = cmd.Run()
	return text.Bytes(), errs.Bytes(), err
}

// usualText is more than most preprocessed sources have.
const usualText = 4 << 20

// firstError returns the first line that a compiler has said of an error.
func firstError(said []byte) string {
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte("error: ")) {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// searchFolders returns the folders that a compiler with -v says it searches, and those that it
// would if they were there.
func searchFolders(said []byte) []string {
	var folders []string
	listing := false
	for line := range bytes.Lines(said) {
		text := strings.TrimRight(string(line), "\r\n")
		if missing, ok := strings.CutPrefix(text, "ignoring nonexistent directory \""); ok {
			folders = append(folders, strings.TrimSuffix(missing, `"`))
			continue
		}
		switch {
		case strings.HasSuffix(text, "search starts here:"):
			listing = true
		case text == "End of search list.":
			listing = false
		case listing:
			folders = append(folders, strings.TrimPrefix(text, " "))
		}
	}
	return folders
}

// isPreprocessed reports whether a source has been preprocessed.
func (c *Command) isPreprocessed(source *word) bool {
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
func (c *Command) objectiveC() bool {
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
