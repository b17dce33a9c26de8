package memprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo"
)

// A decoder reads the fields of one part in order. The first error sticks: from
// then on there is nothing left to read and every field is zero.
type decoder struct {
	data []byte
	pos  int
	base int64 // offset of data in the file
	part string
	err  error
}

// fail records a fault found at pos.
func (d *decoder) fail(pos int, class error, format string, args ...any) {
	if d.err != nil {
		return
	}
	d.err = faultAt(d.part, d.base+int64(pos), class, format, args...)
	d.data, d.pos = nil, 0
}

func (d *decoder) rest() int { return len(d.data) - d.pos }

// take returns the next size bytes, which are named in the error if they are not there.
func (d *decoder) take(size int, what string) []byte {
	if d.err != nil {
		return nil
	}
	if size < 0 || d.rest() < size {
		d.fail(d.pos, afdo.ErrTruncated, "%s takes %d bytes, %d are left", what, size, d.rest())
		return nil
	}
	d.pos += size
	return d.data[d.pos-size : d.pos : d.pos]
}

func (d *decoder) u8(what string) uint8 {
	if b := d.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) u16(what string) uint16 {
	if b := d.take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) u32(what string) uint32 {
	if b := d.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) u64(what string) uint64 {
	if b := d.take(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// size reads a number of bytes that must be left.
func (d *decoder) size(what string) int { return d.count(what, 1) }

// count reads a number of things that take at least size bytes each and must be left.
func (d *decoder) count(what string, size int) int {
	at := d.pos
	n := d.u64("number of " + what)
	if n > uint64(d.rest()/size) {
		d.fail(at, afdo.ErrCount, "%d %s of at least %d bytes, %d bytes are left", n, what, size, d.rest())
		return 0
	}
	return int(n)
}

// align skips to the next offset in the file that is a multiple of eight.
func (d *decoder) align(what string) {
	if rest := (d.base + int64(d.pos)) % 8; rest != 0 {
		d.take(int(8-rest), what)
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
