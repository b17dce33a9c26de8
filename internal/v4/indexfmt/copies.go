package indexfmt

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The copies block has copies of the small parts of the index that a lookup needs before all
// others. It is near the end of the file, where one read has all of them.

// copied are the blocks whose first bytes are in the copies block.
var copied = [...]Kind{Names, Unqualified, Fingerprints}

// A copies is the decoded copies block. This block repeats the first bytes of other blocks, so that
// a slow reader, such as that of a server's file, gets them with one read.
type copies struct {
	summary, fileNames uint32 // checksums
	heads              [numKinds][]byte
}

// copies returns the decoded copies block of the index. It returns nil if the index has no such
// block, if the block is malformed, or if reads of the file are fast, because a copy then saves
// nothing.
func (x *Index) copies() *copies {
	if !x.Has(Copies) || !x.src.Slow() {
		return nil
	}
	if c := x.copied.Load(); c != nil {
		return c
	}
	b := x.byKind[Copies]
	f, err := x.fields(b.Off, int(min(b.Size, pageContent)))
	if err != nil {
		return nil
	}
	c := decodeCopies(&f)
	if c != nil {
		x.copied.Store(c)
	}
	return c
}

func decodeCopies(f *wire.Fields) *copies {
	c := new(copies)
	sums := f.Take(2*SumSize, "checksums")
	for f.Err == nil && f.Rest() > 0 {
		kind := Kind(f.Byte())
		head := f.Take(int(f.Byte()), "the head of a block")
		if kind < numKinds {
			c.heads[kind] = head
		}
	}
	if f.Err != nil {
		return nil
	}
	c.summary, c.fileNames = binary.BigEndian.Uint32(sums), binary.BigEndian.Uint32(sums[SumSize:])
	return c
}

// FixedChecksums returns the checksums of the summary and of the file names from their copies. It
// returns false if there are no copies, or if reads are cheap.
func (x *Index) FixedChecksums() (summary, fileNames uint32, ok bool) {
	if c := x.copies(); c != nil {
		return c.summary, c.fileNames, true
	}
	return 0, 0, false
}

// headFields decodes the fields at the beginning of a block by calling decode. It decodes a copy of
// them if the copies block has one, and otherwise the first n bytes of the block. If the copy is
// incomplete, it calls decode a second time. It returns the position after the fields.
func (x *Index) headFields(kind Kind, b Block, n int, decode func(f *wire.Fields)) (pos int, err error) {
	if c := x.copies(); c != nil && c.heads[kind] != nil {
		f := wire.Fields{Data: c.heads[kind], Compact: x.compact}
		if decode(&f); f.Err == nil {
			return f.Pos, nil
		}
	}
	f, err := x.fields(b.Off, n)
	if err != nil {
		return 0, err
	}
	if decode(&f); f.Err != nil {
		return 0, x.misread(b.Off, &f)
	}
	return f.Pos, nil
}

// headOf returns the first bytes of a block, as the copies block contains them: the name of a
// scheme and the beginning of a table, if the block has these.
func headOf(kind Kind, compact bool, data []byte) []byte {
	f := wire.Fields{Data: data, Compact: compact}
	if kind != Names {
		f.Take(int(f.Byte()), "the name of a scheme")
	}
	if kind != Fingerprints {
		decodeTable(&f)
	}
	return data[:f.Pos]
}

// AddCopies adds the copies block. It contains the first bytes of some of the blocks that have been
// added before. summary and fileNames are the checksums of these sections.
func (w *Writer) AddCopies(summary, fileNames uint32) {
	data := AppendChecksum(AppendChecksum(nil, summary), fileNames)
	for _, kind := range copied {
		block := w.data[kind]
		if len(block) == 0 {
			continue
		}
		if head := headOf(kind, w.Compact, block); len(head) <= 0xff {
			data = append(append(data, byte(kind), byte(len(head))), head...)
		}
	}
	w.Add(Copies, data)
}
