// Package hashtable knows how LLVM's chained hash tables lie in a file.
//
// The table is the number of buckets, a power of two, the number of entries, and for each bucket
// the offset of its chain in the file, or 0: words of 64 bits. The chains stand before it, one
// behind the other. A chain is 16 bits of its number of items, and the items. An item is its hash,
// the length of its key and of its data, 64 bits each, the key and the data. The bucket of an item
// is its hash modulo the number of buckets. All is little-endian.
//
// In lean tables all keys have one length, which the items do not tell.
package hashtable

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Sizes of what a table is made of.
const (
	HeadSize      = 16 // of the table, before the buckets
	ChainHeadSize = 2
	word          = 8
)

// A Format says how items are stored.
type Format struct {
	KeySize uint64 // of all keys, if they have one size, else 0
	Lean    bool   // the items do not tell the size of their keys
}

// ItemSize returns how many bytes an item takes at least, without its data.
func (f Format) ItemSize() int {
	return f.ItemHeadSize() + int(f.KeySize)
}

// ItemHeadSize returns how many bytes of an item come before its key.
func (f Format) ItemHeadSize() int {
	if f.Lean {
		return 2 * word
	}
	return 3 * word
}

// A Head is what a table says of itself.
type Head struct{ Buckets, Entries uint64 }

// Bucket returns the bucket of a hash.
func (h Head) Bucket(hash uint64) uint64 { return hash & (h.Buckets - 1) }

// Usual reports whether there are as many buckets as LLVM makes for the entries. A table with
// others may be damaged in that number, so that a bucket leads to some of its items alone.
func (h Head) Usual() bool { return h.Buckets == uint64(NumBuckets(int(h.Entries))) }

// ReadHead reads what comes before the buckets, for which there must be room bytes behind it, after
// chains of so many bytes.
func (f Format) ReadHead(b *decode.Buffer, chains, room uint64) Head {
	pos := b.Pos
	h := Head{b.Uint64("the number of buckets"), b.Uint64("the number of entries")}
	least := uint64(f.ItemSize())
	switch {
	case b.Err != nil:
	case bits.OnesCount64(h.Buckets) != 1:
		b.Fail(pos, fault.ErrHashTable, "%d buckets, which is no power of two", h.Buckets)
	case h.Buckets > room/word:
		b.Fail(pos, fault.ErrCount, "%d buckets, there is room for %d", h.Buckets, room/word)
	case h.Entries > chains/least:
		b.Fail(pos+word, fault.ErrCount, "%d entries of at least %d bytes, the chains have %d", h.Entries, least, chains)
	}
	if b.Err != nil {
		return Head{Buckets: 1}
	}
	return h
}

// An Item is what comes before key and data.
type Item struct{ Hash, KeySize, DataSize uint64 }

// ReadItem reads what comes before key and data, for which there must be room bytes behind it.
func (f Format) ReadItem(b *decode.Buffer, room uint64) Item {
	i := Item{Hash: b.Uint64("the hash of a key"), KeySize: f.KeySize}
	keyAt := b.Pos
	if !f.Lean {
		i.KeySize = b.Uint64("the length of a key")
	}
	dataAt := b.Pos
	i.DataSize = b.Uint64("the length of the data")
	switch {
	case b.Err != nil:
	case f.KeySize > 0 && i.KeySize != f.KeySize:
		b.Fail(keyAt, fault.ErrHashTable, "a key of %d bytes instead of %d", i.KeySize, f.KeySize)
	case i.KeySize > room || i.DataSize > room-i.KeySize:
		at := dataAt // or at the first of both lengths, if either may be wrong
		if f.KeySize == 0 {
			at = keyAt
		}
		b.Fail(at, fault.ErrTruncated, "a key of %d bytes and data of %d, %d are left", i.KeySize, i.DataSize, room)
	}
	if b.Err != nil {
		return Item{}
	}
	return i
}

// AppendItem is the mirror image of ReadItem.
func (f Format) AppendItem(p []byte, i Item) []byte {
	p = binary.LittleEndian.AppendUint64(p, i.Hash)
	if !f.Lean {
		p = binary.LittleEndian.AppendUint64(p, i.KeySize)
	}
	return binary.LittleEndian.AppendUint64(p, i.DataSize)
}

// NumBuckets returns how many buckets LLVM's tables of so many entries have: the next power of two
// above four thirds of them.
func NumBuckets(entries int) int {
	if entries <= 2 {
		return 1
	}
	return 1 << bits.Len64(uint64(entries)*4/3)
}
