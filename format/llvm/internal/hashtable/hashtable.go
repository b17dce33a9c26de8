// Package hashtable reads and writes the chained hash tables in LLVM's profiles.
//
// All numbers are little-endian. A table consists of chains followed by the table proper:
//   - A chain is a 16-bit number of items, and the items.
//   - An item is its hash, the length of its key and the length of its data (64 bits each), the
//     key, and the data.
//   - The table proper is the number of buckets, which is a power of two, the number of entries,
//     and for each bucket the file offset of its chain or 0 (64 bits each).
//
// An item belongs in the bucket with the number of its hash modulo the number of buckets. In a lean
// table, all keys have the same length and items do not store it.
package hashtable

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Sizes of the fixed fields of a table, in bytes.
const (
	HeadSize      = 16 // number of buckets and of entries
	ChainHeadSize = 2
	word          = 8
)

// A Format describes how the items of a hash table are stored.
type Format struct {
	KeySize uint64                  // length of each key, or 0 if lengths vary
	Lean    bool                    // items do not store the length of their key
	Hash    func(key []byte) uint64 // hash of a key

	// Chains and Table are the names of the two parts of a table in errors, which Fault makes.
	Chains, Table string
	Fault         func(part string, offset int64, class error, format string, args ...any) error
}

// ItemSize returns the size in bytes of an item that has no data, and the shortest possible key.
func (f *Format) ItemSize() int {
	return f.ItemHeadSize() + int(f.KeySize)
}

// ItemHeadSize returns the number of bytes before the key of an item.
func (f *Format) ItemHeadSize() int {
	if f.Lean {
		return 2 * word
	}
	return 3 * word
}

// A Head holds the number of buckets and the number of entries of a table.
type Head struct{ Buckets, NumEntries uint64 }

// Bucket returns the number of the bucket that leads to the items with the given hash.
func (h Head) Bucket(hash uint64) uint64 { return hash & (h.Buckets - 1) }

// Usual reports whether the table has as many buckets as LLVM chooses for its number of entries. If
// not, the number may be damaged, and lookups may miss items.
func (h Head) Usual() bool { return h.Buckets == uint64(NumBuckets(int(h.NumEntries))) }

// ReadHead reads the number of buckets and the number of entries of a table. chains is the size of
// all chains in bytes, and room is the number of bytes after the head. It is an error if the
// entries do not fit into the chains, or the buckets not into room.
func (f *Format) ReadHead(b *decode.Buffer, chains, room uint64) Head {
	pos := b.Pos
	h := Head{b.Uint64("the number of buckets"), b.Uint64("the number of entries")}
	least := uint64(f.ItemSize())
	switch {
	case b.Err != nil:
	case bits.OnesCount64(h.Buckets) != 1:
		b.Fail(pos, fault.ErrHashTable, "%d buckets, which is no power of two", h.Buckets)
	case h.Buckets > room/word:
		b.Fail(pos, fault.ErrCount, "%d buckets, there is room for %d", h.Buckets, room/word)
	case h.NumEntries == 0 && chains >= word: // padding takes less
		b.Fail(pos+word, fault.ErrHashTable, "no entries, but %d bytes of chains", chains)
	case h.NumEntries > chains/least:
		b.Fail(pos+word, fault.ErrCount, "%d entries of at least %d bytes, the chains have %d", h.NumEntries, least, chains)
	}
	if b.Err != nil {
		return Head{Buckets: 1}
	}
	return h
}

// An Item holds the first fields of an item in a chain: the hash of its key, and the lengths of its
// key and its data.
type Item struct{ Hash, KeySize, DataSize uint64 }

// ReadItem reads the hash and the lengths of an item. It is an error if the key and the data do not
// fit into room bytes.
func (f *Format) ReadItem(b *decode.Buffer, room uint64) Item {
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
		at := dataAt // or at the first length, if either may be wrong
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

// AppendItem appends the hash and the lengths of an item to p, in the form that ReadItem reads.
func (f *Format) AppendItem(p []byte, i Item) []byte {
	p = binary.LittleEndian.AppendUint64(p, i.Hash)
	if !f.Lean {
		p = binary.LittleEndian.AppendUint64(p, i.KeySize)
	}
	return binary.LittleEndian.AppendUint64(p, i.DataSize)
}

// NumBuckets returns the number of buckets that LLVM chooses: the next power of two above 4/3 of
// the number of entries.
func NumBuckets(entries int) int {
	if entries <= 2 {
		return 1
	}
	return 1 << bits.Len64(uint64(entries)*4/3)
}
