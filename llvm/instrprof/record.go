package instrprof

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Record is a view of what a profile holds of one function, or of one body of a function: two
// programs may have functions of one name with different control flow, which the hash tells apart.
// A Record is a value that may be copied and used from many goroutines; what it views lives as long
// as it does.
type Record struct {
	name     []byte
	hash     uint64
	counters Counters
	bitmap   Bitmap
	values   Values
}

// NewRecord makes a record. It copies nothing of name and values. Errors match
// afdo.ErrUnrepresentable.
func NewRecord(name string, hash uint64, counters []uint64, bitmap []byte, values ValueSites) (Record, error) {
	r := Record{name: []byte(name), hash: hash}
	r.counters = Counters{data: append64(make([]byte, 0, 8*len(counters)), counters...), width: 8}
	r.bitmap = Bitmap{data: append([]byte(nil), bitmap...), stride: 1}
	var err error
	r.values, err = values.view()
	return r, err
}

// Name returns the name of the function, with the file before it if it is static. It is copied.
func (r Record) Name() string { return string(r.name) }

// Hash returns the hash of the function's control flow.
func (r Record) Hash() uint64 { return r.hash }

// ContextSensitive reports whether the counters were taken after inlining, by a second
// instrumentation. It says something only of the records of a profile with that flag.
func (r Record) ContextSensitive() bool { return marked(r.hash) }

// Counters returns the counters: how often blocks or edges ran.
func (r Record) Counters() Counters { return r.counters }

// Bitmap returns the MC/DC bitmap.
func (r Record) Bitmap() Bitmap { return r.bitmap }

// Values returns the value profile.
func (r Record) Values() Values { return r.values }

// Pseudo returns [PseudoHot] or [PseudoWarm] if the counters are not known, otherwise 0.
func (r Record) Pseudo() uint64 { return r.counters.pseudo() }

// String says which record it is.
func (r Record) String() string { return fmt.Sprintf("%s (hash %#x)", r.name, r.hash) }

// Records of an indexed file: u64 hash; from version 2 u64 number of counters, before it they take
// the rest; the counters; from 11 u64 number of bitmap bytes and a u64 for each; from 3 value data.

// record reads a record of an indexed file.
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
	if version >= versionValues {
		r.values = f.values()
	}
	return r
}

// bitmap reads a bitmap, in which a word stands for each byte.
func (f *fields) bitmap() []byte {
	m := f.count(8, "the number of bitmap bytes")
	pos := f.Pos
	data := f.Take(8*uint64(m), "the bitmap")
	for i := 0; i < len(data); i += 8 {
		if b := get64(data[i:], false); b > 255 {
			f.Fail(pos+i, fault.ErrCount, "%d in the place of a byte of a bitmap", b)
		}
	}
	return data
}

// append is the mirror image of fields.record.
func (f *function) append(p []byte, version uint32) []byte {
	p = append64(p, f.hash, uint64(f.numCounters))
	p = append(p, f.counters().data...)
	if version >= versionBitmap {
		bitmap := f.bitmap()
		p = append64(p, uint64(len(bitmap)))
		for _, b := range bitmap {
			p = append64(p, uint64(b))
		}
	}
	return append(p, f.encodedValues(version)...)
}

// encodedSize returns how many bytes append appends.
func (f *function) encodedSize(version uint32) uint64 {
	size := 16 + len(f.counters().data) + len(f.encodedValues(version))
	if version >= versionBitmap {
		size += 8 + 8*len(f.bitmap())
	}
	return uint64(size)
}

var noValues = []byte{valuesHeaderSize, 0, 0, 0, 0, 0, 0, 0}

// encodedValues returns the value data. Those of virtual tables are known since version 12.
func (f *function) encodedValues(version uint32) []byte {
	switch {
	case f.values == nil:
		return noValues
	case version < versionVTables && f.values.NumSites(VTableTarget) > 0:
		return f.values.without(VTableTarget)
	}
	return f.values.data
}
