package memprof

import (
	"iter"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Reader decodes the MemProf section of an indexed profile in place. The bytes must not change
// while it is in use. Its methods may be called concurrently.
type Reader struct {
	header
	section decoder // the whole section
	frames  decoder // versions 3 and 4
	stacks  decoder // versions 3 and 4
	records hashtable.Table
	limit   int64

	frameItems, stackItems hashtable.Table // version 2
}

// An Option configures a [Reader].
type Option func(*Reader)

// MaxFrames limits the number of frames read in one walk over the call stacks of all records,
// because a few bytes can encode many frames. The default is 2^20 plus 64 per byte of the section.
// Profiles of real programs have fewer than 8 per byte.
func MaxFrames(n int64) Option { return func(r *Reader) { r.limit = n } }

// OpenBytes opens a section. It reads the header, the schema and the heads of the hash tables.
// offset is the section's file offset, which offsets in the section include. section may extend to
// the end of the file. Use package instrprof to find the section in a file. Errors are
// afdo.FormatError and afdo.VersionError.
func OpenBytes(section []byte, offset int64, options ...Option) (*Reader, error) {
	r := &Reader{section: decoder{Buffer: decode.Buffer{Data: section, Part: partHeader}, base: offset}}
	r.limit = 1<<20 + 64*int64(len(section))
	for _, set := range options {
		if set != nil {
			set(r)
		}
	}
	d := r.section
	var err error
	if r.header, err = d.header(); err != nil {
		return nil, err
	}
	if r.header.version == version2 {
		return r, r.openTables(d.Pos)
	}
	return r, r.openArrays(d.Pos)
}

// openTables opens the three hash tables of version 2: records, frames and call stacks. The chains
// of the first one start at end, where the header ends.
func (r *Reader) openTables(end int) (err error) {
	d := r.section
	at, err := d.places(end, r.recordTable, r.framePayload, r.frameTable, r.stackPayload, r.stackTable)
	if err != nil {
		return err
	}
	r.recordPayload = uint64(d.base) + uint64(end)
	if r.records, err = r.openTable(partRecords, false, end, at[0]); err != nil {
		return err
	}
	if r.frameItems, err = r.openTable(partFrames, false, at[1], at[2]); err != nil {
		return err
	}
	r.stackItems, err = r.openTable(partCallStacks, true, at[3], at[4])
	return err
}

// openArrays opens the frames, call stacks and records of versions 3 and 4. The frames start at
// end, where the header ends.
func (r *Reader) openArrays(end int) (err error) {
	d := r.section
	at, err := d.places(end, r.header.stacks, r.recordPayload, r.recordTable)
	if err != nil {
		return err
	}
	r.frames = d.in(partFrames).between(end, at[0])
	r.stacks = d.in(partCallStacks).between(at[0], at[1])
	for _, array := range []struct {
		of   decoder
		size int
	}{{r.frames, frameSize}, {r.stacks, wordSize}} {
		if rest := len(array.of.Data) % array.size; rest != 0 {
			array.of.Fail(len(array.of.Data)-rest, fault.ErrTruncated, "%d bytes, not a multiple of %d", len(array.of.Data), array.size)
			return array.of.err()
		}
	}
	r.records, err = r.openTable(partRecords, false, at[1], at[2])
	return err
}

func (d decoder) in(part string) decoder {
	d.Part = part
	return d
}

func (d decoder) between(from, to int) decoder {
	return decoder{Buffer: decode.Buffer{Data: d.Data[from:to:to], Part: d.Part}, base: d.base + int64(from)}
}

// places converts file offsets from the header to positions in the section. The offsets must
// ascend. It is an error if one is before the position end or after the section.
func (d *decoder) places(end int, offsets ...uint64) ([]int, error) {
	at := make([]int, len(offsets))
	for i, offset := range offsets {
		place := offset - uint64(d.base)
		if offset < uint64(d.base) || place < uint64(end) || place > uint64(len(d.Data)) {
			d.Fail(8+8*i, errOffset, "offset %d is not between %d and %d", offset, d.base+int64(end), d.base+int64(len(d.Data)))
			return nil, d.err()
		}
		at[i], end = int(place), int(place)
	}
	return at, nil
}

// Version returns the version of the section: 2, 3 or 4.
func (r *Reader) Version() int { return int(r.header.version) }

// Size returns the size in bytes of the section that was given to [OpenBytes].
func (r *Reader) Size() int { return len(r.section.Data) }

// Schema returns the fields of each block. The caller must not change it.
func (r *Reader) Schema() Schema { return r.header.schema }

// NumRecords returns the number of functions that have a record.
func (r *Reader) NumRecords() int { return int(r.records.NumEntries) }

// Record returns the record of the function with the given GUID, or afdo.ErrNotFound. It reads one
// bucket and one chain.
func (r *Reader) Record(function uint64) (Record, error) {
	if r.records.NumEntries == 0 { // for example the zero Reader
		return Record{}, fault.ErrNotFound
	}
	found, err := r.records.Find(function, nil)
	if err != nil {
		return Record{}, err
	}
	return r.record(&found)
}

func (r *Reader) record(e *hashtable.Entry) (Record, error) {
	d := within(partRecords, e)
	return d.record(e.Hash, r.header.version, r.header.schema)
}

// Records iterates over all records in file order. An error ends the iteration.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for e, err := range r.records.Entries(false, hashtable.Every) {
			var rec Record
			if err == nil {
				rec, err = r.record(&e)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Frames iterates over the frames of a call stack, leaf first. An error ends the iteration.
func (r *Reader) Frames(id StackID) iter.Seq2[Frame, error] {
	if r.header.version == version2 {
		return r.tableFrames(id)
	}
	return r.radixFrames(id)
}

// tableFrames implements [Reader.Frames] for version 2. There, a call stack is a list of frame IDs.
func (r *Reader) tableFrames(id StackID) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		d, err := need(&r.stackItems, partCallStacks, uint64(id), "call stack")
		if err != nil {
			yield(Frame{}, err)
			return
		}
		for d.Rest() > 0 {
			var f Frame
			frame, err := d.Uint64("ID of a frame"), d.err()
			if err == nil {
				f, err = r.tableFrame(frame)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) tableFrame(id uint64) (Frame, error) {
	d, err := need(&r.frameItems, partFrames, id, "frame")
	if err != nil {
		return Frame{}, err
	}
	return d.frame(), d.err()
}

// Summary returns the summary. Version 4 stores it. For other versions it is computed from all
// records.
func (r *Reader) Summary() (*Summary, error) {
	if r.header.summary != nil {
		s := *r.header.summary
		return &s, nil
	}
	return summarize(r)
}

func (r *Reader) maxFrames() int64 { return r.limit }
