// Package names reads and writes names as LLVM's profiles have them: in chunks that may be
// compressed.
//
// A chunk is the ULEB128 of its size, that of its compressed size or 0, and the names with 0x01
// between them, deflated or not. Zeros between chunks are padding.
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

// Separator stands between names.
const Separator = "\x01"

// What a chunk may inflate to: a file of many chunks must not inflate to a thousand times its size.
const (
	maxInflation  = 128 // times its size
	freeInflation = 64 << 10
)

// cost is what a name counts for beside its bytes: what a table of names takes for each.
const cost = 32

// Read calls each with every name up to the end of b. Names are in the memory of b, or in memory of
// their own. left is what names may take, spelled out, and less by what these do.
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

// chunk returns what a chunk holds, which may take left bytes.
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

// inflate returns what data inflates to, but no more than a byte above size. Memory grows with what
// there is, not with what is announced.
func inflate(data []byte, size int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(z, size+1))
	return out.Bytes(), err
}

// Append is the mirror image of Read: it appends one chunk, or nothing if there are no names. The
// chunk is deflated, always or only if that makes it shorter.
func Append(p []byte, names []string, always bool) []byte {
	if len(names) == 0 {
		return p
	}
	joined := strings.Join(names, Separator)
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = io.WriteString(z, joined) // a buffer takes everything
	_ = z.Close()
	p = binary.AppendUvarint(p, uint64(len(joined)))
	if !always && out.Len() >= len(joined) {
		return append(append(p, 0), joined...)
	}
	return append(binary.AppendUvarint(p, uint64(out.Len())), out.Bytes()...)
}
