package hashtable

import (
	"bytes"
	"encoding/binary"
	"iter"
	"sync"

	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Table is a hash table in a file. Its methods may be called concurrently.
type Table struct {
	Head
	At int64 // file offset of the table, where its chains end

	format  Format
	src     *source.Source
	payload int64        // file offset of the first chain
	sound   func() error // reads all chains on its first call, and returns the first error in them
}

const (
	maxPad         = 7    // padding after the last chain, in bytes
	firstChainRead = 1024 // larger than most chains
	windowSize     = 1 << 20
)

// Open opens the table at file offset at, whose chains begin at file offset payload. end is the
// file offset that no part of the table may exceed.
func (f Format) Open(src *source.Source, payload, at, end int64) (Table, error) {
	t := Table{At: at, format: f, src: src, payload: payload}
	size := min(end-at, HeadSize)
	head, err := src.View(at, int(size))
	if err != nil {
		return t, err
	}
	b := decode.Buffer{Data: head}
	t.Head = f.ReadHead(&b, uint64(at-payload), uint64(end-at-size))
	t.sound = sync.OnceValue(t.checkChains)
	return t, b.Error(func(e *decode.Fault) error { return t.fault(at+int64(e.Pos), e.Class, "%s", e.Detail) })
}

// fault returns an error about a file offset in the head or the buckets of the table.
func (t *Table) fault(offset int64, class error, format string, args ...any) error {
	return t.format.Fault(t.format.Table, offset, class, format, args...)
}

// An Entry is an item of a table, with its key and data.
type Entry struct {
	Hash      uint64
	Key, Data []byte
	At        int64 // file offset of Data
	Chain     int64 // file offset of the chain; only set by Entries
}

// Find returns the item with the given hash and, unless key is nil, the given key. It reads one
// bucket and its chain. If there is no such item, the error is fault.ErrNotFound, or describes
// damage to the table because of which the item may be missing.
func (t *Table) Find(hash uint64, key []byte) (Entry, error) {
	bucket := t.Bucket(hash)
	chain, err := t.chain(bucket)
	if err != nil {
		return Entry{}, err
	}
	c := t.reader(chain, firstChainRead, false)
	items := 0
	if chain != 0 {
		items = c.count()
	}
	for ; items > 0 && c.err == nil; items-- {
		start := c.pos
		c.item()
		if b := t.Bucket(c.Hash); c.err == nil && b != bucket {
			c.fail(start, fault.ErrHashTable, "an item of bucket %d is in the chain of bucket %d", b, bucket)
		}
		if c.Hash == hash && (key == nil || c.KeySize == uint64(len(key)) && bytes.Equal(c.peek(c.KeySize), key)) {
			e := c.entry()
			c.verify(&e)
			return e, c.err
		}
		c.skip(c.KeySize + c.DataSize)
	}
	if c.err == nil {
		c.err = t.absent(bucket)
	}
	return Entry{}, c.err
}

// bucketAt returns the file offset of a bucket.
func (t *Table) bucketAt(bucket uint64) int64 { return t.At + HeadSize + word*int64(bucket) }

// chain returns the file offset of the chain of a bucket, or 0 if the bucket is empty.
func (t *Table) chain(bucket uint64) (int64, error) {
	p, err := t.src.View(t.bucketAt(bucket), word)
	if err != nil {
		return 0, err
	}
	off := binary.LittleEndian.Uint64(p)
	if off != 0 && (off < uint64(t.payload) || off > uint64(max(t.At-ChainHeadSize, 0))) {
		return 0, t.fault(t.bucketAt(bucket), fault.ErrHashTable, "a chain at offset %d, the chains are at %d to %d", off, t.payload, t.At)
	}
	return int64(off), nil
}

// Entries iterates over the items for which wanted returns true, in file order. If reuse is set, an
// Entry is valid only until the next one. An error ends the iteration.
func (t *Table) Entries(reuse bool, wanted func(hash uint64, key []byte) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		c := t.reader(t.payload, windowSize, reuse)
		for left := t.NumEntries; left > 0 && c.err == nil; {
			start := c.pos
			n := uint64(c.count())
			if c.err == nil && (n == 0 || n > left) {
				c.fail(start, fault.ErrHashTable, "a chain of %d items where %d entries are left", n, left)
			}
			left -= min(n, left)
			for ; n > 0 && c.err == nil; n-- {
				c.item()
				e := c.entry()
				if e.Chain = start; c.err != nil || !wanted(e.Hash, e.Key) {
					continue
				}
				if c.verify(&e); c.err == nil && !yield(e, nil) {
					return
				}
			}
		}
		if rest := t.At - c.pos; c.err == nil && rest > maxPad {
			c.fail(c.pos, fault.ErrHashTable, "%d bytes after the last chain", rest)
		}
		if c.err != nil {
			yield(Entry{}, c.err)
		}
	}
}

// Every returns true. It is an argument of [Table.Entries] that selects all items.
func Every(uint64, []byte) bool { return true }

// A reader reads the chains of a table one after another. It reads the file in large blocks, called
// windows, of which it keeps the latest one.
type reader struct {
	Item  // head of the current item
	t     *Table
	reuse bool // reuse the memory of the window
	pos   int64
	size  int64 // size of a window
	err   error

	window []byte
	start  int64 // file offset of window
}

func (t *Table) reader(pos, size int64, reuse bool) *reader {
	return &reader{t: t, pos: pos, size: size, reuse: reuse}
}

var zeros [3 * word]byte

// take returns the next n bytes. After an error it returns zeros instead, but not more than 24.
func (c *reader) take(n uint64) []byte {
	if c.require(n); c.err == nil && c.pos+int64(n) > c.start+int64(len(c.window)) {
		c.fill(int64(n))
	}
	if c.err != nil {
		return zeros[:min(n, uint64(len(zeros)))]
	}
	from := c.pos - c.start
	c.pos += int64(n)
	return c.window[from : from+int64(n) : from+int64(n)]
}

// require records an error if fewer than n bytes are left before the end of the chains.
func (c *reader) require(n uint64) {
	if c.err == nil && n > uint64(c.t.At-c.pos) {
		c.fail(c.pos, fault.ErrTruncated, "want %d bytes, %d are left", n, c.t.At-c.pos)
	}
}

// fill reads the next window of the file. It begins at the current position and has at least n
// bytes.
func (c *reader) fill(n int64) {
	var buf []byte
	if c.reuse {
		buf = c.window
	}
	size := min(max(n, c.size), c.t.At-c.pos)
	if c.t.src.InMemory() {
		size = c.t.At - c.pos
	}
	c.window, c.err = c.t.src.ViewIn(buf, c.pos, int(size))
	c.start = c.pos
}

// peek returns the next n bytes, which will be read once more.
func (c *reader) peek(n uint64) []byte {
	b := c.take(n)
	if c.err == nil {
		c.pos -= int64(n)
	}
	return b
}

func (c *reader) skip(n uint64) {
	if c.require(n); c.err != nil {
		return
	}
	c.pos += int64(n)
	if c.pos > c.start+int64(len(c.window)) {
		c.window, c.start = c.window[:0], c.pos
	}
}

func (c *reader) fail(pos int64, class error, format string, args ...any) {
	c.err = c.t.format.Fault(c.t.format.Chains, pos, class, format, args...)
}

// count reads the number of items at the start of a chain.
func (c *reader) count() int { return int(binary.LittleEndian.Uint16(c.take(ChainHeadSize))) }

// item reads the hash and the lengths of the next item of a chain, which then is the current item.
func (c *reader) item() {
	start := c.pos
	b := decode.Buffer{Data: c.take(uint64(c.t.format.ItemHeadSize()))}
	if c.err != nil {
		return
	}
	c.Item = c.t.format.ReadItem(&b, uint64(c.t.At-c.pos))
	if b.Err != nil {
		c.fail(start+int64(b.Err.Pos), b.Err.Class, "%s", b.Err.Detail)
	}
}

// entry reads the key and the data of the current item, and returns the item.
func (c *reader) entry() Entry {
	body := c.take(c.KeySize + c.DataSize)
	if c.err != nil {
		return Entry{}
	}
	return Entry{Hash: c.Hash, Key: body[:c.KeySize:c.KeySize], Data: body[c.KeySize:], At: c.pos - int64(c.DataSize)}
}

// verify computes the hash of an item's key. It records an error if the item stores another hash.
// After an error it does nothing, because the item may have no key.
func (c *reader) verify(e *Entry) {
	if c.err == nil && c.t.format.Hash(e.Key) != e.Hash {
		start := e.At - int64(len(e.Key)+c.t.format.ItemHeadSize())
		c.fail(start, fault.ErrHashTable, "the hash of key %q is %#x, not %#x", e.Key, c.t.format.Hash(e.Key), e.Hash)
	}
}
