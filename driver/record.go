package driver

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A record is what the cache has of the inputs of a command.
type record struct {
	text    []byte // a slice.Text, encoded
	inputs  []inputFile
	watched []watched
	there   []string // what has to stay, whatever is in it

	uncertain bool // a file may have changed while it was read
	renewed   bool // folders have changed, but nothing in them that matters
}

// An inputFile is a file or a folder as it was when it was looked at.
type inputFile struct {
	path  string
	state uint64 // 0 if it is not there
}

// watched are files that were not there, and the folder that changes before one can be.
type watched struct {
	folder  inputFile
	missing []string
}

// newInput looks at a file. A path that is not absolute is of the folder dir.
func newInput(dir, path string) inputFile {
	in, _ := lookAt(dir, path)
	return in
}

// lookAt looks at a file, and returns when it was last changed, too.
func lookAt(dir, path string) (in inputFile, changed time.Time) {
	info, err := os.Stat(pathIn(dir, path))
	if err != nil {
		return inputFile{path: path}, changed
	}
	return inputFile{path, stateOf(info)}, info.ModTime()
}

// stateOf returns a number that changes when a file does, or another one takes
// its place, whatever their size and time. It is not 0.
func stateOf(info fs.FileInfo) uint64 {
	var state []byte
	for _, v := range append([]int64{info.Size(), info.ModTime().UnixNano()}, identity(info)...) {
		state = binary.LittleEndian.AppendUint64(state, uint64(v))
	}
	return max(1, xxhash.Sum64(state))
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

// result returns the inputs.
func (r *record) result(again bool) *Inputs {
	in := &Inputs{Again: again, text: r.text}
	for i := range r.inputs {
		in.Files = append(in.Files, r.inputs[i].path)
	}
	return in
}

// holds reports whether a command still reads what it did. It renews the state of folders in which
// other things have changed.
func (f *finder) holds(r *record) bool {
	for _, was := range r.inputs {
		if newInput(f.Dir, was.path) != was {
			return false
		}
	}
	for _, path := range r.there {
		if !exists(f.Dir, path) {
			return false
		}
	}
	for i := range r.watched {
		w := &r.watched[i]
		now := newInput(f.Dir, w.folder.path)
		if now == w.folder {
			continue
		}
		for _, path := range w.missing {
			// A folder nearer to the file would have to be watched instead.
			if nearer := filepath.Dir(path); exists(f.Dir, path) || nearer != w.folder.path && exists(f.Dir, nearer) {
				return false
			}
		}
		w.folder, r.renewed = now, true
	}
	return true
}

// recordForm is the first thing in a record, and changes with what follows it or how that is found.
const recordForm = 4

func (r *record) encode() []byte {
	var e encoder
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
	e.strings(r.there)
	return append(e.data, r.text...)
}

func decodeRecord(data []byte) (*record, bool) {
	d := decoder{data: data}
	if d.uint() != recordForm {
		return nil, false
	}
	r := new(record)
	for n := d.count(); n > 0 && !d.failed; n-- {
		r.inputs = append(r.inputs, d.input())
	}
	for n := d.count(); n > 0 && !d.failed; n-- {
		r.watched = append(r.watched, watched{d.input(), d.strings()})
	}
	r.there = d.strings()
	r.text = d.data
	return r, !d.failed
}

type encoder struct{ data []byte }

func (e *encoder) uint(v uint64) { e.data = binary.AppendUvarint(e.data, v) }

func (e *encoder) input(in inputFile) {
	e.string(in.path)
	e.uint(in.state)
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

// A decoder reads what an encoder wrote. Once failed, it reads zeros.
type decoder struct {
	data   []byte
	failed bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.failed, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return v
}

// count reads the number of things that take a byte at least.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.data)) {
		d.failed = true
		return 0
	}
	return int(n)
}

func (d *decoder) input() inputFile { return inputFile{d.string(), d.uint()} }

func (d *decoder) string() string {
	n := d.count()
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

func (d *decoder) strings() []string {
	list := make([]string, 0, d.count())
	for range cap(list) {
		list = append(list, d.string())
	}
	return list
}
