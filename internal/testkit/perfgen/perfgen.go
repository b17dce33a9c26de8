// Package perfgen writes perf.data files for tests and benchmarks: small and large ones, in every
// layout that package perfdata reads.
package perfgen

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/klauspost/compress/zstd"
)

// Bits of SampleType.
const (
	IP          = 1 << 0
	TID         = 1 << 1
	Time        = 1 << 2
	Addr        = 1 << 3
	Read        = 1 << 4
	Callchain   = 1 << 5
	ID          = 1 << 6
	CPU         = 1 << 7
	Period      = 1 << 8
	StreamID    = 1 << 9
	Raw         = 1 << 10
	BranchStack = 1 << 11
	Identifier  = 1 << 16

	HWIndex = 1 << 17 // of BranchType
)

// An Event is an event of the recording. Its fields determine which fields its samples have.
type Event struct {
	SampleType, ReadFormat, BranchType uint64

	SampleIDAll bool
	IDs         []uint64
}

// A Compression is the way in which the records of the file are compressed.
type Compression int

// The compressions.
const (
	None       Compression = iota
	Compressed             // PERF_RECORD_COMPRESSED
	Padded                 // PERF_RECORD_COMPRESSED2, which stores its length
)

// A Round is the record by which perf marks that it has read the buffers of all processors once.
type Round struct{}

// A Trace is a record of hardware trace data. Its value is the number of bytes of the data.
type Trace int

// A RawRecord is a record of any type and content.
type RawRecord struct {
	Type uint32
	Misc uint16
	Data []byte
}

// A File describes a recording for tests that is to be written as perf.data.
type File struct {
	Big         bool
	Pipe        bool
	Compression Compression
	Events      []Event
	BuildIDs    []perfdata.BuildID

	// Records are pointers to perfdata's types, Round, Trace and RawRecord.
	Records []any

	// Parts are the records of further files, and Layout is the layout of the folder in the header,
	// if the recording is a folder.
	Parts  [][]any
	Layout uint64
}

// Folder returns the recording as a folder, the form that "perf record" writes with several
// threads: the contents of its files by name.
func (f *File) Folder() map[string][]byte {
	main := &encoder{File: f, layout: true}
	files := map[string][]byte{"data": main.file()}
	for i, records := range f.Parts {
		part := *f
		part.Records = records
		e := &encoder{File: &part}
		e.records()
		files[fmt.Sprintf("data.%d", i)] = e.b
	}
	return files
}

// Bytes returns the recording as one perf.data file.
func (f *File) Bytes() []byte {
	e := &encoder{File: f}
	if f.Pipe {
		e.magic()
		e.u64(16)
		e.pipeAttrs()
		e.records()
		return e.b
	}
	return e.file()
}

type encoder struct {
	*File
	b       []byte
	layout  bool // the header has the layout of the folder
	zip     *zstd.Encoder
	zipped  bytes.Buffer
	pending bytes.Buffer // records to be compressed
}

func (e *encoder) order() binary.AppendByteOrder {
	if e.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (e *encoder) bytes(b []byte) { e.b = append(e.b, b...) }
func (e *encoder) zeros(n int)    { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) u16(v uint16)   { e.b = e.order().AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32)   { e.b = e.order().AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)   { e.b = e.order().AppendUint64(e.b, v) }

// flags writes a word of one-bit flags. A big-endian machine stores the first flag in the highest
// bit.
func (e *encoder) flags(v uint64) {
	if e.Big {
		v = bits.Reverse64(v)
	}
	e.u64(v)
}

// name writes a NUL-terminated string, padded to eight bytes.
func (e *encoder) name(s string) {
	e.b = append(e.b, s...)
	e.zeros(8 - len(s)%8)
}

func (e *encoder) magic() { e.u64(binary.LittleEndian.Uint64([]byte("PERFILE2"))) }

const (
	headerSize = 104
	attrSize   = 112
)

func (e *encoder) file() []byte {
	var ids []uint64
	for _, event := range e.Events {
		ids = append(ids, event.IDs...)
	}
	idsAt := uint64(headerSize)
	attrsAt := idsAt + 8*uint64(len(ids))
	dataAt := attrsAt + uint64(len(e.Events))*(attrSize+16)
	data := &encoder{File: e.File}
	data.records()
	e.magic()
	for _, v := range []uint64{headerSize, attrSize + 16, attrsAt, uint64(len(e.Events)) * (attrSize + 16), dataAt, uint64(len(data.b)), 0, 0} {
		e.u64(v)
	}
	features := uint64(1<<1 | 1<<3) // tracing data and host name, both empty, around the build IDs
	if len(e.BuildIDs) > 0 {
		features |= 1 << buildIDs
	}
	if e.layout {
		features |= 1 << folderLayout
	}
	e.u64(features)
	e.zeros(24)
	for _, id := range ids {
		e.u64(id)
	}
	for _, event := range e.Events {
		e.attr(event)
		e.u64(idsAt)
		e.u64(8 * uint64(len(event.IDs)))
		idsAt += 8 * uint64(len(event.IDs))
	}
	e.bytes(data.b)
	e.features(features)
	return e.b
}

// Features with contents.
const (
	buildIDs     = 2
	folderLayout = 24
)

func (e *encoder) features(bitmap uint64) {
	content := &encoder{File: e.File}
	for _, id := range e.BuildIDs {
		content.record(67, 1<<15, func(r *encoder) { r.buildID(id) })
	}
	idBytes := len(content.b)
	content.u64(e.Layout)
	at := len(e.b) + 16*bits.OnesCount64(bitmap)
	for bit := range 64 {
		if bitmap>>bit&1 == 0 {
			continue
		}
		start, size := at, 0
		switch bit {
		case buildIDs:
			size = idBytes
		case folderLayout:
			start, size = at+idBytes, 8
		}
		e.u64(uint64(start))
		e.u64(uint64(size))
	}
	if bitmap>>folderLayout&1 == 0 {
		content.b = content.b[:idBytes]
	}
	e.bytes(content.b)
}

func (e *encoder) attr(event Event) {
	e.u32(0)
	e.u32(attrSize)
	e.u64(0)
	e.u64(4000)
	e.u64(event.SampleType)
	e.u64(event.ReadFormat)
	flags := uint64(1) // disabled
	if event.SampleIDAll {
		flags |= 1 << 18
	}
	e.flags(flags)
	e.zeros(24)
	e.u64(event.BranchType)
	e.zeros(attrSize - 80)
}

func (e *encoder) pipeAttrs() {
	for _, event := range e.Events {
		e.record(64, 0, func(r *encoder) {
			r.attr(event)
			for _, id := range event.IDs {
				r.u64(id)
			}
		})
	}
	for _, id := range e.BuildIDs {
		e.record(67, 1<<15, func(r *encoder) { r.buildID(id) })
	}
}

func (e *encoder) buildID(id perfdata.BuildID) {
	b, err := hex.DecodeString(id.ID)
	if err != nil {
		panic(err)
	}
	e.u32(0xffffffff)
	e.bytes(append(b, make([]byte, 20-len(b))...))
	e.bytes([]byte{byte(len(b)), 0, 0, 0})
	e.name(id.Path)
}

// record writes a record: its header with the type kind, the field misc and the size, and then the
// content, which the function write writes.
func (e *encoder) record(kind uint32, misc uint16, write func(*encoder)) {
	start := len(e.b)
	e.u32(kind)
	e.u16(misc)
	e.u16(0)
	write(e)
	size := len(e.b) - start
	if kind >= 32768 { // records of simpleperf have 32-bit sizes
		copy(e.b[start+4:], e.order().AppendUint16(nil, uint16(size>>16)))
	}
	copy(e.b[start+6:], e.order().AppendUint16(nil, uint16(size)))
}

func (e *encoder) records() {
	for i, r := range e.Records {
		to := e
		if _, ok := r.(Trace); !ok && e.Compression != None {
			to = &encoder{File: e.File}
		}
		switch r := r.(type) {
		case Round:
			e.compress()
			e.record(68, 0, func(*encoder) {})
		case Trace:
			e.compress()
			e.record(71, 0, func(b *encoder) {
				b.u64(uint64(r))
				b.zeros(32)
			})
			e.bytes(bytes.Repeat([]byte{0xa5}, int(r)))
		case RawRecord:
			to.record(r.Type, r.Misc, func(b *encoder) { b.bytes(r.Data) })
		default:
			to.typed(r)
		}
		if to != e {
			e.pending.Write(to.b)
			if i%7 == 6 {
				e.compress()
			}
		}
	}
	e.compress()
}

// compress compresses the records that were added since the last call, and writes them as
// compressed records. It splits the compressed stream at arbitrary positions, so a record may begin
// in one compressed record and end in the next.
func (e *encoder) compress() {
	if e.pending.Len() == 0 {
		return
	}
	if e.zip == nil {
		var err error
		if e.zip, err = zstd.NewWriter(&e.zipped, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<17)); err != nil {
			panic(err)
		}
	}
	e.zip.Write(e.pending.Bytes())
	e.zip.Flush()
	e.pending.Reset()
	for e.zipped.Len() > 0 {
		piece := e.zipped.Next(min(e.zipped.Len(), 100+e.zipped.Len()/2, 60000))
		if e.Compression == Compressed {
			e.record(81, 0, func(b *encoder) { b.bytes(piece) })
			continue
		}
		e.record(83, 0, func(b *encoder) {
			b.u64(uint64(len(piece)))
			b.bytes(piece)
			b.zeros((8 - len(piece)%8) % 8)
		})
	}
}

// typed writes a record that is given as one of the types of package perfdata, such as
// *perfdata.Comm.
func (e *encoder) typed(record any) {
	switch r := record.(type) {
	case *perfdata.Sample:
		e.record(9, uint16(r.Mode), func(b *encoder) { b.sample(r) })
	case *perfdata.Mmap:
		e.mmap(r)
	case *perfdata.Comm:
		misc := uint16(0)
		if r.Exec {
			misc = 1 << 13
		}
		e.record(3, misc, func(b *encoder) {
			b.u32(uint32(r.PID))
			b.u32(uint32(r.TID))
			b.name(r.Name)
			b.trailer(r.PID, r.TID, r.Time)
		})
	case *perfdata.Fork:
		e.record(7, 0, func(b *encoder) { b.task(r.PID, r.ParentPID, r.TID, r.ParentTID, r.Time) })
	case *perfdata.Exit:
		e.record(4, 0, func(b *encoder) { b.task(r.PID, 0, r.TID, 0, r.Time) })
	default:
		panic(fmt.Sprintf("perfgen: a record of type %T", record))
	}
}

func (e *encoder) task(pid, parent, tid, parentTID int32, time uint64) {
	for _, v := range []int32{pid, parent, tid, parentTID} {
		e.u32(uint32(v))
	}
	e.u64(time)
	e.trailer(pid, tid, time)
}

// mmap writes a mapping as an MMAP2 record, with a build ID if the mapping has one. It writes a
// mapping of the kernel without a build ID as an MMAP record.
func (e *encoder) mmap(r *perfdata.Mmap) {
	kind, misc := uint32(10), uint16(0)
	if r.PID == perfdata.UnknownPID {
		kind = 1
	}
	if !r.Executable {
		misc = 1 << 13
	}
	if r.BuildID != "" {
		kind, misc = 10, misc|1<<14
	}
	e.record(kind, misc, func(b *encoder) {
		b.u32(uint32(r.PID))
		b.u32(uint32(r.TID))
		b.u64(r.Start)
		b.u64(r.Length)
		b.u64(r.PageOffset)
		if kind == 10 {
			b.mmap2(r)
		}
		b.name(r.Path)
		b.trailer(r.PID, r.TID, r.Time)
	})
}

func (e *encoder) mmap2(r *perfdata.Mmap) {
	if id, err := hex.DecodeString(r.BuildID); r.BuildID != "" && err == nil {
		e.bytes([]byte{byte(len(id)), 0, 0, 0})
		e.bytes(append(id, make([]byte, 20-len(id))...))
	} else {
		e.u32(8)
		e.u32(1)
		e.u64(77)
		e.u64(0)
	}
	prot := uint32(1)
	if r.Executable {
		prot |= 4
	}
	e.u32(prot)
	e.u32(2)
}

// trailer writes the fields at the end of every record other than a sample.
func (e *encoder) trailer(pid, tid int32, time uint64) {
	event := e.Events[0]
	if !event.SampleIDAll {
		return
	}
	id := firstID(&event)
	write(event.SampleType, []field{
		{TID, func() { e.u32(uint32(pid)); e.u32(uint32(tid)) }},
		{Time, func() { e.u64(time) }},
		{ID, func() { e.u64(id) }},
		{StreamID, func() { e.u64(id) }},
		{CPU, func() { e.u64(0) }},
		{Identifier, func() { e.u64(id) }},
	})
}

// firstID returns the first ID of an event, or 0.
func firstID(e *Event) uint64 {
	if len(e.IDs) == 0 {
		return 0
	}
	return e.IDs[0]
}

// A field is a field of a sample that can be written. bit is its bit in the sample type of an
// event, which says whether samples of the event have the field.
type field struct {
	bit   uint64
	write func()
}

// write writes those fields of a sample whose bits are set in the sample type of the event.
func write(sampleType uint64, fields []field) {
	for _, f := range fields {
		if sampleType&f.bit != 0 {
			f.write()
		}
	}
}

func (e *encoder) sample(s *perfdata.Sample) {
	event := e.Events[s.Event]
	id := firstID(&event)
	write(event.SampleType, []field{
		{Identifier, func() { e.u64(id) }},
		{IP, func() { e.u64(s.IP) }},
		{TID, func() { e.u32(uint32(s.PID)); e.u32(uint32(s.TID)) }},
		{Time, func() { e.u64(s.Time) }},
		{Addr, func() { e.u64(s.Addr) }},
		{ID, func() { e.u64(id) }},
		{StreamID, func() { e.u64(id) }},
		{CPU, func() { e.u64(3) }},
		{Period, func() { e.u64(s.Period) }},
		{Read, func() { e.read(event.ReadFormat) }},
		{Callchain, func() { e.words(s.Stack) }},
		{Raw, func() { e.u32(uint32(len(s.Raw))); e.bytes(s.Raw) }},
		{BranchStack, func() { e.branches(s.Branches, event.BranchType&HWIndex != 0) }},
	})
}

// read writes the counter values of a sample. The bits of format, the event's read_format,
// determine whether it is one value or a group of two, and what is written with each value.
func (e *encoder) read(format uint64) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	times := func() {
		for _, bit := range []uint64{enabled, running} {
			if format&bit != 0 {
				e.u64(bit)
			}
		}
	}
	value := func() {
		e.u64(1000)
		if format&group == 0 {
			times()
		}
		for _, bit := range []uint64{id, lost} {
			if format&bit != 0 {
				e.u64(bit)
			}
		}
	}
	if format&group == 0 {
		value()
		return
	}
	e.u64(2)
	times()
	value()
	value()
}

func (e *encoder) words(list []uint64) {
	e.u64(uint64(len(list)))
	for _, v := range list {
		e.u64(v)
	}
}

func (e *encoder) branches(list []perfdata.Branch, index bool) {
	e.u64(uint64(len(list)))
	if index {
		e.u64(5)
	}
	for _, b := range list {
		e.u64(b.From)
		e.u64(b.To)
		e.branchFlags(uint64(b.Flags))
	}
}

// branchFlags writes the flags of a branch. On a big-endian machine, the first field is in the
// highest bits of the word. The lowest bit of each field is still its last one.
func (e *encoder) branchFlags(v uint64) {
	if !e.Big {
		e.u64(v)
		return
	}
	out, at := uint64(0), 64
	for _, width := range []int{1, 1, 1, 1, 16, 4, 2, 4, 3} {
		at -= width
		out |= v & (1<<width - 1) << at
		v >>= width
	}
	e.u64(out)
}
