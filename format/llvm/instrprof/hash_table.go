package instrprof

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// A hashTable describes the hash table of an indexed file. Its key is a function's name, and its
// data is the records of that name.
type hashTable struct {
	hashtable.Head
	payload int64 // offset of the first chain
	at      int64 // offset of the table, which is also the end of the chains
}

// tableFormat is the format of the hash table, whose keys are names.
var tableFormat hashtable.Format

const (
	hashTableOffset = 32 // file offset of the table's offset in the header
	tableHeadSize   = hashtable.HeadSize
	chainHeadSize   = hashtable.ChainHeadSize
	itemHeadSize    = 24
	maxTablePad     = 7
	firstChainRead  = 1024 // larger than most chains
	windowSize      = 1 << 20
)

// openTable reads the number of buckets and entries of the hash table.
func (r *Reader) openTable() error {
	t := &r.table
	t.at = r.header.HashTable
	if t.at < t.payload {
		return faultAt(sectionHeader, hashTableOffset, fault.ErrHeader, "the hash table is at offset %d, the payload begins at %d", t.at, t.payload)
	}
	size := min(r.src.Size()-t.at, tableHeadSize)
	head, err := r.src.View(t.at, int(size))
	if err != nil {
		return err
	}
	f := &fields{Buffer: decode.Buffer{Data: head, Part: sectionHashTable}, base: t.at}
	t.Head = tableFormat.ReadHead(&f.Buffer, uint64(t.at-t.payload), uint64(r.src.Size()-t.at-size))
	return f.err()
}

// find returns the key and data of the item with the given hash and, unless name is nil, the given
// name.
func (r *Reader) find(hash uint64, name *string) (f *fields, key []byte, err error) {
	t := &r.table
	chain, err := t.chain(r.src, hash)
	if err != nil {
		return nil, nil, err
	}
	c := chainReader{src: r.src, pos: chain, end: t.at, size: firstChainRead}
	items := 0
	if chain != 0 {
		items = int(binary.LittleEndian.Uint16(c.take(chainHeadSize)))
	}
	for i := 0; i < items && c.err == nil; i++ {
		start := c.pos
		c.item()
		if b := t.Bucket(c.hash); c.err == nil && b != t.Bucket(hash) {
			c.fail(start, fault.ErrHashTable, "an item of bucket %d is in the chain of bucket %d", b, t.Bucket(hash))
		}
		if c.hash != hash || name != nil && c.keyLen != uint64(len(*name)) {
			c.skip(c.keyLen + c.dataLen)
			continue
		}
		key := c.take(c.keyLen)
		if name == nil || string(key) == *name {
			return c.data(), key, c.err
		}
		c.skip(c.dataLen)
	}
	if c.err == nil {
		c.err = r.absent(hash)
	}
	switch {
	case c.err != nil:
		return nil, nil, c.err
	case name != nil:
		return nil, nil, fmt.Errorf("instrprof: no function %q: %w", *name, fault.ErrNotFound)
	}
	return nil, nil, fmt.Errorf("instrprof: no function whose name has the hash %#x: %w", hash, fault.ErrNotFound)
}

// chain returns the file offset of the chain for a hash, or 0 if its bucket is empty.
func (t *hashTable) chain(src *source.Source, hash uint64) (int64, error) {
	bucket := t.at + tableHeadSize + 8*int64(t.Bucket(hash))
	p, err := src.View(bucket, 8)
	if err != nil {
		return 0, err
	}
	off := binary.LittleEndian.Uint64(p)
	if off != 0 && (off < uint64(t.payload) || off > uint64(t.at-chainHeadSize)) {
		return 0, faultAt(sectionHashTable, bucket, fault.ErrHashTable, "a chain at offset %d, the payload is %d to %d", off, t.payload, t.at)
	}
	return int64(off), nil
}

// A chainReader reads the chains of the hash table one after another. It reads the file in larger
// pieces, the windows.
type chainReader struct {
	src   *source.Source
	reuse bool // reuse the memory of the window
	pos   int64
	end   int64 // end of all chains
	size  int64 // size of a window
	err   error

	window []byte
	start  int64 // file offset of window

	hash, keyLen, dataLen uint64
}

var zeros [itemHeadSize]byte

// take returns the next n bytes. After an error it returns at most 24 zeros.
func (c *chainReader) take(n uint64) []byte {
	if c.err == nil && n > uint64(c.end-c.pos) {
		c.fail(c.pos, fault.ErrTruncated, "want %d bytes, %d are left", n, c.end-c.pos)
	}
	if c.err == nil && c.pos+int64(n) > c.start+int64(len(c.window)) {
		c.fill(int64(n))
	}
	if c.err != nil {
		return zeros[:min(n, uint64(len(zeros)))]
	}
	from := c.pos - c.start
	c.pos += int64(n)
	return c.window[from : from+int64(n) : from+int64(n)]
}

// fill reads the next window, of at least n bytes, from the current position on.
func (c *chainReader) fill(n int64) {
	var buf []byte
	if c.reuse {
		buf = c.window
	}
	size := min(max(n, c.size), c.end-c.pos)
	if c.src.InMemory() {
		size = c.end - c.pos
	}
	c.window, c.err = c.src.ViewIn(buf, c.pos, int(size))
	c.start = c.pos
}

func (c *chainReader) skip(n uint64) {
	if c.err == nil && n > uint64(c.end-c.pos) {
		c.fail(c.pos, fault.ErrTruncated, "want %d bytes, %d are left", n, c.end-c.pos)
	}
	if c.err == nil {
		c.pos += int64(n)
		if c.pos > c.start+int64(len(c.window)) {
			c.window, c.start = c.window[:0], c.pos
		}
	}
}

func (c *chainReader) fail(pos int64, class error, format string, args ...any) {
	c.err = faultAt(sectionPayload, pos, class, format, args...)
}

// item reads the head of an item: its hash and the lengths of its key and data.
func (c *chainReader) item() {
	start := c.pos
	b := decode.Buffer{Data: c.take(itemHeadSize)}
	if c.err != nil {
		return
	}
	i := tableFormat.ReadItem(&b, uint64(c.end-c.pos))
	c.hash, c.keyLen, c.dataLen = i.Hash, i.KeySize, i.DataSize
	if b.Err == nil && c.dataLen == 0 {
		b.Fail(16, fault.ErrHashTable, "an item without data")
	}
	if b.Err != nil {
		c.fail(start+int64(b.Err.Pos), b.Err.Class, "%s", b.Err.Detail)
	}
}

// data returns a decoder for the data of the item at the current position, after its key.
func (c *chainReader) data() *fields {
	start := c.pos
	return &fields{Buffer: decode.Buffer{Data: c.take(c.dataLen), Part: sectionPayload}, base: start}
}

// A tableWalk iterates over the items of the hash table in file order. It yields the items whose
// names are in part and for which wanted returns true.
type tableWalk struct {
	chainReader
	part   part              // selects the items
	wanted func([]byte) bool // selects among them by name; nil means all
	left   uint64            // number of entries left
	items  int               // number of items left in the chain
	key    []byte
	f      fields
}

func (t *hashTable) walk(src *source.Source, reuse bool, of part) *tableWalk {
	return &tableWalk{
		chainReader: chainReader{src: src, reuse: reuse, pos: t.payload, end: t.at, size: windowSize},
		part:        of,
		left:        t.Entries,
	}
}

// next moves to the next item of the hash table that part and wanted select. It returns false if
// there is none.
func (w *tableWalk) next() bool {
	for w.head() {
		if w.part.has(w.hash) && (w.wanted == nil || w.wanted(w.peek(w.keyLen))) {
			return w.body()
		}
		w.skip(w.keyLen + w.dataLen)
	}
	return false
}

// peek returns the next n bytes without moving.
func (c *chainReader) peek(n uint64) []byte {
	b := c.take(n)
	if c.err == nil {
		c.pos -= int64(n)
	}
	return b
}

// head reads the head of the next item. It returns false if there is none.
func (w *tableWalk) head() bool {
	if w.left == 0 {
		switch rest := w.end - w.pos; {
		case w.err != nil:
		case w.items != 0:
			w.fail(w.pos, fault.ErrHashTable, "a chain has %d items more than the table entries", w.items)
		case rest > maxTablePad:
			w.fail(w.pos, fault.ErrUnused, "%d bytes after the last chain", rest)
		}
		return false
	}
	for w.items == 0 && w.err == nil {
		w.items = int(binary.LittleEndian.Uint16(w.take(chainHeadSize)))
	}
	w.items--
	w.left--
	w.item()
	return w.err == nil
}

// body reads the key and data of the current item. It returns false if the hash of the key differs
// from the hash that the item stores.
func (w *tableWalk) body() bool {
	start := w.pos
	body := w.take(w.keyLen + w.dataLen)
	if w.err != nil {
		return false
	}
	w.key = body[:w.keyLen:w.keyLen]
	w.f = fields{Buffer: decode.Buffer{Data: body[w.keyLen:], Part: sectionPayload}, base: w.pos - int64(w.dataLen)}
	if hash := symname.GUID(w.key); hash != w.hash {
		w.fail(start-itemHeadSize, fault.ErrHashTable, "the hash of %q is %#x, not %#x", w.key, hash, w.hash)
	}
	return w.err == nil
}

// A tableLayout determines the order of the items of a hash table, and the offset of each chain,
// before the table is written.
type tableLayout struct {
	version uint32
	order   []*profileFunction // by name and hash
	items   []tableName        // by name
	heads   []int32            // index of each bucket's first item, or -1
	chains  []uint64           // offset of each bucket's chain, or 0
	end     uint64             // end of the last chain
	at      uint64             // offset of the table
}

// A tableName is the item of the hash table for one name.
type tableName struct {
	hash        uint64
	first, last int32 // range in order of its functions
	next        int32 // index of the next item in the chain, or -1
}

const firstBuckets = 64 // as in LLVM's generator

// build determines the layout of the hash table for the functions of p, with the first chain at
// offset start. It inserts like LLVM's generator, to get the same order of items: each item goes to
// the front of its chain, and growing the table reverses the chains.
func (t *tableLayout) build(p *Profile, start uint64) error {
	t.order = p.sorted()
	for i := 0; i < len(t.order); {
		first, name := i, t.order[i].name
		for i < len(t.order) && t.order[i].name == name {
			i++
		}
		t.items = append(t.items, tableName{hash: NameHash(name), first: int32(first), last: int32(i)})
	}
	t.resize(firstBuckets)
	for i := range t.items {
		if 4*(i+1) >= 3*len(t.heads) {
			t.resize(2 * len(t.heads))
		}
		t.insert(int32(i))
	}
	if n := hashtable.NumBuckets(len(t.items)); n != len(t.heads) {
		t.resize(n)
	}
	return t.place(start)
}

// resize changes the number of buckets and inserts all items again, chain by chain.
func (t *tableLayout) resize(buckets int) {
	old := t.heads
	t.heads = make([]int32, buckets)
	for i := range t.heads {
		t.heads[i] = -1
	}
	for _, i := range old {
		for i >= 0 {
			next := t.items[i].next
			t.insert(i)
			i = next
		}
	}
}

func (t *tableLayout) insert(i int32) {
	head := &t.heads[t.items[i].hash&uint64(len(t.heads)-1)]
	t.items[i].next, *head = *head, i
}

// place computes the offsets of the chains and of the table.
func (t *tableLayout) place(start uint64) error {
	t.chains = make([]uint64, len(t.heads))
	at := start
	for b, first := range t.heads {
		if first < 0 {
			continue
		}
		t.chains[b] = at
		at += chainHeadSize
		n := 0
		for i := first; i >= 0; i = t.items[i].next {
			n++
			at += itemHeadSize + uint64(len(t.name(i))) + t.dataSize(i)
		}
		if n > math.MaxUint16 {
			return fmt.Errorf("instrprof: %d names of one hash: %w", n, fault.ErrUnrepresentable)
		}
	}
	t.end = at
	t.at = (at + 7) &^ 7
	return nil
}

func (t *tableLayout) name(i int32) string { return t.order[t.items[i].first].name }

// functions returns the functions of item i, which have the same name.
func (t *tableLayout) functions(i int32) []*profileFunction {
	return t.order[t.items[i].first:t.items[i].last]
}

func (t *tableLayout) dataSize(i int32) uint64 {
	size := uint64(0)
	for _, f := range t.functions(i) {
		size += f.encodedSize(t.version)
	}
	return size
}

func (t *tableLayout) length(first int32) uint16 {
	n := uint16(0)
	for i := first; i >= 0; i = t.items[i].next {
		n++
	}
	return n
}

func (t *tableLayout) appendItem(p []byte, i int32) []byte {
	name := t.name(i)
	p = tableFormat.AppendItem(p, hashtable.Item{Hash: t.items[i].hash, KeySize: uint64(len(name)), DataSize: t.dataSize(i)})
	p = append(p, name...)
	for _, f := range t.functions(i) {
		p = f.append(p, t.version)
	}
	return p
}

// append appends the number of buckets and entries and the offsets of the chains.
func (t *tableLayout) append(p []byte) []byte {
	p = append64(p, uint64(len(t.chains)), uint64(len(t.items)))
	return append64(p, t.chains...)
}
