package instrprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo"
)

// fields reads the fields of a part of a file in order. The first error sticks: from then on there
// is nothing left to read and every field is zero.
type fields struct {
	data    []byte
	pos     int
	base    int64 // where data begins in the file
	section string
	big     bool
	err     error
}

func (f *fields) fail(pos int, class error, format string, args ...any) {
	if f.err == nil {
		f.err = faultAt(f.section, f.base+int64(pos), class, format, args...)
	}
	f.data, f.pos = nil, 0
}

func (f *fields) rest() int { return len(f.data) - f.pos }

// has reports whether n bytes are left, and fails if not.
func (f *fields) has(n uint64, what string) bool {
	if f.err == nil && n > uint64(f.rest()) {
		f.fail(f.pos, afdo.ErrTruncated, "%s takes %d bytes, %d are left", what, n, f.rest())
	}
	return f.err == nil
}

func (f *fields) u64(what string) uint64 {
	if !f.has(8, what) {
		return 0
	}
	f.pos += 8
	return get64(f.data[f.pos-8:], f.big)
}

func (f *fields) u32(what string) uint32 {
	if !f.has(4, what) {
		return 0
	}
	f.pos += 4
	return get32(f.data[f.pos-4:], f.big)
}

// count reads a number of things of at least size bytes, for all of which there must be room.
func (f *fields) count(size int, what string) int {
	pos := f.pos
	n := f.u64(what)
	if f.err == nil && n > uint64(f.rest()/size) {
		f.fail(pos, afdo.ErrCount, "%d as %s, the %d bytes left hold %d at most", n, what, f.rest(), f.rest()/size)
		return 0
	}
	return int(n)
}

// take returns the next n bytes.
func (f *fields) take(n uint64, what string) []byte {
	if !f.has(n, what) {
		return nil
	}
	f.pos += int(n)
	return f.data[f.pos-int(n) : f.pos : f.pos]
}

// align passes over padding to a multiple of 8 of the part's own start.
func (f *fields) align(what string) {
	if n := -f.pos & 7; n != 0 {
		f.take(uint64(n), what)
	}
}

func get64(p []byte, big bool) uint64 {
	if big {
		return binary.BigEndian.Uint64(p)
	}
	return binary.LittleEndian.Uint64(p)
}

func get32(p []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(p)
	}
	return binary.LittleEndian.Uint32(p)
}

func get16(p []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(p)
	}
	return binary.LittleEndian.Uint16(p)
}

// append64 is the mirror image of fields.u64 in indexed files.
func append64(p []byte, words ...uint64) []byte {
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

// pad appends zeros to a multiple of 8.
func pad(p []byte) []byte {
	for len(p)&7 != 0 {
		p = append(p, 0)
	}
	return p
}
