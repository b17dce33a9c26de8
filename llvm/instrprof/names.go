package instrprof

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/go-afdo/afdo"
)

// nameSeparator stands between names.
const nameSeparator = 1

// maxNames bounds what the names of a file of some size may inflate to, with 32 bytes for each
// name, what a table of them takes. Names of real programs deflate to a fifth.
func maxNames(size int64) int64 { return 32<<20 + 16*min(size, 1<<40) }

// What a chunk of names may inflate to: a file of many dumps must not inflate to a thousand times
// its size.
const (
	maxInflation  = 128 // times its size
	freeInflation = 64 << 10
)

// names reads size bytes of names: chunks of ULEB size, ULEB compressed size or 0, and the names
// with 0x01 between them, deflated or not. Zeros between chunks are padding. limit is the size of
// the file.
func (f *fields) names(size uint64, fileSize int64, each func([]byte)) {
	start := f.pos
	sub := fields{data: f.take(size, "the names"), base: f.base + int64(start), section: f.section, big: f.big}
	left := maxNames(fileSize)
	for sub.err == nil && sub.rest() > 0 {
		if sub.data[sub.pos] == 0 {
			sub.pos++
			continue
		}
		sub.nameChunk(&left, each)
	}
	if f.err == nil {
		f.err = sub.err
	}
}

// nameChunk reads a chunk.
func (f *fields) nameChunk(left *int64, each func([]byte)) {
	pos := f.pos
	size, deflated := f.uleb("the size of names"), f.uleb("the compressed size of names")
	if f.err != nil {
		return
	}
	if size > uint64(*left) {
		f.fail(pos, afdo.ErrLimit, "names of %d bytes, %d are allowed in this file", size, *left)
		return
	}
	if deflated != 0 && size/maxInflation > deflated+freeInflation/maxInflation {
		f.fail(pos, afdo.ErrLimit, "%d bytes that inflate to %d, more than %d times as many", deflated, size, maxInflation)
		return
	}
	var chunk []byte
	if deflated == 0 {
		chunk = f.take(size, "names")
	} else {
		start := f.pos
		chunk = f.inflate(start, f.take(deflated, "compressed names"), int(size))
	}
	*left -= int64(size)
	for f.err == nil {
		name, rest, more := bytes.Cut(chunk, []byte{nameSeparator})
		if *left -= 32; *left < 0 {
			f.fail(pos, afdo.ErrLimit, "more names than are allowed in this file")
			return
		}
		each(name)
		if chunk = rest; !more {
			return
		}
	}
}

// inflate returns what data, which began at pos, inflates to: exactly size bytes.
func (f *fields) inflate(pos int, data []byte, size int) []byte {
	if f.err != nil {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		f.fail(pos, afdo.ErrCompressed, "%v", err)
		return nil
	}
	var out bytes.Buffer // grows with what there is, not with what is announced
	_, err = io.Copy(&out, io.LimitReader(z, int64(size)+1))
	if err == nil && out.Len() != size {
		f.fail(pos, afdo.ErrCompressed, "%d bytes or more, not %d", out.Len(), size)
	} else if err != nil {
		f.fail(pos, afdo.ErrCompressed, "%v", err)
	}
	return out.Bytes()
}

// uleb reads a ULEB128 number.
func (f *fields) uleb(what string) uint64 {
	v, n := binary.Uvarint(f.data[f.pos:])
	if n <= 0 && f.err == nil {
		if n == 0 {
			f.fail(f.pos, afdo.ErrTruncated, "%s is cut", what)
		} else {
			f.fail(f.pos, afdo.ErrVarint, "%s does not fit 64 bits", what)
		}
		return 0
	}
	f.pos += n
	return v
}

// appendNames is the mirror image of fields.names: one chunk, deflated if deflate is set.
func appendNames(p []byte, names []string, deflate bool) []byte {
	if len(names) == 0 {
		return p
	}
	var all []byte
	for i, name := range names {
		if i > 0 {
			all = append(all, nameSeparator)
		}
		all = append(all, name...)
	}
	p = binary.AppendUvarint(p, uint64(len(all)))
	if !deflate {
		return append(binary.AppendUvarint(p, 0), all...)
	}
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(all) // a buffer takes everything
	_ = z.Close()
	return append(binary.AppendUvarint(p, uint64(out.Len())), out.Bytes()...)
}
