package instrprof

import (
	"fmt"
	"iter"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
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

// The first word of a raw file, in the byte order of the profiled machine.
const (
	rawMagic64 = 0xff6c70726f667281 // 8-byte pointers
	rawMagic32 = 0xff6c70726f665281 // 4-byte pointers
)

const (
	minRaw = 4 // LLVM 9
	maxRaw = 11
)

// First versions of raw files that have a certain feature.
const (
	rawVersionPadding   = 5
	rawVersionBinaryIDs = 6
	rawVersionRelative  = 8 // addresses of counters are relative to the data record
	rawVersionBitmap    = 9
	rawVersionVTables   = 10
	rawVersionUniform   = 11
)

// A RawHeader is the decoded header of a dump.
type RawHeader struct {
	Version      uint32
	Flags        Flags
	PointerSize  int    // 4 or 8
	BigEndian    bool   // byte order of the profiled machine
	NumFunctions uint64 // number of data records
	NumCounters  uint64 // each of 8 bytes, or of 1 byte if Flags has SingleByteCounter

	binaryIDsSize              uint64
	numBitmapBytes             uint64
	numUniform                 uint64 // number of uniform counters, which are skipped
	namesSize                  uint64
	countersDelta, bitmapDelta uint64 // distance from the first data record to the counters or bitmaps in the memory of the process; before version 8, their address
	uniformDelta               uint64
	numVTables                 uint64
	vtableNamesSize            uint64

	beforeCounters, afterCounters, afterBitmap, afterUniform uint64 // padding, in bytes
	namesDelta, lastKind                                     uint64 // not needed to read the file
}

// A rawField is a word in the header of a raw file. Files have it from version since on and, unless
// until is 0, before version until.
type rawField struct {
	at           *uint64
	since, until uint32
}

// rawFields returns the words of the header that follow the magic number and the version, in their
// order.
func (h *RawHeader) rawFields() []rawField {
	return []rawField{
		{at: &h.binaryIDsSize, since: rawVersionBinaryIDs + 1},
		{at: &h.NumFunctions},
		{at: &h.beforeCounters, since: rawVersionPadding},
		{at: &h.NumCounters},
		{at: &h.afterCounters, since: rawVersionPadding},
		{at: &h.numBitmapBytes, since: rawVersionBitmap},
		{at: &h.afterBitmap, since: rawVersionBitmap},
		{at: &h.numUniform, since: rawVersionUniform},
		{at: &h.afterUniform, since: rawVersionUniform},
		{at: &h.uniformDelta, since: rawVersionUniform},
		{at: &h.namesSize},
		{at: &h.countersDelta},
		{at: &h.bitmapDelta, since: rawVersionBitmap},
		{at: &h.namesDelta},
		{at: &h.numVTables, since: rawVersionVTables},
		{at: &h.vtableNamesSize, since: rawVersionVTables},
		{at: &h.lastKind},
		{at: &h.binaryIDsSize, since: rawVersionBinaryIDs, until: rawVersionBinaryIDs + 1},
	}
}

// rawMagic decodes the first word of a dump: the size of a pointer and the byte order. It returns
// false if the word does not begin a dump.
func rawMagic(head []byte) (pointerSize int, big, ok bool) {
	if len(head) < 8 {
		return 0, false, false
	}
	for _, big := range [...]bool{false, true} {
		switch order(big).Uint64(head) {
		case rawMagic64:
			return 8, big, true
		case rawMagic32:
			return 4, big, true
		}
	}
	return 0, false, false
}

// rawHeader reads the header of a dump.
func (f *fields) rawHeader() *RawHeader {
	h := &RawHeader{}
	var ok bool
	if h.PointerSize, h.BigEndian, ok = rawMagic(f.Data[f.Pos:]); !ok {
		f.Fail(f.Pos, errMagic, "no raw profile begins here")
		return nil
	}
	f.Big = h.BigEndian
	f.Pos += 8
	h.Version, h.Flags = versionWord(f.Uint64("the version"))
	if f.Err == nil && (h.Version < minRaw || h.Version > maxRaw) {
		f.Stop(versionError("raw", h.Version, minRaw, maxRaw))
		return nil
	}
	if unknown := h.Flags &^ knownFlags; unknown != 0 {
		f.Fail(f.Pos-8, fault.ErrHeader, "unknown flags %#x", uint32(unknown))
	}
	for _, field := range h.rawFields() {
		if h.Version >= field.since && (field.until == 0 || h.Version < field.until) {
			*field.at = f.Uint64("a field of the header")
		}
	}
	return h
}

// counterWidth returns the size of a counter in bytes.
func (h *RawHeader) counterWidth() uint64 {
	if h.Flags&SingleByteCounter != 0 {
		return 1
	}
	return 8
}

// uniformWidth is the size of a uniform counter in bytes, independent of counterWidth.
const uniformWidth = 8

// correlated reports whether the dump was made by a program built with -profile-correlate. Then the
// program, and not the file, has the description of the functions, see [Correlation].
func (h *RawHeader) correlated() bool {
	return h.Flags&Correlated != 0 || h.NumFunctions == 0 && h.NumCounters > 0
}

// stamped reports whether the time stamp of a function's first call precedes its counters. A
// program with FunctionEntryOnly records no time stamps, even if its flags claim so. LLVM 22
// misreads the counters of such files.
func (h *RawHeader) stamped() bool {
	return h.Flags&TemporalTraces != 0 && h.Flags&FunctionEntryOnly == 0
}

// String describes the format of the raw file, such as its version, in words.
func (h RawHeader) String() string {
	order := "little-endian"
	if h.BigEndian {
		order = "big-endian"
	}
	return fmt.Sprintf("raw version %d, %s, %d bits", h.Version, order, 8*h.PointerSize)
}
