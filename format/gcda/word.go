package gcda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of an afdo.FormatError, beside those of package afdo.
var (
	errLayout = errors.New("bad layout") // a tag or a length is not where the format requires it
	errGraph  = errors.New("bad graph")  // a block out of range, or arcs that cannot connect the blocks
)

const (
	magicNotes    = 0x67636e6f // "gcno" in a big-endian file
	magicCounters = 0x67636461 // "gcda"
)

const (
	wordSize    = 4
	counterSize = 8
)

// A Header is the header of a .gcno or .gcda file.
type Header struct {
	Version   Version
	BigEndian bool
	Stamp     uint32 // identifies the compile
	Checksum  uint32 // since GCC 12
}

// A decoder reads the fields of a file.
type decoder struct {
	decode.Buffer
	version    Version
	strings    map[string]string
	graph      int // offset in the file of the last function's record
	arcRecords int // number of arc records of that function
}

func newDecoder(data []byte) *decoder {
	return &decoder{Buffer: decode.Buffer{Data: data}, strings: map[string]string{}}
}

// err returns the first error that occurred in decoding, or nil.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error {
		return &fault.FormatError{Format: "gcda", Section: fault.HeaderSection, Offset: int64(f.Pos), Err: f.Class, Detail: f.Detail}
	})
}

func (d *decoder) header(magic uint32) (h Header) {
	kind := string(binary.BigEndian.AppendUint32(nil, magic))
	switch found := d.Uint32("the magic number"); {
	case d.Err != nil:
		return h
	case found == bits.ReverseBytes32(magic):
		d.Big = true
	case found != magic:
		d.Fail(0, fault.ErrMagic, "the file does not begin with %q in either byte order", kind)
		return h
	}
	h = Header{BigEndian: d.Big, Version: Version(d.Uint32("the version"))}
	if d.Err == nil {
		d.Stop(h.Version.check(kind))
	}
	d.version = h.Version
	h.Stamp = d.Uint32("the stamp")
	if d.version.inBytes() {
		h.Checksum = d.Uint32("the checksum")
	}
	return h
}

// A record is the header of a record in a file: its tag and its length.
type record struct {
	pos    int // offset of the tag
	tag    uint32
	length int32 // in bytes; negative if the contents are zero and not stored
}

// records calls read for each record of the file. During the call, the decoder's data ends at the
// end of the record. ended reports whether a tag of zero has ended the records.
func (d *decoder) records(read func(r record)) (ended bool) {
	for d.Rest() > 0 {
		pos := d.Pos
		tag := d.Uint32("a tag")
		if tag == 0 && d.Err == nil {
			if d.Rest() > 0 {
				d.Fail(d.Pos, errLayout, "%d bytes after the end", d.Rest())
			}
			return true
		}
		length := int64(int32(d.Uint32("the length of a record")))
		if !d.version.inBytes() {
			length *= wordSize
		}
		if length != int64(int32(length)) || !d.Has(uint64(max(length, 0)), "a record") {
			d.Fail(pos, fault.ErrTruncated, "a record of %d bytes", length)
			return false
		}
		file := d.Data
		d.Data = file[:d.Pos+int(max(length, 0))]
		read(record{pos, tag, int32(length)})
		if d.Rest() > 0 {
			d.Fail(d.Pos, errLayout, "%d bytes too many in the record with tag %#08x at offset %d", d.Rest(), tag, pos)
		}
		if d.Data = file; d.Err != nil {
			d.Pos = len(file)
		}
	}
	return false
}

// str reads a string. what describes the string in errors.
func (d *decoder) str(what string) string {
	pos := d.Pos
	n := uint64(d.Uint32(what))
	if !d.version.inBytes() {
		n *= wordSize
	}
	text := d.Take(n, what)
	if len(text) == 0 {
		return ""
	}
	end := bytes.IndexByte(text, 0)
	if end < 0 || len(text)-end > d.padding() || len(bytes.Trim(text[end:], "\x00")) > 0 {
		d.Fail(pos, fault.ErrName, "%s of %d bytes does not end with its first NUL", what, len(text))
		return ""
	}
	return d.intern(text[:end])
}

// padding returns the largest number of NULs at the end of a string, in files of the decoder's
// version.
func (d *decoder) padding() int {
	if d.version.inBytes() {
		return 1
	}
	return wordSize
}

// intern converts bytes to a string. Equal strings share memory, because a file repeats many, such
// as paths of source files.
func (d *decoder) intern(b []byte) string {
	if s, ok := d.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	d.strings[s] = s
	return s
}

func (d *decoder) id() ID {
	return ID{d.Uint32("the ident of a function"), d.Uint32("the checksum of its lines"), d.Uint32("the checksum of its graph")}
}

// An encoder appends the fields of a file.
type encoder struct {
	data    []byte
	order   binary.AppendByteOrder
	version Version
	open    int // offset of the contents of the last record, 0 before the first
}

func newEncoder(magic uint32, h *Header) (*encoder, error) {
	kind := string(binary.BigEndian.AppendUint32(nil, magic))
	if err := h.Version.check(kind); err != nil {
		return nil, err
	}
	e := &encoder{order: binary.LittleEndian, version: h.Version}
	if h.BigEndian {
		e.order = binary.BigEndian
	}
	e.word(magic, uint32(h.Version), h.Stamp)
	if h.Version.inBytes() {
		e.word(h.Checksum)
	}
	return e, nil
}

func (e *encoder) word(words ...uint32) {
	for _, w := range words {
		e.data = e.order.AppendUint32(e.data, w)
	}
}

func (e *encoder) id(id *ID) { e.word(id.Ident, id.LineChecksum, id.CFGChecksum) }

// length returns the length field of a record with n bytes. Before GCC 12, it is the number of
// words.
func (e *encoder) length(n int) uint32 {
	if !e.version.inBytes() {
		n /= wordSize
	}
	return uint32(int32(n))
}

// zeros ends the current record. Its contents are n bytes of zeros, which the file does not store:
// the length in the record's header is negative instead.
func (e *encoder) zeros(n int) {
	e.data = e.order.AppendUint32(e.data[:e.open-wordSize], e.length(-n))
	e.open = 0
}

// begin ends the current record, if any, and begins a record with the given tag.
func (e *encoder) begin(tag uint32) {
	e.endRecord()
	e.word(tag, 0)
	e.open = len(e.data)
}

// endRecord ends the current record: it writes the length of the record into the record's header.
func (e *encoder) endRecord() {
	if e.open > 0 {
		length := e.order.AppendUint32(nil, e.length(len(e.data)-e.open))
		copy(e.data[e.open-wordSize:], length)
	}
	e.open = 0
}

// end ends the last record and returns the bytes of the file. If mark is set, the file gets a tag
// of zero at its end, as GCC writes it.
func (e *encoder) end(mark bool) []byte {
	e.endRecord()
	if mark {
		e.word(0)
	}
	return e.data
}
