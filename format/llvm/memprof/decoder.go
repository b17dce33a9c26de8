package memprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/decode"
)

// A decoder reads the fields of one part of a MemProf section, such as a header or a record.
type decoder struct {
	decode.Buffer
	base int64 // file offset of Data
}

// err returns the first error as an afdo.FormatError.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error { return faultAt(f.Part, d.base+int64(f.Pos), f.Class, "%s", f.Detail) })
}

// size reads a number of bytes, and checks that this many bytes are left in the part. what names
// the number in errors.
func (d *decoder) size(what string) int { return d.count(what, 1) }

// count reads a number of entries. It checks that this many entries, of at least size bytes each,
// fit into the bytes that are left. what names the number in errors.
func (d *decoder) count(what string, size int) int {
	at := d.Pos
	return d.Count(at, d.Uint64("number of "+what), size, what)
}

// align skips bytes up to the next file offset that is a multiple of eight. what names them in
// errors.
func (d *decoder) align(what string) {
	if rest := (d.base + int64(d.Pos)) % 8; rest != 0 {
		d.Take(uint64(8-rest), what)
	}
}

// An encoder appends fields to a section in the form that a decoder reads.
type encoder struct {
	data []byte
	base uint64 // file offset of the section
}

func (e *encoder) u8(v uint8)   { e.data = append(e.data, v) }
func (e *encoder) u16(v uint16) { e.data = binary.LittleEndian.AppendUint16(e.data, v) }
func (e *encoder) u32(v uint32) { e.data = binary.LittleEndian.AppendUint32(e.data, v) }
func (e *encoder) u64(v uint64) { e.data = binary.LittleEndian.AppendUint64(e.data, v) }

// offset returns the file offset of the byte that is appended next.
func (e *encoder) offset() uint64 { return e.base + uint64(len(e.data)) }

// patch overwrites the word at position pos of the section.
func (e *encoder) patch(pos int, v uint64) { binary.LittleEndian.PutUint64(e.data[pos:], v) }

func (e *encoder) align() {
	for e.offset()%8 != 0 {
		e.u8(0)
	}
}
