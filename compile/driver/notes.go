package driver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// compileNotes are two files that GCC writes about the control flow graphs of a source before it
// generates code. Package arcs infers counters from them.
type compileNotes struct {
	name  string      // path of the object without its extension, as GCC uses it for auxiliary files
	graph *gcda.Notes // the .gcno file
	dump  []byte      // the dump of the pass that reads counters
}

// notesKey returns the cache key of the notes that GCC writes for a command. The key changes
// whenever GCC would write other notes: it contains the preprocessed sources, the compiler, the
// environment and the command line. It also contains the content of response files (@file), by the
// result of CheckArgs.
func (s source) notesKey() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%d\x00%d\x00%d\x00%q\x00%q\x00%q", s.compiler.Path, s.compiler.Version, s.Dir,
		s.inputs.Record.Output, record.Environment(s.Env), s.inputs.Record.Environment, s.Args, s.Object, s.CheckArgs())
}

// notes returns what GCC writes about the control flow graphs of one of the command's sources,
// given by its index. It takes these notes from the cache, or runs the compiler to write them.
func (s source) notes(index int) (*compileNotes, error) {
	key := fmt.Sprintf("%d\x00%d\x00%s", index, s.inputs.Record.State(), s.notesKey())
	if kept, ok := s.Cache.files().Get(store.Notes, key); ok {
		if n, err := decodeNotes(kept); err == nil {
			s.trace("the notes are in the cache")
			return n, nil
		}
	}
	names, err := s.auxiliaryNames()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "afdo-notes-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	notes, dump, err := s.compileNotes(folder, s.Compiles()[index], names[index])
	if err != nil {
		return nil, err
	}
	data := encodeNotes(names[index], notes, dump)
	s.Cache.files().Put(store.Notes, key, data)
	return decodeNotes(data)
}

// notesDump is GCC's option for the dump that describes the graphs of the .gcno file.
const notesDump = "-fdump-ipa-profile-lineno-blocks-details="

// compileNotes runs the compiler to write the .gcno file and the dump of a source into a folder,
// and returns their contents. No machine code is generated: with -flto that is left to the linker,
// and with -S no assembler runs. path is the source, and name is its name from
// [source.auxiliaryNames].
func (s source) compileNotes(folder, path, name string) (notes, dump []byte, err error) {
	file := func(name string) string { return filepath.Join(folder, name) }
	dir, base := filepath.Split(name) // as it is written: with "./" before it, static functions have other identifiers
	argv := s.CompileTo(path, file("x.s"), "-S", "-flto", "-fno-fat-lto-objects", "-w", "-ftest-coverage", "-fprofile-note="+file("notes"),
		notesDump+file("dump"), "-dumpdir", dir, "-dumpbase", base, "-dumpbase-ext", "")
	argv = append(argv, counterOptions(file("none"))...)
	_, said, err := inputs.Run(s.ctx, s.Line, s.compiler, nil, argv[1:])
	if err != nil {
		return nil, nil, errors.New("the compiler writes no notes: " + inputs.FirstError(said))
	}
	if notes, err = files.ReadFile(file("notes"), maxNotes); err == nil {
		dump, err = files.ReadFile(file("dump"), maxNotes)
	}
	return notes, dump, err
}

// auxiliaryNames returns, for each source that the command compiles, the path from which GCC makes
// the names of its auxiliary files: that of the object file without its extension. For -o sub/x.o
// it is sub/x, and the notes are in sub/x.gcno. The identifiers of static functions in the notes
// depend on this path as well.
func (s source) auxiliaryNames() (names []string, err error) {
	_, said, err := inputs.Run(s.ctx, s.Line, s.compiler, nil, append([]string{"-###"}, s.Args...))
	if err != nil {
		return nil, errors.New("the compiler does not say how it runs: " + inputs.FirstError(said))
	}
	for line := range bytes.Lines(said) {
		words, _ := command.SplitWords(string(line))
		if len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "cc1") || slices.Contains(words, "-E") {
			continue
		}
		values := map[string]string{}
		for i, w := range words[:len(words)-1] {
			if slices.Contains([]string{"-dumpdir", "-dumpbase", "-dumpbase-ext"}, w) {
				values[w] = words[i+1]
			}
		}
		if base := strings.TrimSuffix(values["-dumpbase"], values["-dumpbase-ext"]); base != "" {
			names = append(names, values["-dumpdir"]+base)
		}
	}
	if len(names) != len(s.Compiles()) {
		return nil, errors.New("the compiler does not say the names of its dumps")
	}
	return names, nil
}

// encodeNotes encodes and compresses the notes of a source for the cache: name from
// [source.auxiliaryNames], the .gcno file and the dump.
func encodeNotes(name string, notes, dump []byte) []byte {
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstd.MinWindowSize<<8))
	var e record.Encoder
	e.String(name)
	e.String(string(notes))
	return w.EncodeAll(append(e.Data, dump...), nil)
}

// maxNotes limits the size in memory of the notes of a source. The dumps of the largest sources
// have some hundred megabytes.
const maxNotes = 4 << 30

// decodeNotes decodes the notes of a source from the cache, as [encodeNotes] has encoded them.
func decodeNotes(data []byte) (*compileNotes, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxNotes))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if data, err = r.DecodeAll(data, nil); err != nil {
		return nil, err
	}
	d := record.Decoder{Buffer: decode.Buffer{Data: data}}
	n := &compileNotes{name: d.String()}
	notes := d.Take(d.ULEB(), "the notes")
	if d.Err != nil {
		return nil, errors.New("malformed notes in the cache")
	}
	n.dump = d.Data[d.Pos:]
	n.graph, err = gcda.ReadNotes(notes)
	return n, err
}
