package indexfmt

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The end block is the last block. It contains copies of the beginnings of the file and of the
// index, so that a reader that has the last kilobytes of a file need not read the first ones.

// An End is the end block, the last block of an index. It contains what is needed to open the file
// without reading its beginning.
type End struct {
	Head               []byte // the first bytes of the file, at most wire.HeaderPrefix
	Summary, FileNames int    // section indexes
}

// endFields is the size of the last fields of the block: the size of the block, the size of the
// index section, and the magic. They are in one page.
const endFields = 4 + 8 + len(Magic)

// TailSize is the number of bytes at the end of a file that show whether it ends with an end block.
const TailSize = endFields + SumSize

// A Tail holds the last fields of a file with an end block.
type Tail struct{ Section, End int64 } // sizes in bytes

// ReadTail decodes the last bytes of a file. It returns false if they are not those of an index.
func ReadTail(tail []byte) (t Tail, ok bool) {
	if len(tail) != TailSize || string(tail[12:endFields]) != Magic {
		return t, false
	}
	size := binary.BigEndian.Uint64(tail[4:])
	t = Tail{int64(size), int64(binary.BigEndian.Uint32(tail))}
	return t, size <= math.MaxUint32 && t.End < t.Section
}

// OpenEnd opens an index by its end block. file returns the properties that the index must match.
func OpenEnd(src Source, tail Tail, file func(*End) (File, error)) (*Index, error) {
	x := &Index{src: src, sectionSize: tail.Section}
	pages := (tail.Section + pageSize - 1) / pageSize
	x.size = tail.Section - pages*SumSize
	if tail.Section-(pages-1)*pageSize <= SumSize || tail.End > x.size {
		return nil, x.fault(0, "an end of %d bytes in an index of %d", tail.End, tail.Section)
	}
	x.pages = make([]atomic.Pointer[page], pages)
	f, err := x.fields(x.size-tail.End, int(tail.End))
	if err != nil {
		return nil, err
	}
	end := decodeEnd(&f)
	if f.Err != nil || !Is(f.Data[f.Pos:]) {
		return nil, x.fault(x.size-tail.End, "the end of the index makes no sense")
	}
	of, err := file(end)
	if err != nil {
		return nil, err
	}
	head := f.Data[f.Pos:]
	x.compact = head[0]&wire.CompactFlag != 0
	if err := x.header(wire.Fields{Data: head, Compact: x.compact}, of); err != nil {
		return nil, err
	}
	if b := x.byKind[lastKind]; b.Off != x.size-tail.End || b.Size != tail.End {
		return nil, x.fault(b.Off, "the end of the index is not its last block")
	}
	return x, nil
}

// decodeEnd decodes the first fields of an end block: the copy of the file's first bytes, and the
// section indexes of the summary and the file names.
func decodeEnd(f *wire.Fields) *End {
	f.Compact = false
	end := &End{Head: f.Take(int(f.Byte()), "the head of the file")}
	end.Summary, end.FileNames = int(f.Uint32()), int(f.Uint32())
	return end
}

// appendEnd appends an end block of the given size to an index that begins with head.
func appendEnd(dst []byte, end *End, head []byte, size int, section int64) []byte {
	start := len(dst)
	e := wire.Encoder{Data: dst}
	e.Byte(byte(len(end.Head)))
	e.Bytes(end.Head)
	e.Uint32(uint32(end.Summary))
	e.Uint32(uint32(end.FileNames))
	e.Bytes(head)
	e.Bytes(make([]byte, start+size-endFields-len(e.Data)))
	e.Uint32(uint32(size))
	e.Uint64(uint64(section))
	e.String(Magic)
	return e.Data
}

// endSize returns the minimum size of an end block.
func endSize(end *End, head []byte) int { return 1 + len(end.Head) + 4 + 4 + len(head) + endFields }

// fits reports whether the last fields of an index are in one page, so that one read gets them.
// content is the size of the index without checksums.
func fits(content int) bool {
	last := content % pageContent
	return last == 0 || last >= endFields
}

// wantEnd computes the end block that the index should have, to compare it with the one in the
// file. end has the data of the file, and size is the size of the block in bytes. wantEnd returns
// nil if end is nil or does not fit into size bytes.
func (x *Index) wantEnd(end *End, size int) ([]byte, error) {
	head, err := x.content(0, x.blocks[0].Off)
	if err != nil || end == nil || size < endSize(end, head) {
		return nil, err
	}
	return appendEnd(nil, end, head, size, x.sectionSize), nil
}
