package indexfmt

import (
	"math"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The hash tables of the index map the hash of a name to a number of a unit or symbol. They are
// searched in place. An entry has only a few bits of the hash, so it may lead to another name.

// Hash returns the hash of a name.
func Hash(key string) uint64 { return xxhash.Sum64String(key) }

const (
	bucketEntries = 6 // on average; buckets cost 2 to 3 bits per entry, and a lookup compares few entries
	remainderBits = 8 // one lookup in 43 also finds another name
)

// A Table is a hash table in a block of the index. It finds the numbers of symbols or units by the
// hash of a name.
type Table struct {
	x                        *Index
	entries, buckets         uint64
	valueBits, remainderBits uint8
	startBits                uint8
	starts, rows             int64 // offsets of the two arrays
}

// Table returns the hash table of a block.
func (x *Index) Table(kind Kind) (*Table, error) {
	if t := x.tables[kind].Load(); t != nil {
		return t, nil
	}
	t, err := x.openTable(kind)
	if err == nil {
		x.tables[kind].Store(t)
	}
	return t, err
}

func (x *Index) openTable(kind Kind) (*Table, error) {
	b := x.byKind[kind]
	var t *Table
	pos, err := x.headFields(kind, b, int(min(b.Size, 1+math.MaxUint8+2*wire.MaxVarintLen+2)), func(f *wire.Fields) {
		if kind == Unqualified {
			f.Take(int(f.Byte()), "the name of a scheme")
		}
		t = decodeTable(f)
	})
	if err != nil {
		return nil, err
	}
	t.x = x
	if t.valueBits > 32 || t.remainderBits > 24 || t.buckets > max(t.entries, 1) || t.buckets == 0 {
		return nil, x.fault(b.Off, "a table of %d entries of %d and %d bits in %d buckets", t.entries, t.remainderBits, t.valueBits, t.buckets)
	}
	t.startBits = uint8(bits.Len64(t.entries))
	t.starts = b.Off + int64(pos)
	t.rows = t.starts + packedSize(t.buckets+1, t.startBits)
	if end := t.rows + packedSize(t.entries, t.rowBits()); end > b.Off+b.Size || t.entries > 0 && t.rowBits() == 0 {
		return nil, x.fault(b.Off, "a table of %d entries of %d bits in %d buckets, in %d bytes", t.entries, t.rowBits(), t.buckets, b.Size)
	}
	return t, nil
}

// decodeTable decodes the fields at the beginning of a hash table: the numbers of its entries and
// buckets, and the widths of its numbers.
func decodeTable(f *wire.Fields) *Table {
	t := &Table{entries: uint64(f.Uint32()), buckets: uint64(f.Uint32())}
	t.valueBits, t.remainderBits = f.Byte(), f.Byte()
	return t
}

func (t *Table) rowBits() uint8 { return t.remainderBits + t.valueBits }

// bucket returns the number of the bucket in which a hash is, for a table of n buckets.
func bucket(hash, n uint64) uint64 {
	b, _ := bits.Mul64(hash, n)
	return b
}

// Find appends the values for a hash, and occasionally the value for another hash.
func (t *Table) Find(hash uint64, values []uint32) ([]uint32, error) {
	b := bucket(hash, t.buckets)
	t.ahead(hash, b)
	start, err := t.start(b)
	if err != nil {
		return nil, err
	}
	end, err := t.start(b + 1)
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

// ahead announces the reads of a lookup of a hash in bucket b, so that they can be made at once:
// the start of the bucket, and the rows of the bucket. The exact position of the rows is only known
// after the first read. But hashes are spread evenly, so the rows are close to the position that is
// proportional to the hash. To wait for the first read would take as long as reading the rows.
func (t *Table) ahead(hash, b uint64) {
	if !t.x.src.Slow() {
		return
	}
	const deviations = 4 // of a binomial distribution, at most: half the root of the number of entries
	expected, _ := bits.Mul64(hash, t.entries)
	spread := 2*bucketEntries + deviations*uint64(math.Sqrt(float64(t.entries)))/2
	first, last := expected-min(expected, spread), min(expected+spread, t.entries)
	width := uint64(t.rowBits())
	t.x.src.Ahead(
		t.x.pagesOf(t.starts+int64(b*uint64(t.startBits)/8), 16),
		t.x.pagesOf(t.rows+int64(first*width/8), int64((last-first)*width/8)+8))
}

// start returns the number of the first row of a bucket.
func (t *Table) start(bucket uint64) (uint64, error) {
	return t.x.bits(t.starts, bucket*uint64(t.startBits), t.startBits)
}

func (t *Table) row(i uint64) (uint64, error) {
	return t.x.bits(t.rows, i*uint64(t.rowBits()), t.rowBits())
}

// search returns the number of the first row in [start, end) whose remainder is at least the given
// one. It is a binary search, because rows are in ascending order. So a bucket into which a hostile
// file puts thousands of names is not slow.
func (t *Table) search(start, end, remainder uint64) (uint64, error) {
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

// A Hashed is an entry of a table: a hash and the value for it.
type Hashed struct {
	Hash  uint64
	Value uint32
}

// A layout is the contents of a table: its rows, which contain remainder and value, and the number
// of the first row of each bucket. The last start is the number of rows.
type layout struct {
	starts []uint32
	rows   []uint64
}

// place computes the rows of a hash table from its entries: it distributes the entries over the
// buckets, and sorts the rows of each bucket.
func place(entries []Hashed, buckets uint64, remainderBits, valueBits uint8) layout {
	l := layout{make([]uint32, buckets+1), make([]uint64, len(entries))}
	for _, e := range entries {
		l.starts[bucket(e.Hash, buckets)+1]++
	}
	for b := range buckets {
		l.starts[b+1] += l.starts[b]
	}
	// While the rows are placed, starts[b] is the number of the next row of bucket b. At the end it
	// is the first row of bucket b+1.
	for _, e := range entries {
		next := &l.starts[bucket(e.Hash, buckets)]
		l.rows[*next] = e.Hash&(1<<remainderBits-1)<<valueBits | uint64(e.Value)
		*next++
	}
	copy(l.starts[1:], l.starts)
	l.starts[0] = 0
	for b := range buckets {
		slices.Sort(l.rows[l.starts[b]:l.starts[b+1]])
	}
	return l
}

// AppendTable appends a table with the given entries, in any order.
func AppendTable(dst []byte, compact bool, entries []Hashed) []byte {
	n := uint64(len(entries))
	buckets := max(n/bucketEntries, 1)
	most := uint32(0)
	for _, e := range entries {
		most = max(most, e.Value)
	}
	valueBits := uint8(bits.Len32(most))
	dst = appendUint(dst, compact, 4, n)
	dst = appendUint(dst, compact, 4, buckets)
	p := wire.BitWriter{Data: append(dst, valueBits, remainderBits)}
	l := place(entries, buckets, remainderBits, valueBits)
	startBits := uint8(bits.Len64(n))
	for _, start := range l.starts {
		p.Put(uint64(start), startBits)
	}
	p.Align()
	for _, row := range l.rows {
		p.Put(row, remainderBits+valueBits)
	}
	p.Align()
	return p.Data
}
