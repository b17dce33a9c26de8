package memprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/decode"
)

// A decoder reads the fields of one part.
type decoder struct {
	decode.Buffer
	base int64 // offset of the bytes in the file
}

// err returns the error of the first fault.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error { return faultAt(f.Part, d.base+int64(f.Pos), f.Class, "%s", f.Detail) })
}

// size reads a number of bytes that must be left.
func (d *decoder) size(what string) int { return d.count(what, 1) }

// count reads a number of things that take at least size bytes each and must be left.
func (d *decoder) count(what string, size int) int {
	at := d.Pos
	return d.Count(at, d.Uint64("number of "+what), size, what)
}

// align skips to the next offset in the file that is a multiple of eight.
func (d *decoder) align(what string) {
	if rest := (d.base + int64(d.Pos)) % 8; rest != 0 {
		d.Take(uint64(8-rest), what)
	}
}

// An encoder appends fields, the mirror of a decoder.
type encoder struct {
	data   []byte
	places []int // of the words that hold an offset
}

func (e *encoder) u8(v uint8)   { e.data = append(e.data, v) }
func (e *encoder) u16(v uint16) { e.data = binary.LittleEndian.AppendUint16(e.data, v) }
func (e *encoder) u32(v uint32) { e.data = binary.LittleEndian.AppendUint32(e.data, v) }
func (e *encoder) u64(v uint64) { e.data = binary.LittleEndian.AppendUint64(e.data, v) }

// offset is where the next byte will stand.
func (e *encoder) offset() uint64 { return uint64(len(e.data)) }

// place appends an offset, 0 for none.
func (e *encoder) place(offset uint64) {
	e.places = append(e.places, len(e.data))
	e.u64(offset)
}

// patch overwrites the word at pos.
func (e *encoder) patch(pos int, v uint64) { binary.LittleEndian.PutUint64(e.data[pos:], v) }

func (e *encoder) align() {
	for e.offset()%8 != 0 {
		e.u8(0)
	}
}
