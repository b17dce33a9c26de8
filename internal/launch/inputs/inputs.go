// Package inputs finds the files that a compile reads, and the text that says which functions they
// may define.
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
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// Inputs are what a command reads.
type Inputs struct {
	Files  []string // sources and headers, also headers of the system, as the compiler names them
	Reused bool     // the cache has them from an earlier run, so the preprocessor did not run

	Record    *record.Record
	text      *slice.Text // nil if it has not been decoded
	uncertain bool        // a file may have changed while it was read
}

// Text returns the text. Most runs of a compiler need only know that it is the same, so one from
// the cache is decoded when it is asked for.
func (in *Inputs) Text() (*slice.Text, error) {
	if in.text != nil {
		return in.text, nil
	}
	t, ok := slice.DecodeText(in.Record.Text)
	if !ok {
		return nil, errors.New("malformed text in the cache")
	}
	return t, nil
}

// Sum returns a number that changes when the text means something else to slices.
func (in *Inputs) Sum() uint64 { return in.Record.Sum() }

// State returns a number that changes when one of the files does.
func (in *Inputs) State() uint64 { return in.Record.State() }

// Paths returns the paths of the files of a command that there are.
func (in *Inputs) Paths(c *command.Line) []string {
	paths := make([]string, len(in.Files))
	for i, name := range in.Files {
		paths[i] = c.Path(name)
	}
	return paths
}

// ErrNoText is what the errors of [Find] match if what a command compiles cannot be
// determined from the text of its sources: it is Objective-C, or in a module that is imported, or
// in a precompiled header without the header.
var ErrNoText = errors.New("slices are for plain C and C++ only")

// Find finds what a command reads. What the cache has from an earlier run holds as long as
// the file system gives the same answers to all questions that the compiler has asked. Otherwise
// the compiler preprocesses the sources; preprocessed ones are read as they are. The cache keeps
// nothing if the system cannot observe the compiler, see package trace.
//
// A nil cache is allowed. If the compiler fails, it says why in the error.
func Find(ctx context.Context, c *command.Line, compiler *toolchain.Compiler, cache *store.Store) (*Inputs, error) {
	if what := c.HidesNames(); what != "" {
		return nil, fmt.Errorf("%s: %w", what, ErrNoText)
	}
	f := finder{Line: c, compiler: compiler, root: record.RootOf(c.Dir)}
	here, anywhere := f.keys()
	for _, key := range []string{here, anywhere} {
		data, ok := cache.Get(store.Inputs, key)
		if !ok {
			continue
		}
		if last, ok := record.Decode(data, f.root); ok && last.Holds(cache, f.Dir) {
			if last.Renewed || key != here {
				cache.Put(store.Inputs, here, last.Encode())
			}
			last.Key = here
			return &Inputs{Files: last.Paths(), Reused: true, Record: last}, nil
		}
	}
	now, err := f.preprocess(ctx, cache)
	if err != nil {
		return nil, err
	}
	if !now.uncertain {
		data := now.Record.Encode()
		now.Record.Key = here
		cache.Put(store.Inputs, here, data)
		cache.Put(store.Inputs, anywhere, data)
	}
	return now, nil
}

// Read returns the text of files without preprocessing it. Names of files are relative to the
// folder dir. A file that cannot be read has no text.
func Read(files []string, dir string) *slice.Text {
	c := command.Line{Dir: dir}
	t := new(slice.Text)
	for _, name := range files {
		t.Add(marked(name, readSource(c.Path(name))))
	}
	return t
}

// A finder finds the inputs of one command.
type finder struct {
	*command.Line
	compiler *toolchain.Compiler
	root     record.Root
}

// keys returns two keys of the command. The first one differs for all commands that may include
// other files. The second one is the same for this command in other checkouts and folders, which
// share the record of the last of them.
func (f *finder) keys() (here, anywhere string) {
	parts := []string{slice.TextForm, f.compiler.Path, f.compiler.Version, f.root.Without(f.Dir), fmt.Sprint(record.Environment())}
	if f.Mentions(Native) {
		parts = append(parts, processor())
	}
	if f.Stdin != nil {
		parts = append(parts, fmt.Sprint(len(f.Stdin), xxhash.Sum64(f.Stdin)))
	}
	parts = append(append(parts, f.Settings...), f.root.WithoutAll(f.Sources)...)
	anywhere = fmt.Sprintf("%q", append(parts, f.root.WithoutAll(f.PreprocessArgs())...))
	return anywhere + string(f.root), anywhere
}

// preprocess reads the preprocessed sources.
func (f *finder) preprocess(ctx context.Context, cache *store.Store) (*Inputs, error) {
	all := new(slice.Text)
	r := &record.Record{Root: f.root}
	in := &Inputs{Record: r, text: all}
	o := toolchain.NewObserver(f.compiler.Path, f.Dir)
	var names []string
	ready := 0 // sources that are preprocessed already
	for _, source := range f.Preprocessed() {
		text := f.Stdin
		if source != command.Stdin {
			text = readSource(f.Path(source))
		}
		if text == nil {
			return nil, fmt.Errorf("%s cannot be read", source)
		}
		if err := f.addText(all, marked(source, text)); err != nil {
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
		if err := f.addText(all, text); err != nil {
			return nil, err
		}
		if ready == 0 && takesForC(said) {
			all.OnlyC = true
			all.DropsUnused = !f.Clang && dropsUnused(said)
		}
		names = append(names, readMarkers(text)...)
	}
	in.uncertain = !o.Fill(r, cache, names)
	r.Text = all.Encode()
	in.Files = r.Paths()
	return in, nil
}

// runPreprocessor returns the preprocessed sources, and what the compiler says it does.
func (f *finder) runPreprocessor(ctx context.Context, o *toolchain.Observer) (text, said []byte, err error) {
	preprocess := []string{"-w", "-E", "-v"} // a #pragma against a warning may not count with -E
	first := append([]string{"-fpch-preprocess"}, preprocess...)
	if f.Clang {
		first = append(preprocess, "-Qunused-arguments")
	}
	// With -fpch-preprocess, GCC looks for precompiled headers, as the compile does.
	text, said, err = f.run(ctx, o, append(f.PreprocessArgs(), first...))
	if precompiled := f.precompiledIn(text); err == nil && precompiled != nil {
		if text, said, err = f.run(ctx, o, append(f.PreprocessArgs(), preprocess...)); err != nil {
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

// precompiledIn returns the precompiled headers that GCC would read for a text, by header.
func (f *finder) precompiledIn(text []byte) (headers map[string]string) {
	if f.Clang {
		return nil
	}
	const pragma = "\n#pragma GCC pch_preprocess \""
	for {
		at := bytes.Index(text, []byte(pragma))
		if at < 0 {
			return headers
		}
		text = text[at+len(pragma):]
		line, _, _ := bytes.Cut(text, []byte{'\n'})
		file := unescape(string(bytes.TrimSuffix(line, []byte{'"'})))
		header, folder := strings.CutSuffix(filepath.Dir(file), ".gch")
		if !folder {
			header = strings.TrimSuffix(file, ".gch")
		}
		if headers == nil {
			headers = make(map[string]string)
		}
		headers[header] = file
	}
}

// newerHeader returns a file of a text that was changed after its precompiled header was made, or
// "". GCC does not compare them: it reads what the header was.
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

// Compiles reports whether the compiler can compile the sources of a command: it runs the compiler,
// which only checks them.
func Compiles(ctx context.Context, c *command.Line, compiler *toolchain.Compiler) bool {
	_, _, err := Run(ctx, c, compiler, c.CheckArgs())
	return err == nil
}

// Run runs the compiler with other arguments than those of the command, in the folder and with the
// settings of the command. It returns what the compiler writes to standard output and to standard
// error.
func Run(ctx context.Context, c *command.Line, compiler *toolchain.Compiler, args []string) (out, said []byte, err error) {
	f := finder{Line: c, compiler: compiler}
	return f.run(ctx, nil, args)
}

// run is [Run] with an observer that notes the paths that the compiler looks up. The observer may
// be nil.
func (f *finder) run(ctx context.Context, o *toolchain.Observer, args []string) (out, said []byte, err error) {
	run := toolchain.RunUntilDeath
	if o != nil {
		run = o.Run
	} else {
		o = &toolchain.Observer{Path: f.compiler.Path, Dir: f.Dir}
	}
	cmd := o.Command(ctx, args...)
	if f.Stdin != nil {
		cmd.Stdin = bytes.NewReader(f.Stdin)
	}
	cmd.Env = append(append(cmd.Env, f.Settings...), "LC_ALL=C")
	text := bytes.NewBuffer(make([]byte, 0, usualText)) // Grow would clear it, and so have all its pages
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = text, &errs
	err = run(cmd)
	return text.Bytes(), errs.Bytes(), err
}

// usualText is more than most preprocessed sources have.
const usualText = 4 << 20

// FirstError returns the first line that a compiler has said of an error.
func FirstError(said []byte) string {
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte("error: ")) {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// takesForC reports whether the output of a compiler with -v shows that it preprocesses only C: GCC
// runs cc1 and not cc1plus, and clang has the option -x c.
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

// dropsUnused reports whether a compiler with -v has no option with which it keeps inline functions
// that nothing calls, or may do so.
func dropsUnused(said []byte) bool {
	return !slices.ContainsFunc([]string{"-fkeep-inline-functions", "-fopenmp", "-fopenacc", "-fplugin"}, func(option string) bool {
		return bytes.Contains(said, []byte(option))
	})
}

// readSource returns the text of a regular file of at most [record.MaxSource] bytes, or nil if it
// cannot be read.
func readSource(path string) []byte {
	text, err := files.ReadFile(path, record.MaxSource)
	if err != nil {
		return nil
	}
	return text
}

// marked returns the text of a file with a line marker before it, as preprocessed texts have one.
func marked(name string, text []byte) []byte {
	return slices.Concat([]byte("# 1 "+strconv.Quote(name)+"\n"), text)
}
