package instrprof

import (
	"bytes"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// This file reads the sections after the hash table: MemProf, binary IDs, vtable names and traces.
// The header has only their offsets. A section ends where the next one begins or the file ends.

// tailSection returns a decoder for the section of the file at offset off, which must not be 0. The
// section ends where the next one begins.
func (r *Reader) tailSection(off int64, s string) (*fields, error) {
	h := &r.header
	end := r.src.Size()
	for _, o := range h.offsets() {
		if *o.at > off && *o.at < end {
			end = *o.at
		}
	}
	data, err := r.src.View(off, int(end-off))
	if err != nil {
		return nil, err
	}
	return &fields{Buffer: decode.Buffer{Data: data, Part: s}, base: off}, nil
}

// MemProf returns the bytes of the MemProf section and its file offset. The offsets stored in the
// section are file offsets. data extends to the next section, so it may end with zeros that do not
// belong to the section. Without such a section, the error is afdo.ErrNotFound.
func (r *Reader) MemProf() (data []byte, off int64, err error) {
	if r.header.Flags&HasMemProf == 0 {
		return nil, 0, fault.ErrNotFound
	}
	f, err := r.tailSection(r.header.MemProf, sectionMemProf)
	if err != nil {
		return nil, 0, err
	}
	return f.Data, r.header.MemProf, nil
}

// A BinaryID identifies a profiled binary, usually by its build ID.
type BinaryID []byte

// BinaryIDs returns the IDs of the profiled binaries in file order, which is sorted if LLVM wrote
// the file. Files before version 9 have no IDs.
func (r *Reader) BinaryIDs() ([]BinaryID, error) {
	if r.header.Version < versionBinaryIDs {
		return nil, nil
	}
	f, err := r.tailSection(r.header.BinaryIDs, sectionBinaryIDs)
	if err != nil {
		return nil, err
	}
	size := f.Uint64("the size of the binary IDs")
	ids := f.binaryIDs(size)
	return ids, f.err()
}

// binaryIDs reads a list of binary IDs that takes size bytes. Each ID has its length, its bytes,
// and zeros to a multiple of 8.
func (f *fields) binaryIDs(size uint64) []BinaryID {
	start := f.Pos
	sub := fields{Buffer: decode.Buffer{Data: f.Take(size, "the binary IDs"), Big: f.Big, Part: sectionBinaryIDs}, base: f.base + int64(start)}
	var ids []BinaryID
	for f.Err == nil && sub.Rest() > 0 {
		pos := sub.Pos
		n := sub.Uint64("the length of a binary ID")
		if sub.Err == nil && n == 0 {
			sub.Fail(pos, fault.ErrCount, "a binary ID of no bytes")
		}
		ids = append(ids, sub.Take(n, "a binary ID"))
		sub.align("the padding")
		if f.Stop(sub.err()); f.Err != nil {
			return nil
		}
	}
	return ids
}

// encodeBinaryIDs encodes IDs in the form that fields.binaryIDs reads.
func encodeBinaryIDs(ids []BinaryID) (p []byte) {
	for _, id := range ids {
		p = append64(p, uint64(len(id)))
		p = pad(append(p, id...))
	}
	return p
}

func compareIDs(a, b BinaryID) int { return bytes.Compare(a, b) }

func sortBinaryIDs(ids []BinaryID) []BinaryID {
	slices.SortFunc(ids, compareIDs)
	return slices.CompactFunc(ids, func(a, b BinaryID) bool { return bytes.Equal(a, b) })
}

// VTableNames returns the names of virtual tables. Files contain such names only from version 12,
// and only if requested at the merge.
func (r *Reader) VTableNames() ([]string, error) {
	if r.header.Version < versionVTables {
		return nil, nil
	}
	f, err := r.tailSection(r.header.VTableNames, sectionVTableNames)
	if err != nil {
		return nil, err
	}
	return f.nameList(f.Uint64("the size of the vtable names"), r.src.Size())
}

// A Trace lists functions in the order in which a run first called them.
type Trace struct {
	Weight    uint64   // weight of the raw file in the merge, 1 by default
	Functions []uint64 // name hashes
}

// Traces is the temporal profile: a sample of the recorded traces. Merging keeps at most 100
// traces, each of at most 10,000 functions.
type Traces struct {
	Seen   uint64 // number of traces from which the sample was taken
	Traces []Trace
}

// Traces returns the temporal profile, which is empty if the file has none.
func (r *Reader) Traces() (Traces, error) {
	if r.header.Version < versionTraces || r.header.Flags&TemporalTraces == 0 {
		return Traces{}, nil
	}
	f, err := r.tailSection(r.header.Traces, sectionTraces)
	if err != nil {
		return Traces{}, err
	}
	t := f.traces()
	return t, f.err()
}

func (f *fields) traces() Traces {
	var t Traces
	pos := f.Pos
	n := f.Uint64("the number of traces")
	t.Seen = f.Uint64("the number of traces seen")
	if f.Err == nil && n > uint64(f.Rest()/16) {
		f.Fail(pos, fault.ErrCount, "%d traces in %d bytes", n, f.Rest())
	}
	for f.Err == nil && uint64(len(t.Traces)) < n {
		trace := Trace{Weight: f.Uint64("the weight of a trace")}
		trace.Functions = make([]uint64, f.count(8, "the number of functions of a trace"))
		for i := range trace.Functions {
			trace.Functions[i] = f.Uint64("a function of a trace")
		}
		t.Traces = append(t.Traces, trace)
	}
	if f.Err != nil {
		return Traces{}
	}
	return t
}

// append appends the traces to p in the form that [fields.traces] reads.
func (t *Traces) append(p []byte) []byte {
	p = append64(p, uint64(len(t.Traces)), t.Seen)
	for _, trace := range t.Traces {
		p = append64(p, trace.Weight, uint64(len(trace.Functions)))
		p = append64(p, trace.Functions...)
	}
	return p
}
