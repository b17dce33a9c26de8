package memprof

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A table is a chained hash table on disk. Its payload is a sequence of chains. Each bucket holds
// the offset of its chain. Keys are numbers and are their own hashes.
type table struct {
	hashtable.Head
	format  hashtable.Format
	payload decoder // positioned at the start of the payload
	buckets []byte  // one word per bucket: the file offset of its chain, 0 if it is empty
	where   int64   // file offset of buckets
}

// A tableItem is a key and its data.
type tableItem struct {
	key   uint64
	chain int // position of its chain in the payload, if items has returned it
	at    int // position of the data in the payload
	data  []byte
}

const keySize = 8

// leanFormat is the format of tables that do not store key lengths.
var (
	tableFormat = hashtable.Format{KeySize: keySize}
	leanFormat  = hashtable.Format{KeySize: keySize, Lean: true}
)

// openTable reads the head of the table at pos. The payload is the bytes [from, to) of the section.
func (d decoder) openTable(from, to, pos int, format hashtable.Format) (table, error) {
	t := table{format: format}
	t.payload = decoder{Buffer: decode.Buffer{Data: d.Data[from:to:to], Part: d.Part}, base: d.base + int64(from)}
	d.Pos = pos
	t.Head = format.ReadHead(&d.Buffer, uint64(to-from), uint64(max(d.Rest()-hashtable.HeadSize, 0)))
	t.where = d.base + int64(d.Pos)
	t.buckets = d.Take(8*t.Buckets, "buckets")
	return t, d.err()
}

// chain returns the position of bucket i's chain in the payload, or -1 if the bucket is empty.
func (t *table) chain(i uint64) (int, error) {
	offset := binary.LittleEndian.Uint64(t.buckets[i*8:])
	if offset == 0 {
		return -1, nil
	}
	base, size := uint64(t.payload.base), uint64(len(t.payload.Data))
	if offset < base || offset-base >= size {
		return 0, faultAt(t.payload.Part, t.where+int64(i)*8, errOffset, "the chain of bucket %d is at offset %d, outside of the payload", i, offset)
	}
	return int(offset - base), nil
}

// lookup returns the item with the given key, or afdo.ErrNotFound.
func (t *table) lookup(key uint64) (tableItem, error) {
	bucket := t.Bucket(key)
	at, err := t.chain(bucket)
	if err != nil {
		return tableItem{}, err
	}
	if at < 0 {
		return tableItem{}, t.absent(bucket)
	}
	d := t.payload
	d.Pos = at
	for range d.Uint16("length of a chain") {
		start := d.Pos
		found := t.item(&d)
		if b := t.Bucket(found.key); d.Err == nil && b != bucket {
			d.Fail(start, fault.ErrHashTable, "an item of bucket %d is in the chain of bucket %d", b, bucket)
		}
		if d.Err != nil || found.key == key {
			return found, d.err()
		}
	}
	if d.Err != nil {
		return tableItem{}, d.err()
	}
	return tableItem{}, t.absent(bucket)
}

// absent returns the error for a key that is not in the chain of its bucket: afdo.ErrNotFound, or a
// format error if the table is damaged. LLVM writes chains without gaps in the order of their
// buckets. If there is a gap between the chains around this bucket, or the number of buckets is not
// what LLVM would choose, absent checks the whole table.
func (t *table) absent(bucket uint64) error {
	if !t.Usual() || !t.closed(bucket) {
		if err := t.check(); err != nil {
			return err
		}
	}
	return fault.ErrNotFound
}

// closed reports whether no bytes lie between the chain of a bucket, or the last chain before it,
// and the next chain. Otherwise a chain may have been lost because its bucket is damaged.
func (t *table) closed(bucket uint64) bool {
	d := t.payload
	for b := bucket + 1; b > 0; b-- {
		at, err := t.chain(b - 1)
		if err != nil {
			return false
		}
		if at < 0 {
			continue
		}
		d.Pos = at
		items := d.Uint16("length of a chain")
		for range items {
			t.item(&d)
		}
		if items == 0 {
			return false
		}
		break
	}
	for b := bucket + 1; b < t.Buckets; b++ {
		if at, err := t.chain(b); err != nil || at >= 0 {
			return err == nil && d.Err == nil && at == d.Pos
		}
	}
	return d.Err == nil && d.Rest() < 8 // the rest is padding
}

// check reads all chains and returns an error for the first bucket that does not hold the offset of
// its chain.
func (t *table) check() error {
	for i, err := range t.items() {
		if err != nil {
			return err
		}
		bucket := t.Bucket(i.key)
		if at, err := t.chain(bucket); err != nil || at != i.chain {
			return faultAt(t.payload.Part, t.where+8*int64(bucket), fault.ErrHashTable, "bucket %d does not lead to the chain of key %#x", bucket, i.key)
		}
	}
	return nil
}

func (t *table) item(d *decoder) tableItem {
	at := d.Pos
	head := t.format.ReadItem(&d.Buffer, uint64(max(d.Rest()-t.format.ItemHeadSize(), 0)))
	key := d.Uint64("key")
	if d.Err == nil && head.Hash != key {
		d.Fail(at, fault.ErrHashTable, "key %#x has hash %#x", key, head.Hash)
	}
	from := d.Pos
	return tableItem{key: key, at: from, data: d.Take(head.DataSize, "data")}
}

// within returns a decoder for the data of item i, whose errors have file offsets.
func (t *table) within(i tableItem) decoder {
	return decoder{Buffer: decode.Buffer{Data: i.data, Part: t.payload.Part}, base: t.payload.base + int64(i.at)}
}

// items iterates over all items of the hash table, chain by chain in file order.
func (t *table) items() iter.Seq2[tableItem, error] {
	return func(yield func(tableItem, error) bool) {
		d := t.payload
		for left := t.Entries; left > 0; {
			at := d.Pos
			n := uint64(d.Uint16("length of a chain"))
			if d.Err == nil && (n == 0 || n > left) {
				d.Fail(at, fault.ErrHashTable, "a chain of %d items where %d entries are left", n, left)
			}
			left -= min(n, left)
			for range n {
				i := t.item(&d)
				i.chain = at
				if d.Err != nil {
					break
				}
				if !yield(i, nil) {
					return
				}
			}
			if d.Err != nil {
				yield(tableItem{}, d.err())
				return
			}
		}
		if n := d.Rest(); n >= 8 { // the rest is padding
			d.Fail(d.Pos, fault.ErrHashTable, "%d bytes after the last chain", n)
			yield(tableItem{}, d.err())
		}
	}
}

// table appends a hash table with the given keys. write(i) appends the data of keys[i]. table
// returns the offsets of the payload and the buckets. Keys in the same bucket keep their order.
func (e *encoder) table(keys []uint64, format hashtable.Format, write func(i int) error) (payload, buckets uint64, err error) {
	payload = e.offset()
	chains := make([][]int32, hashtable.NumBuckets(len(keys)))
	for i, key := range keys {
		b := key & uint64(len(chains)-1)
		chains[b] = append(chains[b], int32(i))
	}
	offsets := make([]uint64, len(chains))
	for b, chain := range chains {
		if len(chain) == 0 {
			continue
		}
		if len(chain) > math.MaxUint16 {
			return 0, 0, unrepresentable("%d functions in one bucket of a hash table", len(chain))
		}
		offsets[b] = e.offset()
		e.u16(uint16(len(chain)))
		for _, i := range chain {
			if err := e.item(keys[i], format, func() error { return write(int(i)) }); err != nil {
				return 0, 0, err
			}
		}
	}
	e.align()
	buckets = e.offset()
	e.u64(uint64(len(chains)))
	e.u64(uint64(len(keys)))
	for _, offset := range offsets {
		e.place(offset)
	}
	return payload, buckets, nil
}

// item appends one item of a hash table: its key, which is its hash, and the data that write
// appends.
func (e *encoder) item(key uint64, format hashtable.Format, write func() error) error {
	e.data = format.AppendItem(e.data, hashtable.Item{Hash: key, KeySize: keySize})
	size := len(e.data) - 8
	e.u64(key)
	from := len(e.data)
	if err := write(); err != nil {
		return err
	}
	e.patch(size, uint64(len(e.data)-from))
	return nil
}
