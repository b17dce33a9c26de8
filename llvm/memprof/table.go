package memprof

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/decode"
)

// A table is a chained hash table: a payload of chains, back to back, and buckets that say
// where each chain begins. Keys are numbers and their own hashes.
type table struct {
	payload decoder // at the start of the payload
	buckets []byte  // a word each: the offset of the chain in the file, 0 if the bucket is empty
	where   int64   // offset of buckets in the file
	entries uint64
	lean    bool // items have no key length
}

// An item is a key and its data.
type item struct {
	key  uint64
	at   int // where the data begins in the payload
	data []byte
}

const keySize = 8

// itemSize returns what an item takes beside its data.
func (t *table) itemSize() int {
	if t.lean {
		return 24
	}
	return 32
}

// openTable reads the head of the table at pos whose payload is [from, to) of the section.
func (d decoder) openTable(from, to, pos int, lean bool) (table, error) {
	t := table{lean: lean}
	t.payload = decoder{Buffer: decode.Buffer{Data: d.Data[from:to:to], Part: d.Part}, base: d.base + int64(from)}
	d.Pos = pos
	buckets := d.Uint64("number of buckets")
	t.entries = d.Uint64("number of entries")
	t.where = d.base + int64(d.Pos)
	switch {
	case d.Err != nil:
	case bits.OnesCount64(buckets) != 1:
		d.Fail(pos, afdo.ErrHashTable, "%d buckets, which is no power of two", buckets)
	case buckets > uint64(d.Rest()/8):
		d.Fail(pos, afdo.ErrCount, "%d buckets of 8 bytes, %d bytes are left", buckets, d.Rest())
	case t.entries > uint64((to-from)/t.itemSize()):
		d.Fail(pos+8, afdo.ErrCount, "%d entries of at least %d bytes, the payload has %d", t.entries, t.itemSize(), to-from)
	default:
		t.buckets = d.Take(buckets*8, "buckets")
	}
	return t, d.err()
}

// chain returns the position of the chain of bucket i in the payload, -1 if it is empty.
func (t *table) chain(i uint64) (int, error) {
	offset := binary.LittleEndian.Uint64(t.buckets[i*8:])
	if offset == 0 {
		return -1, nil
	}
	base, size := uint64(t.payload.base), uint64(len(t.payload.Data))
	if offset < base || offset-base >= size {
		return 0, faultAt(t.payload.Part, t.where+int64(i)*8, ErrOffset, "the chain of bucket %d is at offset %d, outside of the payload", i, offset)
	}
	return int(offset - base), nil
}

// lookup finds the data of a key.
func (t *table) lookup(key uint64) (item, error) {
	at, err := t.chain(key & (uint64(len(t.buckets)/8) - 1))
	if err != nil {
		return item{}, err
	}
	if at < 0 {
		return item{}, afdo.ErrNotFound
	}
	d := t.payload
	d.Pos = at
	for range d.Uint16("length of a chain") {
		if found := t.item(&d); d.Err != nil || found.key == key {
			return found, d.err()
		}
	}
	if d.Err != nil {
		return item{}, d.err()
	}
	return item{}, afdo.ErrNotFound
}

func (t *table) item(d *decoder) item {
	at := d.Pos
	hash := d.Uint64("hash of a key")
	if !t.lean {
		if n := d.Uint64("length of a key"); d.Err == nil && n != keySize {
			d.Fail(d.Pos-8, afdo.ErrHashTable, "a key of %d bytes instead of %d", n, keySize)
		}
	}
	sizeAt := d.Pos
	size := d.Uint64("length of the data")
	key := d.Uint64("key")
	if d.Err == nil && hash != key {
		d.Fail(at, afdo.ErrHashTable, "key %#x has hash %#x", key, hash)
	}
	if d.Err == nil && size > uint64(d.Rest()) {
		d.Fail(sizeAt, afdo.ErrTruncated, "data takes %d bytes, %d are left", size, d.Rest())
	}
	from := d.Pos
	return item{key: key, at: from, data: d.Take(size, "data")}
}

// within returns a decoder of the data of an item.
func (t *table) within(i item) decoder {
	return decoder{Buffer: decode.Buffer{Data: i.data, Part: t.payload.Part}, base: t.payload.base + int64(i.at)}
}

// items walks all chains in the order of the payload.
func (t *table) items() iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		d := t.payload
		for left := t.entries; left > 0; {
			at := d.Pos
			n := uint64(d.Uint16("length of a chain"))
			if d.Err == nil && (n == 0 || n > left) {
				d.Fail(at, afdo.ErrHashTable, "a chain of %d items where %d entries are left", n, left)
			}
			left -= min(n, left)
			for range n {
				i := t.item(&d)
				if d.Err != nil {
					break
				}
				if !yield(i, nil) {
					return
				}
			}
			if d.Err != nil {
				yield(item{}, d.err())
				return
			}
		}
	}
}

// numBuckets returns how many buckets a table of so many entries has.
func numBuckets(entries int) int {
	if entries <= 2 {
		return 1
	}
	return 1 << bits.Len64(uint64(entries)*4/3)
}

// table appends a table of the keys, whose data write appends, and returns where the
// payload and the buckets are. Keys that share a bucket keep their order.
func (e *encoder) table(keys []uint64, lean bool, write func(i int) error) (payload, buckets uint64, err error) {
	payload = e.offset()
	chains := make([][]int32, numBuckets(len(keys)))
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
			if err := e.item(keys[i], lean, func() error { return write(int(i)) }); err != nil {
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

// item appends an item whose data write appends.
func (e *encoder) item(key uint64, lean bool, write func() error) error {
	e.u64(key)
	if !lean {
		e.u64(keySize)
	}
	size := len(e.data)
	e.u64(0)
	e.u64(key)
	from := len(e.data)
	if err := write(); err != nil {
		return err
	}
	e.patch(size, uint64(len(e.data)-from))
	return nil
}
