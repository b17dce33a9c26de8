package driver

import (
	"encoding/binary"
)

// A record is what the cache has of the inputs of a command.
type record struct {
	files   []inputFile
	markers []string // files that are named in preprocessed ones
	defined []string
	depfile int64 // the time of the dependency file that named the files, 0 if the compiler did
}

// An inputFile is a file as it was when it was looked at.
type inputFile struct {
	path       string
	size, time int64
	directives uint64
}

func (r *record) inputs(from string) *Inputs {
	in := &Inputs{Defined: r.defined, From: from}
	for i := range r.files {
		in.Files = append(in.Files, r.files[i].path)
	}
	in.Files = append(in.Files, r.markers...)
	return in
}

// recordForm is the first thing in a record, and changes with what follows it or how that is found.
const recordForm = 2

func (r *record) encode() []byte {
	var e encoder
	e.uint(recordForm)
	e.uint(uint64(len(r.files)))
	for i := range r.files {
		f := &r.files[i]
		e.string(f.path)
		e.uint(uint64(f.size))
		e.uint(uint64(f.time))
		e.uint(f.directives)
	}
	e.strings(r.markers)
	e.strings(r.defined)
	e.uint(uint64(r.depfile))
	return e.data
}

func decodeRecord(data []byte) (*record, bool) {
	d := decoder{data: data}
	if d.uint() != recordForm {
		return nil, false
	}
	r := new(record)
	for n := d.count(); n > 0 && !d.failed; n-- {
		r.files = append(r.files, inputFile{d.string(), int64(d.uint()), int64(d.uint()), d.uint()})
	}
	r.markers = d.strings()
	r.defined = d.strings()
	r.depfile = int64(d.uint())
	return r, !d.failed
}

type encoder struct{ data []byte }

func (e *encoder) uint(v uint64) { e.data = binary.AppendUvarint(e.data, v) }

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
