package instrprof

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Dump is a profile written by one process. A raw file may contain several. A Dump may be used
// concurrently.
type Dump struct {
	file   *RawReader
	header *RawHeader
	layout rawLayout

	ids, data, counts, bitmap, uniform, names, vtables, vtableNames fields // the sections
	values                                                          int    // position of the value data
}

// sections reads where the sections of the dump are, and sets the fields of d for them. f is
// positioned after the header.
func (d *Dump) sections(f *fields) {
	h := d.header
	take := func(to *fields, s string, n, size, after uint64, aligned bool) {
		f.Part = s
		*to = fields{Buffer: decode.Buffer{Big: h.BigEndian, Part: s}, base: int64(f.Pos)}
		if f.Err == nil && n > uint64(f.Rest())/size {
			f.Fail(f.Pos, fault.ErrTruncated, "%d of %d bytes, %d bytes are left", n, size, f.Rest())
		}
		to.Data = f.Take(n*size, "the section")
		if aligned {
			after = -n & 7
		}
		f.Take(after, "the padding")
	}
	take(&d.ids, sectionBinaryIDs, h.binaryIDsSize, 1, 0, false)
	take(&d.data, sectionData, h.NumFunctions, uint64(d.layout.size), h.beforeCounters, false)
	take(&d.counts, sectionCounters, h.NumCounters, h.counterWidth(), h.afterCounters, false)
	take(&d.bitmap, sectionBitmap, h.numBitmapBytes, 1, h.afterBitmap, false)
	take(&d.uniform, sectionUniform, h.numUniform, uniformWidth, h.afterUniform, false)
	take(&d.names, sectionNames, h.namesSize, 1, 0, true)
	take(&d.vtables, sectionVTables, h.numVTables, uint64(d.layout.vtableSize()), 0, false)
	take(&d.vtableNames, sectionVTableNames, h.vtableNamesSize, 1, 0, true)
	d.values = f.Pos
}

// next returns the offset in the file at which the dump after this one begins. For the last dump it
// is the size of the file.
func (d *Dump) next() (int, error) {
	f := d.valueFields()
	room := d.room()
	for i, r := range d.records() {
		if r.hasValues {
			f.values()
		}
		if err := d.take(&room, &r, i); err != nil {
			return 0, err
		}
	}
	if f.Err != nil {
		return 0, f.err()
	}
	end := f.Pos
	for end < len(d.file.data) && d.file.data[end] == 0 {
		end++
	}
	return end, nil
}

// memoryPerByte limits the memory for the counters and bitmaps of all functions of a dump, as a
// multiple of the size of the sections. Functions may share counters and bitmaps: in Windows
// programs, several object files can contain the same function.
const memoryPerByte = 10

// room returns the limit on the memory for the counters and bitmaps of all functions, in bytes.
func (d *Dump) room() int64 {
	return memoryPerByte * int64(len(d.data.Data)+len(d.counts.Data)+len(d.bitmap.Data))
}

// take subtracts the memory for the counters and the bitmap of data record i from *room. It returns
// an error if *room gets negative. Each counter and each byte of a bitmap takes eight bytes. A
// record that exceeds its section counts no more than the size of the section, because it causes
// another error.
func (d *Dump) take(room *int64, r *rawRecord, i int) error {
	*room -= 8 * int64(min(uint64(r.numCounters), d.header.NumCounters)+min(uint64(r.bitmapBytes), d.header.numBitmapBytes))
	if *room >= 0 {
		return nil
	}
	return d.fault(i, 0, fault.ErrLimit, "the functions up to number %d share counters and bitmaps that take %d times what the file has", i, memoryPerByte)
}

// fault returns an error about data record i. at is the offset in the record.
func (d *Dump) fault(i, at int, class error, format string, args ...any) error {
	return faultAt(sectionData, d.data.base+int64(i*d.layout.size+at), class, format, args...)
}

// valueFields returns a decoder for the value data, which has a block for each function with value
// sites.
func (d *Dump) valueFields() *fields {
	return &fields{Buffer: decode.Buffer{Data: d.file.data, Pos: d.values, Big: d.header.BigEndian, Part: sectionValues}}
}

// records iterates over the data records in the file, each of which describes a function.
func (d *Dump) records() iter.Seq2[int, rawRecord] {
	return func(yield func(int, rawRecord) bool) {
		for i := range int(d.header.NumFunctions) {
			if !yield(i, d.layout.read(d.data.Data[i*d.layout.size:])) {
				return
			}
		}
	}
}

// BinaryIDs returns the IDs of the binary and its libraries, in file order.
func (d *Dump) BinaryIDs() ([]BinaryID, error) {
	f := d.ids
	ids := f.binaryIDs(uint64(len(f.Data)))
	return ids, f.err()
}

// vTableNames returns the names of the virtual tables.
func (d *Dump) vTableNames() ([]string, error) {
	f := d.vtableNames
	return f.nameList(uint64(len(f.Data)), d.file.Size())
}

// Records iterates over the records in file order, which is the order in the program. An error ends
// the iteration. The error is [ErrCorrelated] if the file does not describe its functions and no
// [Correlation] has been set.
func (d *Dump) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		d.walk(part{}, func(r Record, _, _ uint64, err error) bool { return yield(r, err) })
	}
}

// walk yields the records of a dump, for the functions in the given part of the profile. With each
// record it yields the hash of the function's name, and the time stamp of the function's first
// call.
func (d *Dump) walk(of part, yield func(r Record, nameHash, stamp uint64, err error) bool) {
	described, names, err := d.described()
	if err != nil {
		yield(Record{}, 0, 0, err)
		return
	}
	values := rawValues{f: d.valueFields(), dump: d}
	room := d.room()
	for i, raw := range described {
		err := d.take(&room, &raw, i)
		if err == nil && !of.has(raw.nameHash) {
			if raw.hasValues {
				values.f.values()
			}
			continue
		}
		var r Record
		var stamp uint64
		if err == nil {
			r, stamp, err = d.view(&raw, i, names)
		}
		if err == nil && raw.hasValues {
			r.values, err = values.next()
		}
		if !yield(r, raw.nameHash, stamp, err) || err != nil {
			return
		}
	}
}

// described returns the data records of the dump, which describe its functions, and the names of
// the functions. Both are in the file or, for a correlated profile, in the program.
func (d *Dump) described() (records iter.Seq2[int, rawRecord], names nameTable, err error) {
	if !d.header.correlated() {
		names, err = d.file.names.get(d)
		return d.records(), names, err
	}
	c := d.file.correlation
	if c == nil {
		return nil, nil, ErrCorrelated
	}
	list, err := c.records(d)
	return slices.All(list), c.names, err
}

// view returns the record of a function, without its profiled values, and the time stamp of the
// function's first call. raw is the data record with number i, which describes the function. names
// has the names of the dump's functions.
func (d *Dump) view(raw *rawRecord, i int, names nameTable) (r Record, stamp uint64, err error) {
	name, ok := names[raw.nameHash]
	if !ok {
		return r, 0, d.fault(i, 0, fault.ErrName, "function %d: no name has the hash %#x", i, raw.nameHash)
	}
	r = Record{name: name, hash: raw.hash, bitmap: Bitmap{stride: 1}}
	if r.counters, stamp, err = d.counters(raw, i); err != nil {
		return r, 0, err
	}
	if raw.bitmapBytes > 0 {
		start := d.layout.distance(raw.bitmap, d.header.bitmapDelta, i)
		if r.bitmap.data, err = d.part(sectionBitmap, d.bitmap.Data, d.bitmap.base, start, uint64(raw.bitmapBytes), i); err != nil {
			return r, 0, err
		}
	}
	r.uniform, err = d.uniformCounters(raw, i)
	return r, stamp, err
}

// never reports whether a time stamp means that the function was not called.
func never(stamp uint64) bool { return stamp == 0 || stamp == math.MaxUint64 }

// A stamped is the first call of a function: the hash of the function's name, and a time stamp.
type stamped struct{ stamp, nameHash uint64 }

// trace returns the functions that were called, in the order of their first calls. The trace has
// the weight 1. It is empty if the program did not record the order. trace reads all records.
func (d *Dump) trace() (Trace, error) {
	if !d.header.stamped() {
		return Trace{}, nil
	}
	var calls []stamped
	var fault error
	d.walk(part{}, func(_ Record, nameHash, stamp uint64, err error) bool {
		if !never(stamp) {
			calls = append(calls, stamped{stamp, nameHash})
		}
		fault = err
		return true
	})
	return traceOf(calls), fault
}

// traceOf sorts the first calls of functions by time and returns them as a trace.
func traceOf(calls []stamped) Trace {
	slices.SortFunc(calls, func(a, b stamped) int {
		return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(a.nameHash, b.nameHash))
	})
	t := Trace{Weight: 1}
	for _, c := range calls {
		t.Functions = append(t.Functions, c.nameHash)
	}
	return t
}
