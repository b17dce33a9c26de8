// Package names reads and writes lists of names in LLVM's profiles, which are stored in chunks.
//
// A chunk consists of the ULEB128 size of the names, the ULEB128 compressed size or 0, and the
// names, separated by 0x01 and optionally compressed with zlib. Zeros between chunks are padding.
package names

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Separator is the byte between two names of a chunk.
const Separator = "\x01"

// Limits on the uncompressed size of a chunk, so that a file of many chunks cannot expand a
// thousandfold.
const (
	maxInflation  = 128 // times the size of the chunk
	freeInflation = 64 << 10
)

// cost is the number of bytes by which a name reduces the limit of [Read], in addition to its
// length. It is the size of an entry in the table that the caller builds.
const cost = 32

// Read calls each with every name up to the end of b. Names are slices of b or of newly allocated
// memory. *left is the number of bytes that the names may take. Read subtracts the size of each
// name from it.
func Read(b *decode.Buffer, left *int64, each func(name []byte)) {
	for b.Rest() > 0 {
		if b.Data[b.Pos] == 0 {
			b.Pos++
			continue
		}
		readChunk(b, left, each)
	}
}

func readChunk(b *decode.Buffer, left *int64, each func(name []byte)) {
	pos := b.Pos
	joined := chunk(b, *left)
	if *left -= int64(len(joined)); b.Err != nil {
		return
	}
	for more := true; more; {
		var name []byte
		name, joined, more = bytes.Cut(joined, []byte(Separator))
		if *left -= cost; *left < 0 {
			b.Fail(pos, fault.ErrLimit, "more names than are allowed in this file")
			return
		}
		each(name)
	}
}

// chunk reads one chunk, and returns its names, decompressed, as one slice. They may take at most
// left bytes.
func chunk(b *decode.Buffer, left int64) []byte {
	pos := b.Pos
	size, deflated := b.ULEB(), b.ULEB()
	switch {
	case b.Err != nil:
		return nil
	case size > uint64(max(left, 0)):
		b.Fail(pos, fault.ErrLimit, "names of %d bytes, %d are allowed in this file", size, max(left, 0))
		return nil
	case deflated == 0:
		return b.Take(size, "names")
	case size/maxInflation > deflated+freeInflation/maxInflation:
		b.Fail(pos, fault.ErrLimit, "%d bytes that inflate to %d, more than %d times as many", deflated, size, maxInflation)
		return nil
	}
	pos = b.Pos
	data := b.Take(deflated, "compressed names")
	if b.Err != nil {
		return nil
	}
	joined, err := inflate(data, int64(size))
	switch {
	case err != nil:
		b.Fail(pos, fault.ErrCompressed, "%v", err)
	case uint64(len(joined)) != size:
		b.Fail(pos, fault.ErrCompressed, "%d bytes or more, not %d", len(joined), size)
	}
	return joined
}

// inflate decompresses data. It returns at most size+1 bytes, where size is the size that the file
// announces. It allocates memory only as data arrives, so a wrong size does no harm.
func inflate(data []byte, size int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(z, size+1))
	return out.Bytes(), err
}

// Append appends the names to p as one chunk, which [Read] reads. If there are no names, it appends
// nothing. It compresses the chunk if always is set, or if that makes the chunk shorter.
func Append(p []byte, names []string, always bool) []byte {
	if len(names) == 0 {
		return p
	}
	joined := strings.Join(names, Separator)
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = io.WriteString(z, joined) // a bytes.Buffer does not fail
	_ = z.Close()
	p = binary.AppendUvarint(p, uint64(len(joined)))
	if !always && out.Len() >= len(joined) {
		return append(append(p, 0), joined...)
	}
	return append(binary.AppendUvarint(p, uint64(out.Len())), out.Bytes()...)
}
