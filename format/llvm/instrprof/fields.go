package instrprof

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/decode"
)

// A fields decodes the integers in one part of a file. It stops at the first error.
type fields struct {
	decode.Buffer
	base int64 // file offset of Data
}

// err returns the first error that decoding met, with its file offset.
func (f *fields) err() error {
	return f.Error(func(e *decode.Fault) error { return faultAt(e.Part, f.base+int64(e.Pos), e.Class, "%s", e.Detail) })
}

// count reads a number of items and checks that they fit into the remaining bytes, each item taking
// at least size bytes.
func (f *fields) count(size int, what string) int {
	pos := f.Pos
	return f.Count(pos, f.Uint64(what), size, what)
}

// align skips padding up to a multiple of 8 bytes from the start of Data.
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

// append64 appends words in the form that fields.Uint64 reads.
func append64(p []byte, words ...uint64) []byte {
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

// pad appends zeros up to a multiple of 8.
func pad(p []byte) []byte {
	for len(p)&7 != 0 {
		p = append(p, 0)
	}
	return p
}
