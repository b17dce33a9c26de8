package inputs

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/driver/internal/filestate"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/slice"
)

// A Record is what the cache has of the inputs of a command.
type Record struct {
	Reused bool // an earlier run made it

	root    root
	text    *slice.Text // nil if it has not been decoded
	encoded []byte      // the text as the cache has it
	inputs  []inputFile
	watched []watched
	there   []string // what has to stay, whatever is in it

	uncertain bool // a file may have changed while it was read
	renewed   bool // files and folders are others now, but with nothing in them that matters
}

// An inputFile is a file or a folder as it was when it was looked at.
type inputFile struct {
	path    string
	state   uint64 // 0 if it is not there
	size    uint64
	content uint64 // a hash of it, 0 for what is not read: folders, and files that are not there
}

// A watched is a folder that changes before files can be that are not there: such files, or folders
// on the way to them, have one of the missing names in it.
type watched struct {
	folder  inputFile
	missing []string
}

// appeared reports whether one of the missing names is there. The folder is listed, since a file
// that includes others by many names misses hundreds in each folder that is searched first. A
// system may take names for the same that differ in case, or in how letters outside ASCII are
// written, so it is asked for what comes close.
func (w *watched) appeared(dir string) bool {
	folder := pathIn(dir, w.folder.path)
	there, err := namesIn(folder)
	return slices.ContainsFunc(w.missing, func(name string) bool {
		near := err != nil || !isASCII(name) || there[strings.ToLower(name)]
		return near && exists(folder, name)
	})
}

// namesIn returns the names in a folder, in lower case.
func namesIn(folder string) (map[string]bool, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[strings.ToLower(name)] = true
	}
	return names, err
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// newInput looks at a file or folder, but not into it. A path that is not absolute is of the folder
// dir.
func newInput(dir, path string) inputFile {
	in, _ := lookAt(dir, path)
	return in
}

// lookAt is newInput, and returns when it was last changed, too.
func lookAt(dir, path string) (in inputFile, changed time.Time) {
	info, err := os.Stat(pathIn(dir, path))
	if err != nil {
		return inputFile{path: path}, changed
	}
	return inputFile{path: path, state: filestate.Of(info), size: uint64(info.Size())}, info.ModTime()
}

// lookInto hashes a file that has been looked at, through a buffer. It fails if the file is another
// one by the time it has been read.
func (in *inputFile) lookInto(dir string, buf []byte) bool {
	path := pathIn(dir, in.path)
	f, info, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() > maxSource {
		return false
	}
	h := xxhash.New()
	for err == nil {
		var n int
		n, err = f.Read(buf)
		_, _ = h.Write(buf[:n])
	}
	if err != io.EOF {
		return false
	}
	in.content = max(1, h.Sum64())
	info, err = f.Stat()
	return err == nil && filestate.Of(info) == in.state
}

// sameContent reports whether a file that is another one than it was, as after a checkout, says the
// same as then. It becomes the one that is there now.
func (in *inputFile) sameContent(dir string, now inputFile, buf []byte) bool {
	if in.content == 0 || in.size != now.size || !now.lookInto(dir, buf) || now.content != in.content {
		return false
	}
	*in = now
	return true
}

func pathIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func exists(dir, path string) bool {
	_, err := os.Stat(pathIn(dir, path))
	return err == nil
}

// Files returns the paths of the inputs, as the compiler names them.
func (r *Record) Files() []string {
	files := make([]string, len(r.inputs))
	for i := range r.inputs {
		files[i] = r.inputs[i].path
	}
	return files
}

// Text returns the text. Most runs of a compiler need only know that it is the same, so one from
// the cache is decoded when it is asked for.
func (r *Record) Text() (*slice.Text, error) {
	if r.text != nil {
		return r.text, nil
	}
	t, ok := slice.DecodeText(r.encoded)
	if !ok {
		return nil, errors.New("malformed text in the cache")
	}
	return t, nil
}

// Sum returns a number that changes when the text means something else to slices.
func (r *Record) Sum() uint64 { return xxhash.Sum64(r.encoded) }

// State returns a number that changes when one of the files does. It is the same for another
// checkout of the same files.
func (r *Record) State() uint64 {
	e := encoder{root: r.root}
	for _, in := range r.inputs {
		e.path(in.path)
		e.uint(in.content)
	}
	return xxhash.Sum64(e.data)
}

// holds reports whether a command still reads the same text. It renews the state of files that
// changed without a change of content, and of folders in which only other files changed.
func (f *finder) holds(r *Record) bool {
	for i := range r.inputs {
		was := &r.inputs[i]
		now := newInput(f.Dir, was.path)
		if now.state == was.state {
			continue
		}
		if !was.sameContent(f.Dir, now, f.buffer()) {
			return false
		}
		r.renewed = true
	}
	for _, path := range r.there {
		if !exists(f.Dir, path) {
			return false
		}
	}
	for i := range r.watched {
		w := &r.watched[i]
		now := newInput(f.Dir, w.folder.path)
		if now.state == w.folder.state {
			continue
		}
		if w.appeared(f.Dir) {
			return false
		}
		w.folder, r.renewed = now, true
	}
	return true
}

// recordForm is the first thing in a record, and changes with what follows it or how that is found.
const recordForm = 8

func (r *Record) encode() []byte {
	e := encoder{root: r.root}
	e.uint(recordForm)
	e.uint(uint64(len(r.inputs)))
	for _, in := range r.inputs {
		e.input(in)
	}
	e.uint(uint64(len(r.watched)))
	for _, w := range r.watched {
		e.input(w.folder)
		e.strings(w.missing)
	}
	e.uint(uint64(len(r.there)))
	for _, path := range r.there {
		e.path(path)
	}
	return append(e.data, r.encoded...)
}

// decodeRecord decodes a record for a checkout, which may be another one than it was made for.
func decodeRecord(data []byte, at root) (*Record, bool) {
	d := decoder{decode.Buffer{Data: data}, at}
	if d.ULEB() != recordForm {
		return nil, false
	}
	r := &Record{root: at}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.inputs = append(r.inputs, d.input())
	}
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		r.watched = append(r.watched, watched{d.input(), d.strings()})
	}
	r.there = make([]string, 0, d.count())
	for range cap(r.there) {
		r.there = append(r.there, d.path())
	}
	r.encoded = d.Data[d.Pos:]
	return r, d.Err == nil
}

type encoder struct {
	data []byte
	root root
}

func (e *encoder) uint(v uint64) { e.data = binary.AppendUvarint(e.data, v) }

func (e *encoder) path(path string) { e.string(e.root.without(path)) }

func (e *encoder) input(in inputFile) {
	e.path(in.path)
	e.uint(in.state)
	e.uint(in.size)
	e.uint(in.content)
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.data = append(e.data, s...)
}

func (e *encoder) strings(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

// A decoder reads what an encoder wrote.
type decoder struct {
	decode.Buffer
	root root
}

// count reads the number of things that take a byte at least.
func (d *decoder) count() int {
	at := d.Pos
	return d.Count(at, d.ULEB(), 1, "things")
}

func (d *decoder) input() inputFile {
	return inputFile{d.path(), d.ULEB(), d.ULEB(), d.ULEB()}
}

// path reads a path. A zero byte represents the root at the start of a path, and is an error
// elsewhere.
func (d *decoder) path() string {
	at := d.Pos
	path := d.root.with(d.string())
	if strings.Contains(path, rootMark) {
		d.Fail(at, fault.ErrName, "path %q has a zero byte", path)
	}
	return path
}

func (d *decoder) string() string { return string(d.Take(d.ULEB(), "a string")) }

func (d *decoder) strings() []string {
	list := make([]string, 0, d.count())
	for range cap(list) {
		list = append(list, d.string())
	}
	return list
}
