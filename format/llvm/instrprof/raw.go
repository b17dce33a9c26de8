package instrprof

import (
	"iter"

	"github.com/go-afdo/afdo/internal/decode"
)

// A RawReader reads a raw file, which consists of one or more dumps. It may be used concurrently.
type RawReader struct {
	data  []byte
	first *Dump
	names *nameCache

	correlation *Correlation
}

// Correlate sets c, which describes the functions of those dumps that do not describe them
// themselves. It must be called before all other methods.
func (r *RawReader) Correlate(c *Correlation) { r.correlation = c }

// OpenRawBytes opens a raw file in memory and reads its header. Records are views of data, which
// must not change while records are in use. Errors are *afdo.FormatError and *afdo.VersionError.
func OpenRawBytes(data []byte) (*RawReader, error) { return openRaw(data, &nameCache{}) }

func openRaw(data []byte, names *nameCache) (*RawReader, error) {
	r := &RawReader{data: data, names: names}
	var err error
	r.first, err = r.dump(0)
	return r, err
}

// Header returns the header of the first dump.
func (r *RawReader) Header() RawHeader { return *r.first.header }

// Size returns the size of the file in bytes.
func (r *RawReader) Size() int64 { return int64(len(r.data)) }

// Dumps iterates over the dumps of the file. All dumps must have the byte order and pointer size of
// the first dump. Zeros between dumps are skipped. To find the end of a dump, Dumps walks its
// records. An error ends the iteration.
func (r *RawReader) Dumps() iter.Seq2[*Dump, error] {
	return func(yield func(*Dump, error) bool) {
		d := r.first
		for {
			next, err := d.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(d, nil) || next == len(r.data) {
				return
			}
			if d, err = r.dump(next); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// dump reads the header of the dump at position pos of the file.
func (r *RawReader) dump(pos int) (*Dump, error) {
	f := fields{Buffer: decode.Buffer{Data: r.data, Pos: pos, Part: sectionHeader}}
	if first := r.first; first != nil {
		p, big, ok := rawMagic(r.data[pos:])
		if pos%8 != 0 || ok && (p != first.header.PointerSize || big != first.header.BigEndian) {
			f.Fail(pos, errMagic, "a dump that is not aligned, or of another byte order or pointer size than the first")
			return nil, f.err()
		}
	}
	d := &Dump{file: r, header: f.rawHeader()}
	if f.Err != nil {
		return nil, f.err()
	}
	d.layout = d.header.layout()
	d.sections(&f)
	return d, f.err()
}
