// Command seeds creates the seed corpus (a zip file) and the dictionary of each fuzz target that
// OSS-Fuzz builds.
//
//	go run ./fuzz/seeds DIR     writes them to a folder
//	go run ./fuzz/seeds -list   prints package and name of each target
//
// It has to run in the root of the repository.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A target is a fuzz target with a single []byte argument.
type target struct {
	pkg   string // folder of the package
	name  string
	seeds []string // patterns of seed files
	dicts []string // dictionaries in the fuzz folder
}

var (
	v4Files   = []string{"testdata/*.afdo", "testdata/corrupt/*"}
	v4Dict    = []string{"v4.dict"}
	allDicts  = []string{"v4.dict", "gcov.dict", "text.dict"}
	textFiles = []string{"testdata/*.txt", "textfmt/testdata/*.txt"}
)

// targets are the fuzz targets that OSS-Fuzz can build from a single file.
var targets = []target{
	{".", "FuzzGeneratedFile", nil, nil},
	{".", "FuzzLookup", v4Files, v4Dict},
	{".", "FuzzOpenWalk", v4Files, v4Dict},
	{".", "FuzzReaderNaive", v4Files, v4Dict},
	{"./format/check", "FuzzCheck", v4Files, v4Dict},
	{"./format/check", "FuzzStringTableFaults", nil, v4Dict},
	{"./internal/v4/wire", "FuzzTrie", nil, v4Dict},
	{"./internal/v4/wire", "FuzzVarint", nil, nil},
	{"./fuzz", "FuzzConvertRoundTrip", append(textFiles, v4Files...), allDicts},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) != 1:
		return errors.New("usage: seeds DIR, or seeds -list")
	case args[0] == "-list":
		for _, t := range targets {
			fmt.Println(t.pkg, t.name)
		}
		return nil
	}
	for _, t := range targets {
		if err := t.write(args[0]); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// write writes the target's seed corpus, NAME_seed_corpus.zip, and its dictionary, NAME.dict, to
// the folder dir.
func (t *target) write(dir string) error {
	inputs, err := t.inputs()
	if err != nil {
		return err
	}
	if len(inputs) > 0 {
		data, err := corpus(inputs)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, t.name+"_seed_corpus.zip"), data, 0o666); err != nil {
			return err
		}
	}
	return t.writeDictionary(dir)
}

// An input is an input of a fuzz target, with its file name in the seed corpus.
type input struct {
	name string
	data []byte
}

// inputs returns the seed files of a target, and the inputs that once made it fail.
func (t *target) inputs() ([]input, error) {
	var inputs []input
	for _, pattern := range t.seeds {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, input{strings.ReplaceAll(filepath.ToSlash(path), "/", "-"), data})
		}
	}
	paths, err := filepath.Glob(filepath.Join(t.pkg, "testdata", "fuzz", t.name, "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		data, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		inputs = append(inputs, input{"found-" + filepath.Base(path), data})
	}
	return inputs, nil
}

// decode returns the []byte argument in an input file that "go test -fuzz" has written.
func decode(text []byte) ([]byte, error) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 || lines[0] != "go test fuzz v1" {
		return nil, errors.New("want a line of version and one of an argument")
	}
	quoted, ok := strings.CutPrefix(lines[1], "[]byte(")
	quoted, end := strings.CutSuffix(quoted, ")")
	if !ok || !end {
		return nil, errors.New("want one argument of type []byte")
	}
	data, err := strconv.Unquote(quoted)
	return []byte(data), err
}

// corpus packs inputs into a zip file for OSS-Fuzz. The driver of OSS-Fuzz splits an input into the
// arguments of a Go fuzz target: the first byte is the weight of the only argument and has no
// effect, and the other bytes are the argument.
func corpus(inputs []input) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, in := range inputs {
		w, err := z.CreateHeader(&zip.FileHeader{Name: in.name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(append([]byte{0}, in.data...)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeDictionary writes the dictionary of the target to a file in the folder dir. It concatenates
// the dictionaries of the target's formats, and writes nothing if there are none.
func (t *target) writeDictionary(dir string) error {
	if len(t.dicts) == 0 {
		return nil
	}
	var joined []byte
	for _, name := range t.dicts {
		data, err := os.ReadFile(filepath.Join("fuzz", name))
		if err != nil {
			return err
		}
		joined = append(joined, data...)
	}
	return os.WriteFile(filepath.Join(dir, t.name+".dict"), joined, 0o666)
}
