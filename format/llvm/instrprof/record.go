package instrprof

import (
	"encoding/binary"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Record is a view of the data for one function. If programs contain different functions with the
// same name, each has a Record with its own hash. A Record is a small value and may be used
// concurrently. It is valid as long as the bytes that it refers to.
type Record struct {
	name     []byte
	hash     uint64
	counters Counters
	bitmap   Bitmap
	values   Values
	uniform  bool // it has uniformity bits or uniform counters, which are skipped
}

// NewRecord creates a record. It copies its arguments. More than 255 values at a site give an error
// that matches afdo.ErrUnrepresentable.
func NewRecord(name string, hash uint64, counters []uint64, bitmap []byte, values ValueSites) (Record, error) {
	r := Record{name: []byte(name), hash: hash}
	r.counters = Counters{data: append64(make([]byte, 0, 8*len(counters)), counters...), width: 8}
	r.bitmap = Bitmap{data: append([]byte(nil), bitmap...), stride: 1}
	var err error
	r.values, err = values.view()
	return r, err
}

// Name returns a copy of the function's name. For a static function, the name starts with the
// source file, see [Symbol].
func (r Record) Name() string { return string(r.name) }

// Hash returns the hash of the function's control flow.
func (r Record) Hash() uint64 { return r.hash }

// ContextSensitive reports whether the counters were recorded by a second instrumentation after
// inlining. Without the flag ContextSensitive of the profile, the result is meaningless.
func (r Record) ContextSensitive() bool { return marked(r.hash) }

// Counters returns the execution counts of blocks or edges.
func (r Record) Counters() Counters { return r.counters }

// Bitmap returns the MC/DC bitmap.
func (r Record) Bitmap() Bitmap { return r.bitmap }

// Values returns the value profile.
func (r Record) Values() Values { return r.values }

// Pseudo returns [PseudoHot] or [PseudoWarm] if the record has a pseudo count instead of counters,
// otherwise 0.
func (r Record) Pseudo() uint64 { return r.counters.pseudo() }

// String identifies the record by name and hash.
func (r Record) String() string { return fmt.Sprintf("%s (hash %#x)", r.name, r.hash) }

// The encoding of a record in indexed files:
//   - u64 hash
//   - u64 number of counters, from version 2; before, counters fill the rest of the data
//   - the counters
//   - u64 number of bitmap bytes and a u64 for each byte, from version 11
//   - u64 number of uniformity bytes and these bytes, padded to a multiple of 8, from version 14
//   - value data, from version 3

// record reads one record of an indexed file of the given version. name is the name of its
// function, which is not in the record.
func (f *fields) record(version uint32, name []byte) Record {
	r := Record{name: name, hash: f.Uint64("the hash of a function")}
	n := f.Rest() / 8
	if version >= versionCounts {
		n = f.count(8, "the number of counters")
	}
	r.counters = Counters{data: f.Take(8*uint64(n), "the counters"), width: 8}
	r.bitmap.stride = 8
	if version >= versionBitmap {
		r.bitmap.data = f.bitmap()
	}
	if version >= versionUniform {
		r.uniform = f.uniformity()
	}
	if version >= versionValues {
		r.values = f.values()
	}
	return r
}

// bitmap reads an MC/DC bitmap of an indexed file. The file stores each byte of the bitmap as a
// 64-bit word.
func (f *fields) bitmap() []byte {
	m := f.count(8, "the number of bitmap bytes")
	pos := f.Pos
	data := f.Take(8*uint64(m), "the bitmap")
	for i := 0; i < len(data); i += 8 {
		if b := binary.LittleEndian.Uint64(data[i:]); b > 255 {
			f.Fail(pos+i, fault.ErrCount, "%d in the place of a byte of a bitmap", b)
		}
	}
	return data
}

// uniformity skips the uniformity bits of a function for a GPU, one for each block of the function.
// It reports whether there are any.
func (f *fields) uniformity() bool {
	n := f.count(1, "the number of uniformity bytes")
	f.Take((uint64(n)+7)&^7, "the uniformity bytes")
	return n > 0
}

// append appends the record of the function to p, in the form of indexed files of the given
// version.
func (f *profileFunction) append(p []byte, version uint32) []byte {
	p = append64(p, f.hash, uint64(f.numCounters))
	p = append(p, f.counters().data...)
	if version >= versionBitmap {
		bitmap := f.bitmap()
		p = append64(p, uint64(len(bitmap)))
		for _, b := range bitmap {
			p = append64(p, uint64(b))
		}
	}
	if version >= versionUniform {
		p = append64(p, 0)
	}
	return append(p, f.encodedValues(version)...)
}

// encodedSize returns the number of bytes that profileFunction.append appends for the given
// version.
func (f *profileFunction) encodedSize(version uint32) uint64 {
	size := 16 + len(f.counters().data) + len(f.encodedValues(version))
	if version >= versionBitmap {
		size += 8 + 8*len(f.bitmap())
	}
	if version >= versionUniform {
		size += 8
	}
	return uint64(size)
}

var noValues = []byte{valuesHeaderSize, 0, 0, 0, 0, 0, 0, 0}

// encodedValues returns the profiled values of the function in the form of indexed files of the
// given version. Files before version 12 cannot hold virtual tables, so these are left out.
func (f *profileFunction) encodedValues(version uint32) []byte {
	switch {
	case f.values == nil:
		return noValues
	case version < versionVTables && f.values.NumSites(VTableTarget) > 0:
		return f.values.without(VTableTarget)
	}
	return f.values.data
}
