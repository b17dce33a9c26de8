package instrprof

import (
	"fmt"
	"math"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// tableFormat is the format of the hash table of an indexed file. A key is a function's name, and
// its data is the records of that name.
var tableFormat = hashtable.Format{Hash: symname.GUID[[]byte], Chains: sectionPayload, Table: sectionHashTable, Fault: faultAt}

const (
	hashTableOffset = 32 // file offset of the table's offset in the header
	tableHeadSize   = hashtable.HeadSize
	chainHeadSize   = hashtable.ChainHeadSize
	itemHeadSize    = 24
)

// openTable reads the number of buckets and entries of the file's hash table. payload is the file
// offset at which the chains of the table begin.
func (r *Reader) openTable(payload int64) (err error) {
	at := r.header.HashTable
	if at < payload {
		return faultAt(sectionHeader, hashTableOffset, fault.ErrHeader, "the hash table is at offset %d, the payload begins at %d", at, payload)
	}
	r.table, err = tableFormat.Open(r.src, payload, at, r.src.Size())
	return err
}

// find looks up a function name in the hash table, by its hash and, unless name is nil, by the
// name. It returns the name, and a decoder for the records of that name.
func (r *Reader) find(hash uint64, name []byte) (key []byte, f fields, err error) {
	e, err := r.table.Find(hash, name)
	switch {
	case err == fault.ErrNotFound && name != nil:
		err = fmt.Errorf("instrprof: no function %q: %w", name, err)
	case err == fault.ErrNotFound:
		err = fmt.Errorf("instrprof: no function whose name has the hash %#x: %w", hash, err)
	}
	if err != nil {
		return nil, fields{}, err
	}
	f.open(&e)
	return e.Key, f, f.err()
}

// open makes f a decoder for the records of one function name. e is the entry of the hash table
// with that name.
func (f *fields) open(e *hashtable.Entry) {
	*f = fields{Buffer: decode.Buffer{Data: e.Data, Part: sectionPayload}, base: e.At}
	if len(e.Data) == 0 {
		f.Fail(-len(e.Key)-8, fault.ErrHashTable, "an item without data") // at the length of the data
	}
}

// A tableLayout computes where each entry of a hash table will be in a file, before the table is
// written. There is an entry for each function name.
type tableLayout struct {
	version uint32
	order   []*profileFunction // by name and hash
	items   []tableName        // by name
	heads   []int32            // index of each bucket's first item, or -1
	chains  []uint64           // offset of each bucket's chain, or 0
	end     uint64             // end of the last chain
	at      uint64             // offset of the table
}

// A tableName is the entry of a [tableLayout] for one function name.
type tableName struct {
	hash        uint64
	first, last int32 // range in order of its functions
	next        int32 // index of the next item in the chain, or -1
}

const firstBuckets = 64 // as in LLVM's generator

// build computes the layout of the hash table for the functions of p. start is the file offset of
// the first chain. The entries get the same order as in LLVM's tables: a new entry goes to the
// front of its chain, and whenever the table grows, the chains are reversed.
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

// resize changes the number of buckets, and distributes the entries of all chains over the new
// buckets.
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

// place computes the file offsets of the chains, the first of which begins at start, and of the
// table of buckets after them.
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

// functions returns the functions of entry i of the hash table, which all have the same name.
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

// append appends the table of buckets to p: the number of buckets, the number of entries, and the
// offset of each chain.
func (t *tableLayout) append(p []byte) []byte {
	p = append64(p, uint64(len(t.chains)), uint64(len(t.items)))
	return append64(p, t.chains...)
}
