// Package inputs finds the files that a compile reads, and collects the identifiers in its
// preprocessed sources. The identifiers decide which functions of the profile the compile may need.
package inputs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/pattern"
)

// Inputs are the files that a compile reads, and the identifiers in them.
type Inputs struct {
	Files  []string // sources and headers, system headers included, as the compiler names them
	Reused bool     // taken from the cache, so the preprocessor did not run

	Record    *record.Record
	text      *slice.Text // identifiers in the sources, nil if not yet decoded
	uncertain bool        // a file may have changed while it was read

	read func() (*Inputs, error) // runs the preprocessor, for a cached record that is malformed
}

// Text returns the identifiers in the preprocessed sources. If the inputs come from the cache, each
// call of Text decodes the identifiers, or runs the preprocessor if they are malformed. Most
// compiles do not call Text, because they need only the hash of the identifiers,
// [record.Record.Sum].
func (in *Inputs) Text() (*slice.Text, error) {
	if in.text != nil {
		return in.text, nil
	}
	if t, ok := slice.DecodeText(in.Record.Text); ok {
		return t, nil
	}
	now, err := in.read()
	if err != nil {
		return nil, err
	}
	return now.text, nil
}

// ErrNoText matches the errors of [Find] for a compile whose functions cannot be determined from
// the text of its sources: the language is not C or C++, the sources import a module, or the source
// of a precompiled header is missing.
var ErrNoText = errors.New("slices are for plain C and C++ only")

// Find finds the inputs of a command. It takes them from the cache if all paths that the compiler
// looked up in an earlier run are unchanged. Otherwise it runs the preprocessor, except for sources
// that are preprocessed already, which it only reads. The cache stores nothing if the system cannot
// observe the compiler, see package trace.
//
// cache may be nil. If the compiler fails, the error contains its message.
func Find(ctx context.Context, c *command.Line, compiler *toolchain.Compiler, cache *store.Store) (*Inputs, error) {
	if what := c.HidesNames(); what != "" {
		return nil, fmt.Errorf("%s: %w", what, ErrNoText)
	}
	f := finder{Line: c, compiler: compiler, root: record.RootOf(c.Dir)}
	here, anywhere := f.keys()
	read := func() (*Inputs, error) {
		now, err := f.preprocess(ctx, cache)
		if err == nil && !now.uncertain {
			data := now.Record.Encode()
			now.Record.Key = here
			cache.Put(store.Inputs, here, data)
			cache.Put(store.Inputs, anywhere, data)
		}
		return now, err
	}
	for _, key := range []string{here, anywhere} {
		data, _ := cache.Get(store.Inputs, key)
		if last, ok := record.Decode(data, f.root); ok && last.Holds(cache, f.Dir, f.Env) {
			if last.Renewed || key != here {
				cache.Put(store.Inputs, here, last.Encode())
			}
			last.Key = here
			return &Inputs{Files: last.Paths(), Reused: true, Record: last, read: read}, nil
		}
	}
	return read()
}

// Read returns the identifiers in source files, which it does not preprocess. Relative paths begin
// at the folder dir. A file that cannot be read counts as empty.
func Read(names []string, dir string) *slice.Text {
	c := command.Line{Dir: dir}
	t := new(slice.Text)
	for _, name := range names {
		text, _ := files.ReadFile(c.Path(name), record.MaxSource)
		t.Add(marked(name, text))
	}
	return t
}

// A finder finds the inputs of one compiler command: the files that it reads, and the identifiers
// in them.
type finder struct {
	*command.Line
	compiler *toolchain.Compiler
	root     record.Root
	timed    bool // what is compiled depends on times of the inputs
}

// keys returns two cache keys for the inputs of the command. The key here is different for any two
// commands that may include different files. The key anywhere does not depend on the path of the
// checkout, so the same command in another checkout has the same key. By this key, checkouts with
// the same files share a record.
func (f *finder) keys() (here, anywhere string) {
	parts := []string{slice.TextForm, f.compiler.Path, f.compiler.Version, f.root.Without(f.Dir), fmt.Sprint(record.Environment(f.Env))}
	if f.Mentions(Native) {
		parts = append(parts, processor())
	}
	if f.Stdin != nil {
		parts = append(parts, fmt.Sprint(len(f.Stdin), xxhash.Sum64(f.Stdin)))
	}
	parts = append(parts, f.root.WithoutAll(f.Sources)...)
	anywhere = fmt.Sprintf("%q", append(parts, f.root.WithoutAll(f.PreprocessArgs())...))
	return anywhere + string(f.root), anywhere
}

// preprocess runs the preprocessor on those sources that need it. It collects the identifiers in
// all preprocessed sources, and the files that they were made from.
func (f *finder) preprocess(ctx context.Context, cache *store.Store) (*Inputs, error) {
	r := &record.Record{Root: f.root}
	in := &Inputs{Record: r, text: new(slice.Text)}
	o := toolchain.NewObserver(f.compiler.Path, f.Dir, f.Env)
	o.UsersRules = f.Mentions("-specs") || f.Mentions("-fplugin")
	var names []string
	ready := 0 // sources that are preprocessed already
	for _, source := range f.Preprocessed() {
		text, err := f.Stdin, error(nil)
		if source != command.Stdin {
			text, err = files.ReadFile(f.Path(source), record.MaxSource)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read", source)
		}
		if err := f.addText(in, marked(source, text)); err != nil {
			return nil, err
		}
		ready++
		if source == command.Stdin {
			continue
		}
		names = append(names, source) // what it was made from is not read
	}
	if ready < len(f.Sources) {
		text, said, err := f.runPreprocessor(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := f.addText(in, text); err != nil {
			return nil, err
		}
		if ready == 0 && takesForC(said) {
			in.text.OnlyC = true
			in.text.DropsUnused = !f.Clang && dropsUnused(said)
		}
		names = append(names, readMarkers(text)...)
		f.timed = f.timed || timestamp().Match(text)
		switch {
		case o.Opened("/dev/stdin"):
			return nil, fmt.Errorf("a source that reads standard input: %w", ErrNoText)
		case f.compiler.IsGCC(12) && changesOptions(text):
			return nil, fmt.Errorf("-E of GCC 12 does not set the macros after #pragma GCC target or optimize: %w", ErrNoText)
		}
	}
	in.uncertain = !o.Fill(r, cache, names)
	for i := range r.Inputs {
		if f.timed { // the record holds only for these files, not for others with the same contents
			r.Inputs[i].Content ^= r.Inputs[i].State
		}
	}
	r.Text = in.text.Encode()
	in.Files = r.Paths()
	return in, nil
}

// runPreprocessor returns the preprocessed sources, and what the compiler writes to standard error
// with -v.
func (f *finder) runPreprocessor(ctx context.Context, o *toolchain.Observer) (text, said []byte, err error) {
	preprocess := []string{"-w", "-E", "-v"} // a #pragma against a warning may not count with -E
	first := append([]string{"-fpch-preprocess"}, preprocess...)
	if f.Clang {
		first = append(preprocess, "-Qunused-arguments")
	}
	// With -fpch-preprocess, GCC looks for precompiled headers, as the compile does.
	text, said, err = Run(ctx, f.Line, f.compiler, o, append(f.PreprocessArgs(), first...))
	if precompiled := f.precompiledIn(text); err == nil && len(precompiled) > 0 {
		f.timed = true
		if text, said, err = Run(ctx, f.Line, f.compiler, o, append(f.PreprocessArgs(), preprocess...)); err != nil {
			return nil, nil, fmt.Errorf("a precompiled header without the header: %w", ErrNoText)
		}
		if header := f.newerHeader(text, precompiled); header != "" {
			return nil, nil, fmt.Errorf("%s is newer than its precompiled header: %w", header, ErrNoText)
		}
	}
	if err == nil {
		return text, said, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if _, missing := os.Stat(f.Dir); missing != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, nil, missing // and not the compiler, as err has it
		}
		return nil, nil, err
	}
	return nil, nil, fmt.Errorf("%s -E: %w: %s", f.compiler.Path, err, FirstError(said))
}

// precompiledIn returns the precompiled headers that GCC would read, according to the #pragma lines
// in preprocessed text. The keys are the paths of the headers, and the values are the paths of the
// precompiled files.
func (f *finder) precompiledIn(text []byte) (headers map[string]string) {
	if f.Clang {
		return nil
	}
	headers = make(map[string]string)
	const pragma = "\n#pragma GCC pch_preprocess \""
	for {
		at := bytes.Index(text, []byte(pragma))
		if at < 0 {
			return headers
		}
		text = text[at+len(pragma):]
		line, _, _ := bytes.Cut(text, []byte{'\n'})
		file := string(cpp.Unescaped(nil, bytes.TrimSuffix(line, []byte{'"'})))
		header, folder := strings.CutSuffix(filepath.Dir(file), ".gch")
		if !folder {
			header = strings.TrimSuffix(file, ".gch")
		}
		headers[header] = file
	}
}

// newerHeader returns a header file that was changed after it was precompiled, or "" if there is
// none. GCC does not check this, and compiles the old content. precompiled is the result of
// precompiledIn, and text is the preprocessed source without precompiled headers.
func (f *finder) newerHeader(text []byte, precompiled map[string]string) string {
	for header, file := range precompiled {
		made, err := os.Stat(f.Path(file))
		if err != nil {
			return header
		}
		for _, part := range filesBelow(text, header) {
			if _, changed := record.LookAt(f.Dir, part); changed.After(made.ModTime()) {
				return part
			}
		}
	}
	return ""
}

// Run runs the compiler of a command with other arguments, in the folder and with the environment
// of the command. It returns the compiler's standard output and standard error. The
// observer o, unless it is nil, collects the paths that the compiler looks up.
func Run(ctx context.Context, c *command.Line, compiler *toolchain.Compiler, o *toolchain.Observer, args []string) (out, said []byte, err error) {
	run := toolchain.RunUntilDeath
	if o != nil {
		run = o.Run
	} else {
		o = toolchain.NewObserver(compiler.Path, c.Dir, c.Env)
	}
	cmd := o.Command(ctx, args...)
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	text := bytes.NewBuffer(make([]byte, 0, usualText)) // Grow would clear it, and so have all its pages
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = text, &errs
	err = run(cmd)
	return text.Bytes(), errs.Bytes(), err
}

// timestamp matches a string such as __TIMESTAMP__ expands to, which has the time of a source.
var timestamp = pattern.Of(`"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}"`)

// usualText is the initial size in bytes of the buffer for preprocessed text. Most preprocessed
// sources are smaller.
const usualText = 4 << 20

// FirstError returns the first line of a compiler's messages that contains an error, or "".
func FirstError(said []byte) string {
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte("error: ")) {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// takesForC reports whether all sources are compiled as C. said is the compiler's output with -v:
// for C, GCC runs cc1 and not cc1plus, and clang has the option -x c.
func takesForC(said []byte) bool {
	found := false
	for line := range bytes.Lines(said) {
		words := strings.Fields(strings.ReplaceAll(string(line), `"`, ""))
		if len(words) < 2 || !slices.Contains(words, "-E") {
			continue
		}
		program := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
		if words[1] == "-cc1" {
			at := len(words) - 1
			for at > 0 && words[at] != "-x" { // the last one is not of a folder
				at--
			}
			if !slices.Contains(words[at+1:min(at+2, len(words))], "c") {
				return false
			}
			program = "cc1"
		}
		found = found || program == "cc1"
		if strings.HasPrefix(program, "cc1") && program != "cc1" {
			return false
		}
	}
	return found
}

// dropsUnused reports whether GCC drops inline functions that nothing calls. said is GCC's output
// with -v. The result is false if it contains an option with which GCC keeps such functions, or may
// keep them.
func dropsUnused(said []byte) bool {
	return !slices.ContainsFunc([]string{"-fkeep-inline-functions", "-fopenmp", "-fopenacc", "-fplugin"}, func(option string) bool {
		return bytes.Contains(said, []byte(option))
	})
}

// marked returns the text of a file after a line marker with the file's name, such as a
// preprocessor writes.
func marked(name string, text []byte) []byte {
	return slices.Concat([]byte("# 1 "+strconv.Quote(name)+"\n"), text)
}
