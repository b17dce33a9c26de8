package memprof

import (
	"encoding/binary"
	"math"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

const keySize = 8

// tableFormat returns the format of the hash tables of a section. Keys are numbers and are their
// own hashes. part is the part of the section in which the table is. The items of a lean table do
// not store the length of their keys.
func tableFormat(part string, lean bool) hashtable.Format {
	return hashtable.Format{KeySize: keySize, Lean: lean, Hash: binary.LittleEndian.Uint64, Chains: part, Table: part, Fault: faultAt}
}

// openTable opens the hash table at position at of the section, whose chains begin at position
// chains.
func (r *Reader) openTable(part string, lean bool, chains, at int) (hashtable.Table, error) {
	d := &r.section
	src := source.OfPart(d.Data, d.base)
	return tableFormat(part, lean).Open(src, d.base+int64(chains), d.base+int64(at), src.Size())
}

// within returns a decoder for the data of an entry of a hash table. part is the part of the
// section in which the table is.
func within(part string, e *hashtable.Entry) decoder {
	return decoder{Buffer: decode.Buffer{Data: e.Data, Part: part}, base: e.At}
}

// need looks up a key that must be in a hash table, because another part of the section refers to
// it. It returns a decoder for the data of the key. If the key is missing, the error names it as
// what. part is the part of the section in which the table is.
func need(t *hashtable.Table, part string, key uint64, what string) (decoder, error) {
	e, err := t.Find(key, nil)
	if err == fault.ErrNotFound {
		err = faultAt(part, t.At, errOffset, "there is no %s %#x", what, key)
	}
	return within(part, &e), err
}

// table appends a hash table with the given keys to the section. It calls write(i) to append the
// data of keys[i]. payload and buckets are the file offsets of the chains and of the buckets. Keys
// in the same bucket keep their order.
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
		e.u64(offset)
	}
	return payload, buckets, nil
}

// item appends one entry of a hash table. key is both the key and its hash. write appends the data.
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
