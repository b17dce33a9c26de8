package afdo

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo/internal/wire"
)

// The hash tables of the index find a number, of a unit or of a symbol, by the
// hash of a name. They are searched where they stand. An entry has only a few bits of
// the hash: what it leads to may be of another name.

// hashKey is what names are found by.
func hashKey(key string) uint64 { return xxhash.Sum64String(key) }

const (
	tableHeader   = 4 + 4 + 1 + 1 // of a table in normal mode; less than 2*wire.MaxVarintLen+2
	bucketEntries = 6             // on average: buckets cost 2 to 3 bits an entry, and a lookup compares few
	remainderBits = 8             // one lookup in 43 leads to a name besides the one it is for
)

// indexTable is a hash table of the index.
type indexTable struct {
	scheme                   string // of the keys
	x                        *index
	entries, buckets         uint64
	valueBits, remainderBits uint8
	startBits                uint8
	starts, rows             int64 // where these arrays begin
}

// table returns the hash table of a block.
func (x *index) table(kind blockKind) (*indexTable, error) {
	if t := x.tables[kind].Load(); t != nil {
		return t, nil
	}
	t, err := x.openTable(kind)
	if err == nil {
		x.tables[kind].Store(t)
	}
	return t, err
}

func (x *index) openTable(kind blockKind) (*indexTable, error) {
	scheme, b := "", x.byKind[kind]
	if kind == blockUnqualified {
		var err error
		if scheme, b, err = x.scheme(kind); err != nil {
			return nil, err
		}
	}
	f, err := x.fields(b.off, int(min(b.size, 2*wire.MaxVarintLen+2)))
	if err != nil {
		return nil, err
	}
	t := &indexTable{scheme: scheme, x: x, entries: uint64(f.Uint32()), buckets: uint64(f.Uint32())}
	t.valueBits, t.remainderBits = f.Byte(), f.Byte()
	if f.Err != nil {
		return nil, x.misread(&f)
	}
	if t.valueBits > 32 || t.remainderBits > 24 || t.buckets > max(t.entries, 1) || t.buckets == 0 {
		return nil, x.fault(b.off, "a table of %d entries of %d and %d bits in %d buckets", t.entries, t.remainderBits, t.valueBits, t.buckets)
	}
	t.startBits = uint8(bits.Len64(t.entries))
	t.starts = b.off + int64(f.Pos)
	t.rows = t.starts + packedSize(t.buckets+1, t.startBits)
	if end := t.rows + packedSize(t.entries, t.rowBits()); end > b.off+b.size || t.entries > 0 && t.rowBits() == 0 {
		return nil, x.fault(b.off, "a table of %d entries of %d bits in %d buckets, in %d bytes", t.entries, t.rowBits(), t.buckets, b.size)
	}
	return t, nil
}

func (t *indexTable) rowBits() uint8 { return t.remainderBits + t.valueBits }

// bucket returns the bucket of a hash among n.
func bucket(hash, n uint64) uint64 {
	b, _ := bits.Mul64(hash, n)
	return b
}

// find appends the values of a hash, and now and then one of another.
func (t *indexTable) find(hash uint64, values []uint32) ([]uint32, error) {
	b := bucket(hash, t.buckets)
	start, err := t.x.bits(t.starts, b*uint64(t.startBits), t.startBits)
	if err != nil {
		return nil, err
	}
	end, err := t.x.bits(t.starts, (b+1)*uint64(t.startBits), t.startBits)
	if err != nil {
		return nil, err
	}
	if start > end || end > t.entries {
		return nil, t.x.fault(t.starts, "bucket %d from entry %d to %d of %d", b, start, end, t.entries)
	}
	remainder := hash & (1<<t.remainderBits - 1)
	first := uint64(0)
	for i, err := t.search(start, end, remainder); ; i++ {
		if err != nil || i == end {
			return values, err
		}
		row, err := t.row(i)
		if err != nil || row>>t.valueBits != remainder {
			return values, err
		}
		if row < first {
			return nil, t.x.fault(t.rows, "entry %d does not come after the one before", i)
		}
		first = row + 1
		values = append(values, uint32(row&(1<<t.valueBits-1)))
	}
}

func (t *indexTable) row(i uint64) (uint64, error) {
	return t.x.bits(t.rows, i*uint64(t.rowBits()), t.rowBits())
}

// search returns the first entry from start to end whose remainder is not below the one given. They ascend: a
// bucket into which somebody has made thousands of names fall is no slower than another.
func (t *indexTable) search(start, end, remainder uint64) (uint64, error) {
	for start < end {
		middle := (start + end) / 2
		row, err := t.row(middle)
		if err != nil {
			return 0, err
		}
		if row>>t.valueBits < remainder {
			start = middle + 1
		} else {
			end = middle
		}
	}
	return start, nil
}

// hashed is an entry of a table: a hash and what it leads to.
type hashed struct {
	hash  uint64
	value uint32
}

func compareHashed(a, b hashed) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.value, b.value))
}

// hashTable is a hash table in memory, sorted.
type hashTable []hashed

// find appends the values of a hash.
func (t hashTable) find(hash uint64, values []uint32) []uint32 {
	i, _ := slices.BinarySearchFunc(t, hash, func(e hashed, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for ; i < len(t) && t[i].hash == hash; i++ {
		values = append(values, t[i].value)
	}
	return values
}

// appendTable appends the encoding of a table.
func appendTable(dst []byte, compact bool, t hashTable) []byte {
	n := uint64(len(t))
	buckets := max(n/bucketEntries, 1)
	most := uint32(0)
	for _, e := range t {
		most = max(most, e.value)
	}
	valueBits := uint8(bits.Len32(most))
	dst = appendUint(dst, compact, 4, n)
	dst = appendUint(dst, compact, 4, buckets)
	dst = append(dst, valueBits, remainderBits)

	row := func(e hashed) uint64 { return e.hash&(1<<remainderBits-1)<<valueBits | uint64(e.value) }
	t = slices.Clone(t)
	slices.SortFunc(t, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(bucket(a.hash, buckets), bucket(b.hash, buckets)), cmp.Compare(row(a), row(b)))
	})
	p := packer{dst: dst}
	startBits := uint8(bits.Len64(n))
	i := 0
	for b := range buckets + 1 {
		for i < len(t) && bucket(t[i].hash, buckets) < b {
			i++
		}
		p.put(uint64(i), startBits)
	}
	p.align()
	for _, e := range t {
		p.put(row(e), remainderBits+valueBits)
	}
	p.align()
	return p.dst
}

// packer appends numbers of any width in bits, the first one in the highest bits.
type packer struct {
	dst  []byte
	bits uint64 // not appended yet
	n    uint8  // how many, below 8
}

// put appends a number of up to 56 bits.
func (p *packer) put(v uint64, width uint8) {
	p.bits = p.bits<<width | v&(math.MaxUint64>>(64-width))
	for p.n += width; p.n >= 8; p.n -= 8 {
		p.dst = append(p.dst, byte(p.bits>>(p.n-8)))
	}
}

// align goes on to the next whole byte.
func (p *packer) align() {
	if p.n > 0 {
		p.put(0, 8-p.n)
	}
}
