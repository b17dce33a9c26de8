package instrprof

import (
	"fmt"

	"github.com/go-afdo/afdo"
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
// [afdo.ErrUnrepresentable].
func NewRecord(name string, hash uint64, counters []uint64, bitmap []byte, values ValueSites) (Record, error) {
	r := Record{name: []byte(name), hash: hash}
	r.counters = Counters{data: append64(make([]byte, 0, 8*len(counters)), counters...), width: 8}
	r.bitmap = Bitmap{data: append([]byte(nil), bitmap...), stride: 1}
	var err error
	r.values, err = values.view()
	return r, err
}

// csHash is the bit of the hash of a context-sensitive record.
const csHash = 1 << 60

// Name returns the name of the function, with the file before it if it is static. It is copied.
func (r Record) Name() string { return string(r.name) }

// Hash returns the hash of the function's control flow.
func (r Record) Hash() uint64 { return r.hash }

// ContextSensitive reports whether the counters were taken after inlining, by a second
// instrumentation.
func (r Record) ContextSensitive() bool { return r.hash&csHash != 0 }

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

// Records of an indexed file: u64 hash; u64 number of counters and the counters; from version 11
// u64 number of bitmap bytes and a u64 for each; from 3 value data.

// record reads a record of an indexed file.
func (f *fields) record(version uint32, name []byte) Record {
	r := Record{name: name, hash: f.Uint64("the hash of a function")}
	n := f.count(8, "the number of counters")
	r.counters = Counters{data: f.Take(8*uint64(n), "the counters"), width: 8}
	r.bitmap.stride = 8
	if version >= 11 {
		m := f.count(8, "the number of bitmap bytes")
		pos := f.Pos
		r.bitmap.data = f.Take(8*uint64(m), "the bitmap")
		for i := range r.bitmap.Len() {
			if b := get64(r.bitmap.data[8*i:], false); b > 255 {
				f.Fail(pos+8*i, afdo.ErrCount, "%d in the place of a byte of a bitmap", b)
			}
		}
	}
	r.values = f.values()
	return r
}

// append is the mirror image of fields.record.
func (f *function) append(p []byte) []byte {
	p = append64(p, f.hash, uint64(f.numCounters))
	p = append(p, f.counters().data...)
	bitmap := f.bitmap()
	p = append64(p, uint64(len(bitmap)))
	for _, b := range bitmap {
		p = append64(p, uint64(b))
	}
	if f.values == nil {
		return append(p, valuesHeaderSize, 0, 0, 0, 0, 0, 0, 0)
	}
	return append(p, f.values.data...)
}

func sameValue(_ ValueKind, v uint64) uint64 { return v }
