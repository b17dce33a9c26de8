package instrprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/decode"
)

// A fields decodes the numbers in one section of a file. It stops at the first error.
type fields struct {
	decode.Buffer
	base int64 // file offset of Data
}

// err returns the first error of decoding, with its file offset, or nil.
func (f *fields) err() error {
	return f.Error(func(e *decode.Fault) error { return faultAt(e.Part, f.base+int64(e.Pos), e.Class, "%s", e.Detail) })
}

// count reads a number of entries. It checks that this many entries, of at least size bytes each,
// fit into the remaining bytes. what names the number in errors.
func (f *fields) count(size int, what string) int {
	pos := f.Pos
	return f.Count(pos, f.Uint64(what), size, what)
}

// align skips zeros until the position is a multiple of 8 bytes from the start of the data. what
// names the zeros in errors.
func (f *fields) align(what string) {
	if n := -f.Pos & 7; n != 0 {
		f.Take(uint64(n), what)
	}
}

func order(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// append64 appends 64-bit words to p in little-endian order.
func append64(p []byte, words ...uint64) []byte {
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

// pad appends zeros to p until its length is a multiple of 8.
func pad(p []byte) []byte {
	for len(p)&7 != 0 {
		p = append(p, 0)
	}
	return p
}
